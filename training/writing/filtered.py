"""Decomposed questions for what two conditions hold of: each asked for by itself."""

import re

from training.writing.aligned import heavy, place
from training.writing.phrases import PEOPLE, asked, head
from training.writing.question_words import ask, words
from training.writing.verbs import AUXILIARIES, PRESENT, opens

_RELATES = re.compile(r"\b(?:of|who|that|which|where|by|from|in|with|on|\w{3,}ed|born)\b")
"""A bare class of things ("EU countries") is no question of its own."""
_NAMED = re.compile(r"(?<!^)\b(?:[A-Z][\w'-]+|\d{2,})")


def filtered(question: str, steps: list[str]) -> tuple[str, str] | None:
    """Give the questions for what is chosen from and for what it is chosen by, where both name something."""
    chosen, condition = steps
    found = re.fullmatch(r"#1 (?:that|who|which) (.+)", condition)
    if (
        not found
        or "#" in found[1]
        or not _NAMED.search(" " + chosen)
        or not _NAMED.search(" " + found[1])
        or not opens(found[1].split()[0].casefold())
    ):
        return None
    if not _RELATES.search(chosen):
        return None
    predicate = place(found[1], question)
    where = place(chosen, question)
    if not predicate or not where or (where[0] < predicate[1] and predicate[0] < where[1]):
        return None
    noun = head(chosen)
    named = question[where[0] : where[1]]
    if heavy(named)[0] != heavy(chosen)[0] or _finite(named):
        return None
    told = question[predicate[0] : predicate[1]]
    verb = found[1].split()[0]
    if not told.casefold().startswith(verb.casefold()):
        close = re.search(rf"\b{re.escape(verb)}\b[\w ]{{0,12}}$", question[: predicate[0]], re.IGNORECASE)
        told = question[close.start() : predicate[1]] if close else told
    told = told if told.casefold().startswith(verb.casefold()) else f"{verb} {told}"
    plural = verb in ("have", "are", "were", "do")
    if not opens(told.split()[0].casefold()) or verb in told.split()[1:]:
        return None
    second = f"Who {told}" if noun in PEOPLE else f"Which {noun if plural else _singular(noun)} {told}"
    return asked("the " + re.sub(r"^(?:the|an?) ", "", named)), ask(second)


def _finite(phrase: str) -> bool:
    opening = re.split(r"\b(?:who|that|which|where)\b", phrase)[0]
    told = words(opening)
    return opens(told[0]) or any(word in AUXILIARIES or word in PRESENT for word in told[1:])


def _singular(noun: str) -> str:
    return re.sub(r"(?<=[^s])s$", "", re.sub(r"ies$", "y", noun))
