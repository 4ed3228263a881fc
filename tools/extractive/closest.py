"""The sentences of passages that come closest to a question: by the sentence encoder, the words they share, and the reader."""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.embeddings.similarity import similarities
from ramify.tools.english import content
from ramify.tools.reader.inputs import Quote
from ramify.tools.reader.inputs import in_context as beside_title
from ramify.tools.reader.predictions import read_contexts
from ramify.tools.supporting_sentence import in_context, statements

SHOWN = 3
_FROM_ONE = 2
"""Most sentences of one passage."""
_READ = 8
"""Passages that are read: what reading costs."""
_WORDED = _READABLE = 0.15
"""What shared words, and the reader's word that the passage holds an answer, add to a similarity from 0 to 1."""
_LEAST = 0.5
"""Below this a sentence is about something else."""
_WORDS = 3
"""A unit of fewer words says nothing."""


class Near(NamedTuple):
    """A sentence with its neighbours, how near it comes, and its passage by its number from 1."""

    value: float
    passage: int
    place: int
    quote: str


def closest(question: str, passages: Sequence[Quote]) -> list[tuple[int, str]]:
    """Give the sentences that come closest to a question, the best first, each with its passage's number from 1."""
    read = passages[:_READ]
    contexts = tuple(beside_title(passage["title"], passage["text"]) for passage in read)
    readings = read_contexts(question, contexts) if read else ()
    found = [
        near
        for number, (passage, reading) in enumerate(zip(read, readings, strict=True), 1)
        for near in _near(question, number, passage, max(reading.span, reading.yes, reading.no))
    ]
    chosen: list[Near] = []
    for near in sorted(found, key=lambda item: (-item.value, item.passage, item.place)):
        if len(chosen) < SHOWN and near.value >= _LEAST and not _said(near, chosen):
            chosen.append(near)
    return [(near.passage, near.quote) for near in chosen]


def _near(question: str, number: int, passage: Quote, holds: float) -> list[Near]:
    units = statements(passage["text"], passage["title"].split(" > "))
    words, title = content(question), content(passage["title"])
    similar = similarities(question, [f"{passage['title']}: {unit}" for unit in units])
    shares = [len(words & (content(unit) | title)) / max(1, len(words)) for unit in units]
    return [
        Near(near + _WORDED * share + _READABLE * holds, number, place, in_context(units, place, ""))
        for place, (unit, near, share) in enumerate(zip(units, similar, shares, strict=True))
        if len(unit.split()) >= _WORDS and content(unit) - title
    ]


def _said(near: Near, chosen: Sequence[Near]) -> bool:
    """Tell whether a sentence is a neighbour of a chosen one, or its passage has been heard enough."""
    own = [other for other in chosen if other.passage == near.passage]
    words = content(near.quote)
    return (
        len(own) >= _FROM_ONE
        or any(abs(other.place - near.place) <= 1 for other in own)
        or any(len(words & content(other.quote)) >= 0.9 * len(words) for other in chosen)
    )
