"""Replies to the prompts of global search, map_report and reduce: sentences quoted from reports.

A sentence's worth is its similarity to the question. Overview questions are not similar to any sentence; for them the worth is highest for
the largest communities, and for the first sentences of a report.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.embedded.encoders.packaged import similarities
from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.reader.reading import PassageText
from ramify.tools.english import content_stems
from ramify.tools.no_answer import UNKNOWN
from ramify.tools.supporting_sentence import split_statements

_OVERVIEW_QUESTIONS = (
    "What are the main themes of these documents?",
    "What are these documents about?",
    "Summarise everything in this collection.",
    "Which topics are covered most?",
    "Give an overview of the whole corpus.",
)
_MIN_OVERVIEW_COSINE, _MAX_OVERVIEW_COSINE = 0.5, 0.75
"""Cosines to one of these between which a question is increasingly considered an overview question, from 0 to 1."""
_MIN_SENTENCE_COSINE, _MAX_SENTENCE_COSINE = 0.3, 0.75
"""Cosines between which a sentence is increasingly relevant to a question, from 0 to 1."""
_MAX_WORTH = 0.5
"""Worth of the largest community for an overview question, and the highest confidence of quotations, which is not calibrated."""
_COMMUNITY_DECAY, _SENTENCE_DECAY = 0.95, 0.5
"""Factors on a sentence's worth per position: of the community (by size), and within a report."""
_MIN_SHARE_OF_BEST = 0.6
"""Sentences with less than this share of the best worth are dropped."""
_MAX_BATCH_SENTENCES, _MAX_ANSWER_SENTENCES = 8, 9
"""Most sentences of a batch, and of the whole answer."""
_MIN_SHARED_WORDS = 0.8


class _Sentence(NamedTuple):
    worth: float
    number: int
    """The number of its report or point, from 1."""
    line: str


def is_overview_question(question: str) -> bool:
    """Return whether a question is about the whole corpus rather than something in it."""
    return _overview_score(question) > _MAX_WORTH / 2


def map_report(slots: Slots) -> ReplyFields:
    """Return the sentences of a batch that are relevant to the question, each with its worth and the number of its report."""
    question = str(slots["question"])
    chosen = _best_sentences(_score_sentences(question, slots["passages"], _overview_score(question)), _MAX_BATCH_SENTENCES)
    return {"points": [], "quotes": [f"{100 * sentence.worth:.0f} | {sentence.number} | {sentence.line}" for sentence in chosen]}


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
    """Return the findings of reports and sentences of passages with their worth; large communities have low numbers and a high worth."""
    about = 1 - whole / _MAX_WORTH  # similarity does not count for an overview question
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


def _best_sentences(scored: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """Return the best sentences without near-duplicates."""
    ordered = sorted((item for item in scored if item.worth > 0), key=lambda item: (-item.worth, item.number))
    chosen: list[_Sentence] = []
    for sentence in ordered:
        if len(chosen) == most or sentence.worth < _MIN_SHARE_OF_BEST * ordered[0].worth:
            break
        words, taken = content_stems(sentence.line), [content_stems(other.line) for other in chosen]
        if not any(len(words & others) >= _MIN_SHARED_WORDS * min(len(words), len(others)) for others in taken):
            chosen.append(sentence)
    return chosen


def _interpolate(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
