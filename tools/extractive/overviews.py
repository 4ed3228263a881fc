"""Replies to the prompts about everything, map_report and reduce: sentences quoted from reports.

A sentence of a report is worth its similarity to the question. A question about the whole is similar to no sentence but those on documents
as such: there the largest communities are worth most, each by what stands first in its report.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import UNKNOWN, content_stems
from ramify.tools.extractive import Reply, Slots
from ramify.tools.reader.reading import Quote
from ramify.tools.supporting_sentence import split_statements

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


class _Sentence(NamedTuple):
    worth: float
    number: int
    """Of its report, or point, from 1."""
    line: str


def surveys(question: str) -> bool:
    """Return whether a question is about the whole corpus more than about something in it."""
    return _whole(question) > _AT_MOST / 2


def map_report(slots: Slots) -> Reply:
    """Quote the sentences of a batch that are relevant to the question, each with its worth and the number of its report."""
    question = str(slots["question"])
    chosen = _best(_weighed(question, slots["passages"], _whole(question)), _IN_PART)
    return {"points": [], "quotes": [f"{100 * one.worth:.0f} | {one.number} | {one.line}" for one in chosen]}


def reduce(slots: Slots) -> Reply:
    """Return the quoted sentences, without repetitions, the best first."""
    points = []
    for number, point in enumerate(slots["passages"], 1):
        figure = point["title"].rpartition(" ")[2]
        points.append(_Sentence(float(figure) / 100 if figure.isdigit() else 0.0, number, point["text"]))
    chosen = _best(points, _IN_ALL)
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


def _weighed(question: str, reports: Sequence[Quote], whole: float) -> list[_Sentence]:
    """Weigh the findings of reports, and the sentences of passages; of communities the largest, which have low numbers, are worth most."""
    about = 1 - whole / _AT_MOST  # similarity does not count for a question about the whole
    listed = [(number, report, place, line) for number, report in enumerate(reports, 1) for place, line in enumerate(_lines(report))]
    cosines = similarities(question, [line for _, report, _, line in listed])
    return [
        _Sentence(
            max(
                about * _share(cosine, _NEAR_FROM, _NEAR_TO),
                whole * _NEXT_COMMUNITY ** sum(_places(report["source"])) * _NEXT_SENTENCE**place,
            ),
            number,
            f"{report['title']}: {line}" if report["title"] else line,
        )
        for (number, report, place, line), cosine in zip(listed, cosines, strict=True)
    ]


def _lines(report: Quote) -> list[str]:
    """Return the findings of a report, or the sentences of a passage, without its headings."""
    if _places(report["source"]):
        return [line for line in report["text"].splitlines() if line.strip()]
    return split_statements(report["text"], report["title"].split(" > "))


def _places(source: str) -> list[int]:
    places = source.rpartition(" ")[2].split(".")
    return [int(place) for place in places] if all(place.isdigit() for place in places) else []


def _best(found: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """Return the best sentences, no two alike."""
    ordered = sorted((one for one in found if one.worth > 0), key=lambda one: (-one.worth, one.number))
    chosen: list[_Sentence] = []
    for one in ordered:
        if len(chosen) == most or one.worth < _OF_BEST * ordered[0].worth:
            break
        words, taken = content_stems(one.line), [content_stems(other.line) for other in chosen]
        if not any(len(words & others) >= _SAME * min(len(words), len(others)) for others in taken):
            chosen.append(one)
    return chosen


def _share(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
