"""The texts of an index, read some at a time: all of them, and how long they are."""

from collections.abc import Iterator, Sequence

from langchain_core.documents import Document

from ramify.tools.index import Index
from ramify.tools.models.tokens import estimate

_READ = 1000
"""Passages that are read at a time."""


def documents(index: Index, ids: Sequence[str]) -> Iterator[Document]:
    """Read passages, some at a time."""
    for start in range(0, len(ids), _READ):
        yield from index.get_by_ids(ids[start : start + _READ])


def tokens_of(index: Index, ids: Sequence[str]) -> int:
    """Count the source text's tokens as those of reports are counted."""
    return sum(estimate(document.page_content) for document in documents(index, ids))
