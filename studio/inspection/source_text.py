"""How much text an index has, and where its passages stand."""

from collections.abc import Iterator, Mapping, Sequence

from langchain_core.documents import Document

from ramify.nodes.state import Citation
from ramify.nodes.step.citing import cite
from ramify.nodes.tree import Passage
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


def sources(index: Index, ids: Sequence[str]) -> Mapping[str, Citation]:
    """Read passages as they are cited, by id."""
    passages = [
        Passage(
            id=str(document.id),
            text=document.page_content,
            source=str(document.metadata.get("source", document.id)),
            score=0.0,
            metadata={key: value for key, value in document.metadata.items() if key != "source"},
        )
        for document in documents(index, list(dict.fromkeys(ids)))
    ]
    return {citation.id: citation for citation in cite(passages, [""] * len(passages), cited=True)}
