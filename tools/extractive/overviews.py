"""Replies to the prompts about everything, map_report and reduce: sentences quoted from reports.

A sentence of a report is worth its similarity to the question. A question about the whole is similar to no sentence but those on documents
as such: there the largest communities are worth most, each by what stands first in its report.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import UNKNOWN, content_stems
from ramify.tools.extractive import ReplyFields, Slots
from ramify.tools.reader.reading import PassageText
from ramify.tools.supporting_sentence import split_statements

_OVERVIEW_QUESTIONS = (
    "What are the main themes of these documents?",
    "What are these documents about?",
    "Summarise everything in this collection.",
    "Which topics are covered most?",
    "Give an overview of the whole corpus.",
)
_MIN_OVERVIEW_COSINE, _MAX_OVERVIEW_COSINE = 0.5, 0.75
"""Cosines to one of them between which a question is taken for one about the whole, none to all."""
_MIN_SENTENCE_COSINE, _MAX_SENTENCE_COSINE = 0.3, 0.75
"""Cosines between which a sentence bears on a question, none to all."""
_MAX_WORTH = 0.5
"""Worth of the largest community to a question about the whole, and most confidence in what is quoted: nobody measured how it answers."""
_COMMUNITY_DECAY, _SENTENCE_DECAY = 0.95, 0.5
"""What a place further down leaves of a sentence's worth: among the communities, the largest of which comes first, and in a report."""
_MIN_SHARE_OF_BEST = 0.6
"""A sentence worth less than this share of the best is left out."""
_MAX_BATCH_SENTENCES, _MAX_ANSWER_SENTENCES = 8, 9
"""Sentences of a batch, and of the whole answer."""
_MIN_SHARED_WORDS = 0.8


class _Sentence(NamedTuple):
    worth: float
    number: int
    """Of its report, or point, from 1."""
    line: str


def is_overview_question(question: str) -> bool:
    """Return whether a question is about the whole corpus more than about something in it."""
    return _overview_score(question) > _MAX_WORTH / 2


def map_report(slots: Slots) -> ReplyFields:
    """Quote the sentences of a batch that are relevant to the question, each with its worth and the number of its report."""
    question = str(slots["question"])
    chosen = _best_sentences(_score_sentences(question, slots["passages"], _overview_score(question)), _MAX_BATCH_SENTENCES)
    return {"points": [], "quotes": [f"{100 * one.worth:.0f} | {one.number} | {one.line}" for one in chosen]}


def reduce(slots: Slots) -> ReplyFields:
    """Return the quoted sentences, without repetitions, the best first."""
    points = []
    for number, point in enumerate(slots["passages"], 1):
        figure = point["title"].rpartition(" ")[2]
        points.append(_Sentence(float(figure) / 100 if figure.isdigit() else 0.0, number, point["text"]))
    chosen = _best_sentences(points, _MAX_ANSWER_SENTENCES)
    if not chosen:
        return {"answer": UNKNOWN, "points": [], "quotes": [], "confidence": 0.0, "citations": []}
    return {
        "answer": chosen[0].line,
        "points": [],
        "quotes": [sentence.line for sentence in chosen],
        "confidence": min(_MAX_WORTH, chosen[0].worth),
        "citations": list(dict.fromkeys(sentence.number for sentence in chosen)),
    }


def _overview_score(question: str) -> float:
    return _MAX_WORTH * _interpolate(max(similarities(question, _OVERVIEW_QUESTIONS)), _MIN_OVERVIEW_COSINE, _MAX_OVERVIEW_COSINE)


def _score_sentences(question: str, reports: Sequence[PassageText], whole: float) -> list[_Sentence]:
    """Weigh the findings of reports, and the sentences of passages; of communities the largest, which have low numbers, are worth most."""
    about = 1 - whole / _MAX_WORTH  # similarity does not count for a question about the whole
    listed = [(number, report, place, line) for number, report in enumerate(reports, 1) for place, line in enumerate(_report_lines(report))]
    cosines = similarities(question, [line for _, report, _, line in listed])
    return [
        _Sentence(
            max(
                about * _interpolate(cosine, _MIN_SENTENCE_COSINE, _MAX_SENTENCE_COSINE),
                whole * _COMMUNITY_DECAY ** sum(_community_path(report["source"])) * _SENTENCE_DECAY**place,
            ),
            number,
            f"{report['title']}: {line}" if report["title"] else line,
        )
        for (number, report, place, line), cosine in zip(listed, cosines, strict=True)
    ]


def _report_lines(report: PassageText) -> list[str]:
    """Return the findings of a report, or the sentences of a passage, without its headings."""
    if _community_path(report["source"]):
        return [line for line in report["text"].splitlines() if line.strip()]
    return split_statements(report["text"], report["title"].split(" > "))


def _community_path(source: str) -> list[int]:
    places = source.rpartition(" ")[2].split(".")
    return [int(place) for place in places] if all(place.isdigit() for place in places) else []


def _best_sentences(found: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """Return the best sentences, no two alike."""
    ordered = sorted((one for one in found if one.worth > 0), key=lambda one: (-one.worth, one.number))
    chosen: list[_Sentence] = []
    for one in ordered:
        if len(chosen) == most or one.worth < _MIN_SHARE_OF_BEST * ordered[0].worth:
            break
        words, taken = content_stems(one.line), [content_stems(other.line) for other in chosen]
        if not any(len(words & others) >= _MIN_SHARED_WORDS * min(len(words), len(others)) for others in taken):
            chosen.append(one)
    return chosen


def _interpolate(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
