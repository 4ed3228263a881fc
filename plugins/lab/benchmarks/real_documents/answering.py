"""Ask the questions, and tell which answers are right."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from plugins.lab.benchmarks.real_documents.questions import Question
from ramify.graphs import Result, ask
from ramify.lab.metrics import containment, exact_match, normalize_answer
from ramify.nodes.tree import is_unknown
from ramify.tools.errors import RamifyError

MIN_CONFIDENCE = 0.5
"""A wrong answer with this confidence or more is confidently wrong."""
_MAX_LENGTH = 3
"""An answer that holds a right one may be so many times longer, and for a short one so many words."""
_ENOUGH_ITEMS = 0.8
_QUOTATION = str.maketrans("", "", "\"'`“”‘’")


def answer_all(index: str, questions: Sequence[Question], strategy: str, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Ask every question in turn; return a line of each."""
    for question in questions:
        fields = {"strategy": strategy, "id": question.id, "type": question.type}
        try:
            result = ask(question.question, strategy=strategy, index=index, **settings)
        except RamifyError as error:
            yield {**fields, "answer": "", "confidence": 0.0, "unknown": False, "right": False, "error": str(error)}
            continue
        yield {**fields, **_question_row(question, result)}


def _question_row(question: Question, result: Result) -> dict[str, Any]:
    closest = [citation.quote for citation in result.citations if citation.closest]
    return {
        "answer": result.answer,
        "confidence": round(result.confidence or 0.0, 4),
        "unknown": is_unknown(result.answer),
        "right": is_right(question, result.answer, closest),
        "closest": closest,
        "sources": [passage.source for passage in result.passages.values()],
        "stopped_by": result.stopped_by,
        "seconds": result.usage.wall_s,
    }


def is_right(question: Question, answer: str, closest: Sequence[str] = ()) -> bool:
    """Return whether an answer is right; what is shown as closest counts where a sentence is what was asked for."""
    if question.type == "unanswerable":
        return is_unknown(answer)
    if question.type == "yes_no":
        return exact_match(answer, [question.answer]) == 1
    if question.type == "how_to":
        return any(_mentions(text, key) for text in (answer, *closest) for key in question.answers)
    if question.type == "list_all":
        return _lists(answer, question.items) or _lists(" ; ".join(closest), question.items)
    return any(_contains_gold(answer, each) for each in question.answers)


def _contains_gold(answer: str, gold: str) -> bool:
    words, length = len(normalize_answer(gold).split()), len(normalize_answer(answer).split())
    return exact_match(answer, [gold]) == 1 or (
        containment(answer, [gold]) == 1 and length <= max(_MAX_LENGTH * words, words + _MAX_LENGTH)
    )


def _mentions(text: str, key: str) -> bool:
    """Return whether a command or function is in a text as a separate word; case counts."""
    plain, wanted = (" ".join(each.translate(_QUOTATION).split()) for each in (text, key))
    left, end = ("(?<!\\w)" if wanted[0].isalnum() else ""), ("(?!\\w)" if wanted[-1].isalnum() else "")
    return re.search(f"{left}{re.escape(wanted)}{end}", plain) is not None


def _lists(answer: str, items: Sequence[str]) -> bool:
    named = sum(containment(answer, [item]) for item in items)
    return named >= math.ceil(_ENOUGH_ITEMS * len(items))


def measures(lines: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the measures of a strategy's answers, with each question's value; an Unknown that is right counts as right alone."""
    wrong = [not line["right"] and not line["unknown"] for line in lines]
    return {
        "right": [float(line["right"]) for line in lines],
        "wrong": [float(is_wrong) for is_wrong in wrong],
        "confidently wrong": [
            float(is_wrong and line["confidence"] >= MIN_CONFIDENCE) for is_wrong, line in zip(wrong, lines, strict=True)
        ],
        "Unknown": [float(line["unknown"] and not line["right"]) for line in lines],
    }
