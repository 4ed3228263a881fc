"""The sentences of passages that come closest to a question: by the sentence encoder, the words they share, and the reader."""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import UNKNOWN, content
from ramify.tools.extractive import Reply, Slots
from ramify.tools.reader.reading import Quote, read_contexts
from ramify.tools.reader.reading import in_context as beside_title
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


_WHOLE = (
    "What are the main themes of these documents?",
    "What are these documents about?",
    "Summarise everything in this collection.",
    "Which topics are covered most?",
    "Give an overview of the whole corpus.",
)
_WHOLE_FROM, _WHOLE_TO = 0.5, 0.75
"""Cosines to one of them between which a question is taken for one about the whole, none to all."""
_NEAR_FROM, _NEAR_TO = 0.3, 0.75
"""Cosines between which a sentence bears on a question, none to all."""
_AT_MOST = 0.5
"""Worth of the largest community to a question about the whole, and most confidence in what is quoted: nobody measured how it answers."""
_NEXT_COMMUNITY, _NEXT_SENTENCE = 0.95, 0.5
"""What a place further down leaves of a sentence's worth: among the communities, the largest of which comes first, and in a report."""
_OF_BEST = 0.6
"""A sentence worth less than this share of the best is left out."""
_IN_PART, _IN_ALL = 8, 9
"""Sentences of a batch, and of the whole answer."""
_SAME = 0.8
_MARK = ": "


class _Sentence(NamedTuple):
    worth: float
    number: int
    """Of its report, or point, from 1."""
    line: str


def surveys(question: str) -> bool:
    """Tell whether a question is about the whole more than about something in it."""
    return _whole(question) > _AT_MOST / 2


def map_report(slots: Slots) -> Reply:
    """Quote the sentences of a batch that bear on the question, each with how much it does and the number of its report."""
    question, reports = str(slots["question"]), slots["passages"]
    chosen = _chosen(_worth(question, reports, _whole(question)), _IN_PART)
    return {"points": [], "quotes": [f"{100 * one.worth:.0f} | {one.number} | {one.line}" for one in chosen]}


def reduce(slots: Slots) -> Reply:
    """List the sentences that were quoted, each once, the best first."""
    points = [_Sentence(_helpfulness(point), number, point["text"]) for number, point in enumerate(slots["passages"], 1)]
    chosen = _chosen(points, _IN_ALL)
    if not chosen:
        return {"answer": UNKNOWN, "points": [], "quotes": [], "confidence": 0.0, "citations": []}
    return {
        "answer": chosen[0].line,
        "points": [],
        "quotes": [sentence.line for sentence in chosen],
        "confidence": min(_AT_MOST, chosen[0].worth),
        "citations": list(dict.fromkeys(sentence.number for sentence in chosen)),
    }


def _whole(question: str) -> float:
    return _AT_MOST * _share(max(similarities(question, _WHOLE)), _WHOLE_FROM, _WHOLE_TO)


def _worth(question: str, reports: Sequence[Quote], whole: float) -> list[_Sentence]:
    about = 1 - whole / _AT_MOST  # nearness counts for nothing where the question is about the whole
    said = [(number, report, place, line) for number, report in enumerate(reports, 1) for place, line in enumerate(_lines(report))]
    near = similarities(question, [line for _, report, _, line in said])
    return [
        _Sentence(
            max(about * _share(cosine, _NEAR_FROM, _NEAR_TO), whole * _size(report["source"]) * _NEXT_SENTENCE**place),
            number,
            f"{report['title']}{_MARK}{line}" if report["title"] else line,
        )
        for (number, report, place, line), cosine in zip(said, near, strict=True)
    ]


def _lines(report: Quote) -> list[str]:
    """List the findings of a report, or the sentences of a passage, without its headings."""
    if _places(report["source"]):
        return [line for line in report["text"].splitlines() if line.strip()]
    return statements(report["text"], report["title"].split(" > "))


def _size(source: str) -> float:
    """Weigh a community by its place among the others, which are numbered by their size; a passage has no place."""
    return float(_NEXT_COMMUNITY ** sum(_places(source)))


def _places(source: str) -> list[int]:
    places = source.rpartition(" ")[2].split(".")
    return [int(place) for place in places] if all(place.isdigit() for place in places) else []


def _helpfulness(point: Quote) -> float:
    figure = point["title"].rpartition(" ")[2]
    return float(figure) / 100 if figure.isdigit() else 0.0


def _chosen(found: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """Choose the best sentences, no two that say the same."""
    ordered = sorted((one for one in found if one.worth > 0), key=lambda one: (-one.worth, one.number))
    chosen: list[_Sentence] = []
    for one in ordered:
        if len(chosen) == most or one.worth < _OF_BEST * ordered[0].worth:
            break
        words, said = content(one.line), [content(other.line) for other in chosen]
        if not any(len(words & others) >= _SAME * min(len(words), len(others)) for others in said):
            chosen.append(one)
    return chosen


def _share(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
