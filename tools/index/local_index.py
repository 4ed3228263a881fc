"""An index of a kind that only a folder can hold, searched by what lies beside its passages; and its texts, read some at a time."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from langchain_core.documents import Document
from pydantic import BaseModel, ValidationError

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.folder import Folder
from ramify.tools.index.hybrid_search import Found, How, Steer
from ramify.tools.index.index import Index
from ramify.tools.index.snapshot import Snapshot
from ramify.tools.models.tokens import estimate

_READ = 1000
"""Passages that are read at a time."""
S = TypeVar("S", bound=BaseModel)
S_contra = TypeVar("S_contra", bound=BaseModel, contravariant=True)
Vectors = Callable[[Sequence[int]], Matrix]
"""Gives the vectors at some positions, shape (positions, dimension)."""


class Guide(Protocol[S_contra]):
    """What lies beside the passages of an index, as a search is led by it."""

    def steered(self, query: str, vector: Matrix, found: Found, vectors: Vectors, how: S_contra) -> list[int]:
        """Put what was found into another order; bring in more where there is more."""
        ...


class LocalIndex(Index, Generic[S]):
    """An index of a kind that only a folder can hold; its hits are passages, and their scores cosines, as in any other."""

    called: str
    """The kind, in a sentence."""
    knobs: type[S]
    """How it can be searched."""
    _guided: tuple[Snapshot, Guide[S]] | None = None

    @abstractmethod
    def guide(self, ids: Sequence[str]) -> Guide[S]:
        """Read what lies beside the passages, which are at these positions now."""

    @property
    def folder(self) -> Path:
        """Return its folder."""
        assert isinstance(self.home, Folder)  # no other place has a manifest of such a kind
        return self.home.path

    @property
    def snapshot(self) -> Snapshot:
        """Return the passages and vectors as they were when it was opened."""
        assert isinstance(self._held, Snapshot)
        return self._held

    def _steer(self, how: How) -> Steer | None:
        settings = self._settings(how.options)
        if how.view == "flat":
            return None
        stored = self.snapshot

        def steer(query: str, vector: Matrix, found: Found) -> list[int]:
            return self._guide().steered(query, vector, found, stored.vectors, settings)

        return steer

    def _guide(self) -> Guide[S]:
        """Give what leads a search, for the passages as they are now: adding and deleting puts passages into other places."""
        snapshot, held = self.snapshot, self._guided
        if held is None or held[0] is not snapshot:
            held = self._guided = (snapshot, self.guide(snapshot.store.ids()))
        return held[1]

    def _settings(self, options: Mapping[str, Any] | None) -> S:
        try:
            return self.knobs.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            what = f"search.{name}={first['input']!r} is not valid for an index with {self.called} ({first['msg']})"
            raise UsageError(what, f"choose among {', '.join(self.knobs.model_fields)}") from error


def documents(index: Index, ids: Sequence[str]) -> Iterator[Document]:
    """Read passages, some at a time."""
    for start in range(0, len(ids), _READ):
        yield from index.get_by_ids(ids[start : start + _READ])


def tokens_of(index: Index, ids: Sequence[str]) -> int:
    """Count the source text's tokens as those of reports are counted."""
    return sum(estimate(document.page_content) for document in documents(index, ids))
