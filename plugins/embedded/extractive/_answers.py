"""Replies to the prompts about passages: answer, compress, decide, entities, filter, summarize.

Also to the prompts of iterative strategies: follow_up and search_or_answer, next_thought, condense.
"""

import re
from math import prod
from typing import Any

from ramify.embedded.encoders.packaged import similarities
from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.extractive.questions import answer_to, choose_split, next_hop, next_question
from ramify.embedded.reader.calibration import MIN_CONFIDENCE, TAU
from ramify.embedded.reader.reading import PassageReading, PassageText, add_title, read_contexts
from ramify.embedded.reader.selection import select_passages
from ramify.embedded.reader.short_answers import ShortAnswer, read_answer
from ramify.tools.english import (
    content_stems,
    find_names,
    fold,
    same_question,
    sentences,
    strip_disambiguation,
)
from ramify.tools.identifiers import find_identifiers
from ramify.tools.names import missing_names
from ramify.tools.no_answer import UNKNOWN, is_unknown

_MAX_UNKNOWN_CONFIDENCE = 0.3
"""The highest confidence of the answer Unknown."""
_MIN_RELEVANCE, _MIN_SHARE_OF_BEST, _MAX_IRRELEVANCE, _MAX_POOR_RELEVANCE = 0.5, 0.85, 0.1, 0.35
_MAX_FACTS = 3
_ANSWER_SEPARATOR = "? "
"""Separates a question from its answer in a thought."""


def answer(slots: Slots) -> ReplyFields:
    """Answer a question from passages."""
    return answer_fields(read_answer(slots["question"], slots["passages"]))


def answer_fields(span: ShortAnswer, least: float = MIN_CONFIDENCE) -> ReplyFields:
    """Return a short answer as reply fields, Unknown below the confidence `least`."""
    if not span.answer or span.confidence < least:
        return {"answer": UNKNOWN, "confidence": min(span.confidence, _MAX_UNKNOWN_CONFIDENCE), "citations": []}
    return {"answer": span.answer, "confidence": span.confidence, "citations": [span.passage]}


def compress(slots: Slots) -> ReplyFields:
    """Answer from the filtered passages, part by part if they answer all parts; explain it with the sources."""
    question, passages = slots["question"], slots["passages"]
    parts, missing = _read_parts(question, passages)
    answer = "" if missing else answer_to(question, [(part, span.answer) for part, span in parts])
    if not answer:
        reply = answer_fields(read_answer(question, passages))
        parts = [("", ShortAnswer(reply["answer"], reply["confidence"], number)) for number in reply["citations"]]
    else:
        citations = dict.fromkeys(span.passage for _, span in reversed(parts))
        reply = {"answer": answer, "confidence": prod(span.confidence for _, span in parts), "citations": list(citations)}
    read = [f"{part} {span.answer} [{passages[span.passage - 1]['source']}]".strip() for part, span in parts]
    return {**reply, "explanation": " ".join(read) or "The passages do not say."}


def decide(slots: Slots) -> ReplyFields:
    """Answer if the confidence is high, else split the question, else guess or return names to look up."""
    question, passages = slots["question"], slots["passages"]
    denied = " ".join(re.findall(r"not (?:choose )?([^.]*)", str(slots["may"])))
    forbidden = {action for action in ("answer", "decompose", "entities") if re.search(rf"\b{action}", denied)}
    span = read_answer(question, passages)
    split = None if "decompose" in forbidden else choose_split(question, bool(slots["dependent"]))
    # The confidence of a yes or no by one passage is not calibrated for comparisons.
    compares = split is not None and span.answer in ("Yes", "No")
    if "answer" not in forbidden and span.answer and span.confidence > TAU and not compares:
        return _decision("answer", **answer_fields(span))
    if split is not None:
        return _decision("decompose", questions=[split.first, split.second], together=split.how)
    names = [] if "entities" in forbidden else missing_names(find_names(question), [passage["title"] for passage in passages])
    again = bool(slots["hint"]) and span.confidence < MIN_CONFIDENCE
    if names and (again or not span.answer or "answer" in forbidden):
        return _decision("entities", entities=names)
    # A guess for a sub-question keeps its low confidence: it is not accepted, but may be used in another question.
    if "answer" not in forbidden:
        return _decision("answer", **answer_fields(span, 0.0 if slots["above"] else MIN_CONFIDENCE))
    return _decision("decompose") if "entities" in forbidden else _decision("entities", entities=find_names(question)[:2])


def _decision(action: str, **filled: Any) -> ReplyFields:
    nothing: ReplyFields = {"answer": "", "confidence": 0.0, "citations": [], "questions": [], "entities": [], "together": ""}
    return {"action": action, **nothing, **filled}


def entities(slots: Slots) -> ReplyFields:
    """Return the question's names that no passage contains, else its first names."""
    names = find_names(slots["question"])
    return {"entities": missing_names(names, [f"{passage['title']} {passage['text']}" for passage in slots["passages"]]) or names[:2]}


def filter_batch(slots: Slots) -> ReplyFields:
    """Return the passages relevant to the question, a sentence of each, and a query for what is missing if they are not sufficient."""
    question, passages = slots["question"], slots["passages"]
    readings = read_contexts(question, tuple(add_title(passage["title"], passage["text"]) for passage in passages)) if passages else ()
    best = max((reading.relevance for reading in readings), default=0.0)
    least = max(_MAX_IRRELEVANCE, min(_MIN_RELEVANCE, _MIN_SHARE_OF_BEST * best))
    order = sorted(range(1, len(passages) + 1), key=lambda number: -readings[number - 1].relevance)
    exact = any(identifier.is_exact for identifier in find_identifiers(question))
    named = {item.number for item in select_passages(question, passages).passages} if exact else set()
    relevant = [number for number in order if readings[number - 1].relevance >= least or number in named]
    known: list[PassageText] = [{"title": "", "source": "", "text": str(fact)} for fact in slots["facts"]]
    parts, missing = _read_parts(question, [*passages, *known])
    enough = not missing and min((span.confidence for _, span in parts), default=0.0) >= TAU
    suggested = "" if enough else missing
    if same_question(suggested, question):  # a single fact: its names may find more where nothing was relevant
        suggested = " ".join(find_names(question)) if best < _MAX_POOR_RELEVANCE else ""
    answering = {span.passage: _read(part, passages[span.passage - 1]) for part, span in parts if span.passage <= len(passages)}
    relevant = [*answering, *(number for number in relevant if number not in answering)]
    facts = dict.fromkeys(_key_sentence(passages[number - 1], answering.get(number) or readings[number - 1]) for number in relevant)
    sources = list(dict.fromkeys(passages[number - 1]["source"] for number in relevant))
    return {
        "relevant": sorted(relevant),
        "facts": [fact for fact in facts if fact and fact not in slots["facts"]][:_MAX_FACTS],
        "is_sufficient": enough,
        "relevance": best,
        "suggested": suggested,
        "sources": sources,
    }


def _read_parts(question: str, passages: list[PassageText]) -> tuple[list[tuple[str, ShortAnswer]], str]:
    """Return the parts of a question that the passages answer, with the answers before it inserted in each, and the first that they do not.

    The latter is empty if they answer all of them.
    """
    parts: list[tuple[str, ShortAnswer]] = []
    while (following := next_hop(question, [(part, span.answer) for part, span in parts])) is not None:
        span = read_answer(following, passages) if passages else ShortAnswer("", 0.0, 0)
        if answer_fields(span)["answer"] == UNKNOWN or any(same_question(following, before) for before, _ in parts):
            return parts, following
        parts.append((following, span))
    return parts, ""


def _read(question: str, passage: PassageText) -> PassageReading:
    """Return the reading of one passage for a question."""
    return read_contexts(question, (add_title(passage["title"], passage["text"]),))[0]


def _key_sentence(passage: PassageText, reading: PassageReading) -> str:
    """Return the sentence with the likeliest answer; the first sentence if the answer is in the title."""
    listed = sentences(passage["text"])
    place = reading.text_spans[0].start - len(add_title(passage["title"], "")) if reading.text_spans else 0
    return [*listed[:1], *(sentence for sentence in listed if passage["text"].find(sentence) <= place)][-1] if listed else ""


def summarize(slots: Slots) -> ReplyFields:
    """Return the one or two sentences on an entity most similar to the question, from its own article if there is one."""
    entity = strip_disambiguation(slots["entity"])
    candidates = []
    for number, passage in enumerate(slots["passages"], 1):
        listed = sentences(passage["text"])
        similar = similarities(slots["question"], [f"{passage['title']}: {sentence}" for sentence in listed])
        candidates += [
            (value, number, sentence)
            for value, sentence in zip(similar, listed, strict=True)
            if content_stems(entity) and content_stems(entity) <= content_stems(f"{passage['title']} {sentence}")
        ]
    own = [item for item in candidates if fold(strip_disambiguation(slots["passages"][item[1] - 1]["title"])) == fold(entity)] or candidates
    if not own:
        return {"answer": UNKNOWN, "confidence": 0.1, "citations": []}
    best, *others = sorted(own, key=lambda item: -item[0])
    kept = [item for item in own if item == best or (item in others[:1] and item[0] > 0.8 * best[0])]
    citations = list(dict.fromkeys(number for _, number, _ in kept))
    confidence = max(0.0, min(0.95, 0.3 + best[0]))
    return {"answer": " ".join(sentence for _, _, sentence in kept), "confidence": confidence, "citations": citations}


def follow_up(slots: Slots) -> ReplyFields:
    """Return the next sub-question, or the answer combined from the history, with the product of its confidences."""
    known = [finding for finding in slots["history"] if not is_unknown(finding["answer"] or "")]
    answer = answer_to(slots["question"], [(finding["question"], finding["answer"]) for finding in known])
    if not answer:
        return {**next_question(slots), "answer": "", "confidence": 0.0}
    return {"done": True, "question": "", "answer": answer, "confidence": prod(finding["confidence"] for finding in known)}


def next_thought(slots: Slots) -> ReplyFields:
    """Return the next sub-question with its answer from the passages, if any; at the end the combined answer.

    Empty if there is no further question.
    """
    question, said = slots["question"], list(map(str, slots["sentences"]))
    asked = [(f"{before}?", answer.strip(" .")) for before, mark, answer in (text.rpartition(_ANSWER_SEPARATOR) for text in said) if mark]
    following = next_hop(question, asked)
    if following is None:
        answer = answer_to(question, asked)
        return {"sentence": f"So the answer is: {answer}." if answer else "", "confidence": 1.0}
    fields = answer_fields(read_answer(following, slots["passages"]))
    if fields["answer"] == UNKNOWN:
        return {"sentence": "" if any(same_question(following, text) for text in said) else following, "confidence": 1.0}
    return {"sentence": f"{following.rstrip('? ')}{_ANSWER_SEPARATOR}{fields['answer']}.", "confidence": fields["confidence"]}


def condense(slots: Slots) -> ReplyFields:
    """Return the phrase in the passages that answers the query."""
    return answer_fields(read_answer(slots["query"], slots["passages"]))
