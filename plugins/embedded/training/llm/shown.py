"""Passages as a search would return them: the right ones among similar ones."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Final

from plugins.embedded.training.example import occurrences
from plugins.embedded.training.llm.rendered import SETTINGS
from plugins.embedded.training.source import Document, WordIndex
from plugins.embedded.training.writing.written import fold
from ramify.nodes.asking.language_model import limit_passages, to_quote
from ramify.tools.passage import Passage

COUNTS: Final = (3, 5, 5)
"""How many passages a call shows: the defaults of the strategies."""
_AMONG: Final = 15
_COPIED: Final = 200
"""Characters by which copies of a passage are known, such as in the manuals of two releases."""


def to_passage(document: Document, rank: int = 0) -> Passage:
    """Return a document as the passage found at a rank."""
    title = {"title": document.title} if document.title else {}
    return Passage(id=document.id, text=document.text, source=f"corpus.jsonl#{document.id}", score=1 - rank / 100, metadata=title)


def quoted_text(document: Document) -> str:
    """Return what a prompt shows of a document's text."""
    return to_quote(to_passage(document), SETTINGS)["text"]


def passages_among(
    right: Sequence[Document], question: str, index: WordIndex, absent: Iterable[str], known: Iterable[Document], choose: Random
) -> tuple[Passage, ...] | None:
    """Return the right documents among those similar to a question, shuffled, as far as a call shows them; None if one is not shown.

    The others are none of the known ones, nor of their titles, and contain none of the answers that should be absent.
    """
    count = max(choose.choice(COUNTS), len(right))
    copies = {document.text[:_COPIED] for document in right}
    ids, titles = {document.id for document in known}, {fold(document.title) for document in known if document.title}
    answers = [answer for answer in absent if fold(answer) not in ("yes", "no")]
    others = [
        document
        for document in index.nearest(question, _AMONG)
        if document.id not in ids
        and fold(document.title or "") not in titles
        and not any(list(occurrences(answer, f"{document.title} {document.text}")) for answer in answers)
    ]
    distinct = {document.text[:_COPIED]: document for document in reversed(others) if document.text[:_COPIED] not in copies}
    drawn = [*right, *list(reversed(distinct.values()))[: count - len(right)]]
    choose.shuffle(drawn)
    shown = limit_passages(tuple(to_passage(document, rank) for rank, document in enumerate(drawn)), SETTINGS)
    return shown if {document.id for document in right} <= {passage.id for passage in shown} and shown else None


def numbers_of(documents: Iterable[Document], shown: Sequence[Passage]) -> list[int]:
    """Return the numbers under which documents are shown."""
    ids = {document.id for document in documents}
    return [number for number, passage in enumerate(shown, 1) if passage.id in ids]
