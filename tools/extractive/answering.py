"""Replies to the prompts that ask for an answer from passages: answer, closed_book, decide, entities."""

import re
from collections.abc import Mapping
from typing import Any

from ramify.tools.extractive.decompose import decompose
from ramify.tools.extractive.in_force import threshold
from ramify.tools.extractive.naming import leading_names, missing_names, names_in
from ramify.tools.extractive.read import read
from ramify.tools.extractive.resolve import plainly, resolve
from ramify.tools.extractive.span import Span
from ramify.tools.extractive.split import Split
from ramify.tools.extractive.text import UNKNOWN, Quote

Slots = Mapping[str, Any]
Reply = dict[str, Any]

DIRECTLY = 0.5
"""The most that a question which asks for several facts is worth when answered at once."""
SURE = 0.85
"""Above this a first hop found in passing is filled into the second question at once."""


def answer(slots: Slots) -> Reply:
    """Answer a question from passages; one that needs several facts with low confidence."""
    question, passages = slots["question"], slots["passages"]
    if decompose(question) is None:
        return answered(read(question, passages), threshold())
    outcome = resolve(question, passages)
    confidence = min(DIRECTLY, outcome.confidence)
    return {
        "answer": outcome.answer if outcome.tenable else UNKNOWN,
        "confidence": confidence,
        "citations": list(outcome.passages) if outcome.tenable else [],
    }


def closed_book(slots: Slots) -> Reply:
    """Say that nothing is known without documents."""
    return {"answer": UNKNOWN, "confidence": 0.0, "citations": []}


def answered(span: Span, least: float) -> Reply:
    """Write a span as an answer, Unknown below the least confidence."""
    if not span.answer or span.confidence < least:
        return {"answer": UNKNOWN, "confidence": min(span.confidence, 0.3), "citations": []}
    return {"answer": span.answer, "confidence": span.confidence, "citations": [span.passage]}


def decide(slots: Slots) -> Reply:
    """Decompose where the rules can, else answer where a span fits, else name entities; else name nothing to ask."""
    question, passages, forbidden = slots["question"], slots["passages"], _forbidden(str(slots["may"]))
    plain = plainly(question, passages)
    split = None if "decompose" in forbidden or plain else decompose(question, dependent=True)
    if split is not None and (pair := _pair(split, passages, bool(slots["dependent"]))):
        return _decision("decompose", questions=pair)
    # A guess is given with its low confidence: it is not accepted, but another question may be built on it.
    reply = answered(read(question, passages), 0.0) if plain or decompose(question) is None else answer(slots)
    found = reply["answer"] != UNKNOWN
    names = missing_names(question, passages)
    if slots["hint"] and reply["confidence"] < threshold() and "entities" not in forbidden and (leads := leading_names(question, passages)):
        return _decision("entities", entities=leads)
    if "answer" not in forbidden and (found or not names or "entities" in forbidden):
        return _decision("answer", **reply)
    if "entities" not in forbidden:
        return _decision("entities", entities=names or names_in(question)[:2])
    return _decision("decompose")


def _forbidden(may: str) -> frozenset[str]:
    denied = " ".join(re.findall(r"not (?:choose )?([^.]*)", may))
    return frozenset(action for action in ("answer", "decompose", "entities") if re.search(rf"\b{action}", denied))


def _pair(split: Split, passages: list[Quote], dependent: bool) -> list[str]:
    """Write the pair; a first hop that is plain to read is filled in, so that the second question need not wait."""
    if not split.dependent:
        return [split.first, split.second]
    seen = read(split.first, passages) if decompose(split.first) is None else None
    if seen is not None and seen.answer and seen.confidence > SURE:
        return [split.first, split.filled(seen.answer)]
    return [split.first, split.second] if dependent else []


def _decision(action: str, **filled: Any) -> Reply:
    return {"action": action, "answer": "", "confidence": 0.0, "citations": [], "questions": [], "entities": [], **filled}


def entities(slots: Slots) -> Reply:
    """Name what the question names and no passage is about; else whom the passages lead to."""
    question, passages = slots["question"], slots["passages"]
    names = missing_names(question, passages)
    if not names and (split := decompose(question)) is not None:
        first = read(split.first, passages)
        names = [first.answer] if first.answer else []
    return {"entities": names or names_in(question)[:2]}
