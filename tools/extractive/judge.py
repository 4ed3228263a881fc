"""Replies to the prompts that judge a pair of sub-questions: judge and rubric."""

import re
from collections.abc import Mapping
from typing import Any

from ramify.tools.extractive.questions import Expected, expected
from ramify.tools.extractive.spans import candidates
from ramify.tools.extractive.split import SLOT
from ramify.tools.extractive.text import content, fold, is_unknown
from ramify.tools.extractive.vectors import similarities, similarity
from ramify.tools.extractive.words import covered

Slots = Mapping[str, Any]
Reply = dict[str, Any]

_WH = re.compile(r"\b(?:who|whom|whose|what|where|when|why|how|which)\b", re.I)
_VALID = 3.0
_ABOUT = 0.25
"""A part less alike the question than this is about something else."""


def judge(slots: Slots) -> Reply:
    """Score a pair with its answers on four criteria, 0 to 5, and name the weaker question."""
    questions, answers = (slots["first"], slots["second"]), (slots["first_answer"] or "", slots["second_answer"] or "")
    worth = [_worth(question, answer) for question, answer in zip(questions, answers, strict=True)]
    return {
        "sufficiency": round(5 * sum(worth) / 2, 2),
        "non_redundancy": round(5 * _apart(questions, answers), 2),
        "consistency": round(5 * _consistent(slots["question"], questions), 2),
        "decomposition": round(5 * _coverage(slots["question"], *questions), 2),
        "weaker": "1" if _weight(slots["question"], questions, worth) else "2",
    }


def _worth(question: str, answer: str) -> float:
    if is_unknown(answer):
        return 0.0
    return 1.0 if _fits(expected(question), answer) else 0.5


def _fits(wanted: Expected, answer: str) -> bool:
    if wanted.kind == "yes_no":
        return fold(answer) in ("yes", "no")
    if wanted.kind in ("date", "number"):
        return bool(candidates(answer, wanted.kind))
    return wanted.kind == "phrase" or answer[:1].isupper() or answer[:1] in '"“'


def _apart(questions: tuple[str, str], answers: tuple[str, str]) -> float:
    """Tell how far neither question nor answer repeats the other; the names in two questions may be all that differs."""
    if fold(questions[0]) == fold(questions[1]):
        return 0.0
    alike = similarity(*questions)
    names = [content(" ".join(found.text for found in candidates(question[1:], "name"))) for question in questions]
    if names[0] != names[1]:
        alike *= 0.7
    repeated = 0.2 if not is_unknown(answers[0]) and fold(answers[0]) == fold(answers[1]) and fold(answers[0]) not in ("yes", "no") else 0.0
    return max(0.0, min(1.0, 1.25 - alike) - repeated)


def _consistent(question: str, parts: tuple[str, str]) -> float:
    """Tell how far both parts are about what the question is about."""
    return 1.0 if min(similarities(question, list(parts))) > _ABOUT else 0.5


def _coverage(question: str, first: str, second: str) -> float:
    """Tell which share of the question's words the pair takes up, and whether either is the question again."""
    words = content(question)
    held = covered(words, content(f"{first} {second}"))
    share = len(held) / len(words) if words else 0.0
    repeats = fold(question) in (fold(first), fold(second))
    return min(1.0, 0.2 + 0.9 * share) * (0.3 if repeats else 1.0)


def _weight(question: str, questions: tuple[str, str], worth: list[float]) -> bool:
    """Tell whether the first question is the weaker."""
    if worth[0] != worth[1]:
        return worth[0] < worth[1]
    near = similarities(question, list(questions))
    return near[0] < near[1]


def rubric(slots: Slots) -> Reply:
    """Give a pair one point for each of five criteria."""
    question, first, second = slots["question"], slots["first"], slots["second"]
    near = similarities(question, [first, second])
    points = {
        "both are WH-questions": all(_WH.search(part) for part in (first, second)),
        "both are specific": all(SLOT in part or candidates(part[1:], "name") or len(content(part)) >= 2 for part in (first, second)),
        "both are relevant": min(near) > _ABOUT or SLOT in second,
        "neither repeats the other": fold(first) != fold(second) and fold(question) not in (fold(first), fold(second)),
        "together they are complete": _coverage(question, first, second) >= 0.7,
    }
    score = float(sum(map(bool, points.values())))
    wrong = [point for point, met in points.items() if not met]
    reasons = "All five criteria are met." if not wrong else f"Not met: {', '.join(wrong)}."
    return {"reasons": reasons, "score": score, "verdict": "VALID" if score >= _VALID else "INVALID"}
