"""Replies to the prompts about passages: answer, closed_book, compress, decide, entities, filter, summarize."""

import re
from typing import Any

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import UNKNOWN, bare_title, content, fold, names_in, sentences, unnamed
from ramify.tools.extractive import Reply, Slots
from ramify.tools.extractive.questions import chosen
from ramify.tools.reader.calibration import LEAST, TAU
from ramify.tools.reader.reading import Quote, Reading, in_context, read_contexts
from ramify.tools.reader.short_answers import Span, read

_VERDICTS = ("Yes", "No")
_RELEVANT, _NEAR_BEST, _IRRELEVANT = 0.5, 0.85, 0.1
_POOR = 0.35
_MOST_FACTS = 3
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


def filter_batch(slots: Slots) -> Reply:
    """Pick the passages that bear on the question, a sentence of each, and what to search for where that is not enough."""
    question, passages = slots["question"], slots["passages"]
    readings = read_contexts(question, tuple(in_context(passage["title"], passage["text"]) for passage in passages)) if passages else ()
    best = max((reading.relevance for reading in readings), default=0.0)
    least = max(_IRRELEVANT, min(_RELEVANT, _NEAR_BEST * best))
    order = sorted(range(1, len(passages) + 1), key=lambda number: -readings[number - 1].relevance)
    relevant = [number for number in order if readings[number - 1].relevance >= least]
    span = read(question, [passages[number - 1] for number in sorted(relevant)])
    enough = bool(span.answer) and span.confidence >= TAU
    suggested = ""
    if not enough and (split := chosen(question)):
        suggested = split.first
    elif not enough and best < _POOR:
        suggested = " ".join(names_in(question))
    told = [_telling(passages[number - 1], readings[number - 1]) for number in relevant]
    sources = list(dict.fromkeys(passages[number - 1]["source"] for number in relevant))
    return {
        "relevant": sorted(relevant),
        "facts": [fact for fact in dict.fromkeys(told) if fact and fact not in slots["facts"]][:_MOST_FACTS],
        "files": sources,
        "pages": [source for source in sources if ":" in source],
        "is_sufficient": enough,
        "relevance": best,
        "suggested": suggested,
    }


def _telling(passage: Quote, reading: Reading) -> str:
    """Give the sentence with the likeliest answer; the first where that is in the title."""
    said = sentences(passage["text"])
    place = reading.spots[0].start - len(in_context(passage["title"], "")) if reading.spots else 0
    begun = [sentence for sentence in said if passage["text"].find(sentence) <= place]
    return [*said[:1], *begun][-1] if said else ""


def summarize(slots: Slots) -> Reply:
    """Give the one or two sentences on an entity that are most like the question, of its own article where there is one."""
    entity = bare_title(slots["entity"])
    found = []
    for number, passage in enumerate(slots["passages"], 1):
        said = sentences(passage["text"])
        alike = similarities(slots["question"], [f"{passage['title']}: {sentence}" for sentence in said])
        found += [
            (near, number, sentence)
            for near, sentence in zip(alike, said, strict=True)
            if content(entity) and content(entity) <= content(f"{passage['title']} {sentence}")
        ]
    own = [item for item in found if fold(bare_title(slots["passages"][item[1] - 1]["title"])) == fold(entity)] or found
    if not own:
        return {"answer": UNKNOWN, "confidence": 0.1, "citations": []}
    best, *others = sorted(own, key=lambda item: -item[0])
    kept = [item for item in own if item == best or (item in others[:1] and item[0] > 0.8 * best[0])]
    answer = " ".join(sentence for _, _, sentence in kept)
    citations = list(dict.fromkeys(number for _, number, _ in kept))
    return {"answer": answer, "confidence": max(0.0, min(0.95, 0.3 + best[0])), "citations": citations}
