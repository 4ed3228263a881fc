"""Replies to the prompts about everything at once: map_report, reduce. Sentences of the reports, under the names of their community.

A sentence is worth what its nearness to the question says. A question about the whole, known by its nearness to a few such questions, is
near to no sentence but those on documents as such: there the largest communities are worth most, each by what stands first in its report.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.embeddings.similarity import similarities
from ramify.tools.english import content
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.reader.inputs import Quote
from ramify.tools.supporting_sentence import statements
from ramify.tools.unknown import UNKNOWN

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
