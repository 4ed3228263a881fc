"""An index of a kind that only a folder can hold, with files beside its passages; and its texts, read some at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.index.folder import Folder
from ramify.tools.index.index import Index
from ramify.tools.index.snapshot import Snapshot
from ramify.tools.models.tokens import estimate

_READ = 1000
"""Passages that are read at a time."""


class LocalIndex(Index):
    """An index of a kind that only a folder can hold."""

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


def documents(index: Index, ids: Sequence[str]) -> Iterator[Document]:
    """Read passages, some at a time."""
    for start in range(0, len(ids), _READ):
        yield from index.get_by_ids(ids[start : start + _READ])


def tokens_of(index: Index, ids: Sequence[str]) -> int:
    """Count the source text's tokens as those of reports are counted."""
    return sum(estimate(document.page_content) for document in documents(index, ids))
