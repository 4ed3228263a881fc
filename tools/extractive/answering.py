"""Replies to the prompts that ask for an answer from passages: answer, closed_book, compress, decide, entities."""

import re
from typing import Any

from ramify.tools.english import names_in, unnamed
from ramify.tools.extractive.asking import chosen
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.reader.calibration import LEAST, TAU
from ramify.tools.reader.short_answers import Span, read
from ramify.tools.unknown import UNKNOWN

_VERDICTS = ("Yes", "No")
_UNSURE = 0.3
"""The most that a reply is sure of which says Unknown."""


def answer(slots: Slots) -> Reply:
    """Answer a question from passages, read as it is."""
    return answered(read(slots["question"], slots["passages"]))


def closed_book(slots: Slots) -> Reply:
    """Say that nothing is known without documents."""
    return {"answer": UNKNOWN, "confidence": 0.0, "citations": []}


def answered(span: Span, least: float = LEAST) -> Reply:
    """Write a span as an answer, Unknown below the least confidence."""
    if not span.answer or span.confidence < least:
        return {"answer": UNKNOWN, "confidence": min(span.confidence, _UNSURE), "citations": []}
    return {"answer": span.answer, "confidence": span.confidence, "citations": [span.passage]}


def compress(slots: Slots) -> Reply:
    """Answer from the passages that were kept, and say where that is written."""
    passages = slots["passages"]
    reply = answered(read(slots["question"], passages))
    told = [f"{reply['answer']} [{passages[number - 1]['source']}]" for number in reply["citations"]]
    return {**reply, "explanation": " ".join(told) or "The passages do not say."}


def decide(slots: Slots) -> Reply:
    """Answer where that is sure, else split the question, else answer with a guess or name what to look up."""
    question, passages = slots["question"], slots["passages"]
    denied = " ".join(re.findall(r"not (?:choose )?([^.]*)", str(slots["may"])))
    forbidden = {action for action in ("answer", "decompose", "entities") if re.search(rf"\b{action}", denied)}
    span = read(question, passages)
    split = None if "decompose" in forbidden else chosen(question, bool(slots["dependent"]))
    # One passage says yes or no of one thing: where two are asked of, how sure that is was never measured.
    compares = split is not None and span.answer in _VERDICTS
    if "answer" not in forbidden and span.answer and span.confidence > TAU and not compares:
        return _decision("answer", **answered(span))
    if split is not None:
        return _decision("decompose", questions=[split.first, split.second], together=split.how)
    names = [] if "entities" in forbidden else unnamed(names_in(question), [passage["title"] for passage in passages])
    again = bool(slots["hint"]) and span.confidence < LEAST
    if names and (again or not span.answer or "answer" in forbidden):
        return _decision("entities", entities=names)
    # A guess is given with its low confidence: it is not accepted, but another question may be built on it.
    if "answer" not in forbidden:
        return _decision("answer", **answered(span, 0.0))
    return _decision("decompose") if "entities" in forbidden else _decision("entities", entities=names_in(question)[:2])


def _decision(action: str, **filled: Any) -> Reply:
    nothing: Reply = {"answer": "", "confidence": 0.0, "citations": [], "questions": [], "entities": [], "together": ""}
    return {"action": action, **nothing, **filled}


def entities(slots: Slots) -> Reply:
    """Name what the question names and no passage speaks of, else the first names of the question."""
    names = names_in(slots["question"])
    told = [f"{passage['title']} {passage['text']}" for passage in slots["passages"]]
    return {"entities": unnamed(names, told) or names[:2]}
