"""Indexes of further kinds (a graph, a hierarchy), whose data is a SQLite file beside the passages; only a folder can hold them."""

import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from langchain_core.documents import Document
from pydantic import BaseModel, ValidationError

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.hybrid_search import Reranker, Scores, SearchOptions
from ramify.tools.index.index import Index
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.snapshot import Snapshot
from ramify.tools.models.tokens import estimate

Rows = Iterable[tuple[str, Iterable[tuple[object, ...]]]]
"""Each table with its rows."""


def write_tables(path: Path, schema: str, rows: Rows) -> None:
    """Write to an empty file."""
    with closing(sqlite3.connect(path.absolute())) as database, database:
        database.executescript(f"BEGIN; {schema} COMMIT;")
        for table, own in rows:
            listed = list(own)
            if listed:
                marks = ", ".join("?" * len(listed[0]))
                database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)


def connected(path: Path) -> sqlite3.Connection:
    """Open a file that nobody writes to be read, by any thread."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def read_facts(path: Path) -> dict[str, str]:
    """Read what a file says of itself; nothing where there is none, or it cannot be read."""
    if not path.is_file():
        return {}
    try:
        with closing(connected(path)) as database:
            return dict(database.execute("SELECT name, value FROM facts ORDER BY name"))
    except sqlite3.DatabaseError:
        return {}


_READ = 1000
"""Passages that are read at a time."""
S = TypeVar("S", bound=BaseModel)
S_contra = TypeVar("S_contra", bound=BaseModel, contravariant=True)
Vectors = Callable[[Sequence[int]], Matrix]
"""Gives the vectors at some positions, shape (positions, dimension)."""


class Structure(Protocol[S_contra]):
    """What lies beside the passages of an index, as a search is led by it."""

    def rerank(self, query: str, vector: Matrix, found: Scores, vectors: Vectors, search: S_contra) -> list[int]:
        """Put what was found into another order; bring in more where there is more."""


class LocalIndex(Index, Generic[S]):
    """An index of a kind that only a folder can hold; its hits are passages, and their scores cosines, as in any other."""

    kind_name: str
    """The kind, in a sentence."""
    settings_class: type[S]
    """How it can be searched."""
    _loaded: tuple[Snapshot, Structure[S]] | None = None

    @abstractmethod
    def load_structure(self, ids: Sequence[str]) -> Structure[S]:
        """Read what lies beside the passages, which are at these positions now."""

    @property
    def folder(self) -> Path:
        """Return its folder."""
        assert isinstance(self.store, FolderStore)  # no other place has a manifest of such a kind
        return self.store.path

    @property
    def snapshot(self) -> Snapshot:
        """Return the passages and vectors as they were when it was opened."""
        assert isinstance(self._opened, Snapshot)
        return self._opened

    def _reranker(self, search: SearchOptions) -> Reranker | None:
        settings = self._settings(search.options)
        if search.view == "flat":
            return None
        stored = self.snapshot

        def reranker(query: str, vector: Matrix, found: Scores) -> list[int]:
            return self._structure().rerank(query, vector, found, stored.vectors, settings)

        return reranker

    def _structure(self) -> Structure[S]:
        """Return the structure for the passages as they are now: adding and deleting changes their positions."""
        snapshot, opened = self.snapshot, self._loaded
        if opened is None or opened[0] is not snapshot:
            opened = self._loaded = (snapshot, self.load_structure(snapshot.store.ids()))
        return opened[1]

    def _settings(self, options: Mapping[str, Any] | None) -> S:
        try:
            return self.settings_class.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            what = f"search.{name}={first['input']!r} is not valid for an index with {self.kind_name} ({first['msg']})"
            raise UsageError(what, f"choose among {', '.join(self.settings_class.model_fields)}") from error


def documents(index: Index, ids: Sequence[str]) -> Iterator[Document]:
    """Read passages, some at a time."""
    for start in range(0, len(ids), _READ):
        yield from index.get_by_ids(ids[start : start + _READ])


def tokens_of(index: Index, ids: Sequence[str]) -> int:
    """Count the source text's tokens as those of reports are counted."""
    return sum(estimate(document.page_content) for document in documents(index, ids))
