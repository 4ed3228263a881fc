"""Replies to the prompts that pick what matters: filter and summarize."""

from collections.abc import Mapping, Sequence
from typing import Any

from ramify.tools.extractive.asking import plan
from ramify.tools.extractive.decompose import decompose
from ramify.tools.extractive.features import Where
from ramify.tools.extractive.naming import names_in
from ramify.tools.extractive.places import locate
from ramify.tools.extractive.resolve import resolve
from ramify.tools.extractive.text import UNKNOWN, Quote, bare_title, content, fold
from ramify.tools.extractive.words import covered

Slots = Mapping[str, Any]
Reply = dict[str, Any]

_RELEVANT = 0.55
_NEAR_BEST = 0.85
_SUFFICIENT = 0.6
_POOR = 0.35
_MOST_FACTS = 3
_READ = 8


def filter_batch(slots: Slots) -> Reply:
    """Pick the passages with a sentence near to the question, their best sentences, and what to search for where there are none."""
    question = slots["question"]
    parts = [question, *plan({"question": question})["sub_queries"]]
    numbers = _promising(parts, slots["passages"])
    passages = [slots["passages"][number - 1] for number in numbers]
    best = _best_sentences(parts, passages)
    # A long question is never held by one sentence: then what comes near the best of the batch is relevant.
    least = min(_RELEVANT, _NEAR_BEST * best[0][0]) if best else _RELEVANT
    relevant = [place for place in best if place[0] >= least][: _MOST_FACTS * 2]
    facts = [place.sentence for _, place in relevant if place.sentence not in slots["facts"]][:_MOST_FACTS]
    known = [Quote(title="", source="facts", text=fact) for fact in slots["facts"]]
    outcome = resolve(question, [*passages, *known])
    relevance = min(1.0, best[0][0]) if best else 0.0
    sources = list(dict.fromkeys(passages[place.number - 1]["source"] for _, place in relevant))
    return {
        "relevant": sorted({numbers[place.number - 1] for _, place in relevant}),
        "facts": facts,
        "files": sources,
        "pages": [source for source in sources if ":" in source],
        "is_sufficient": outcome.tenable and outcome.confidence >= _SUFFICIENT,
        "relevance": relevance,
        "suggested": _suggested(question, outcome.steps, relevance),
    }


def _promising(parts: Sequence[str], passages: Sequence[Quote]) -> list[int]:
    """Number the passages that hold most words of the question or of a part of it: only these are encoded, which is what reading costs."""
    held = [content(f"{passage['title']} {passage['text']}") for passage in passages]
    asked = [words for part in parts if (words := content(part))]
    share = [max((len(covered(words, text)) / len(words) for words in asked), default=0.0) for text in held]
    return sorted(sorted(range(1, len(passages) + 1), key=lambda number: -share[number - 1])[:_READ])


def _best_sentences(parts: Sequence[str], passages: Sequence[Quote]) -> list[tuple[float, Where]]:
    """Give the best sentence of each passage with its worth, the best first; parts of the question count like the whole."""
    best: dict[int, tuple[float, Where]] = {}
    for part in parts:
        words = content(part)
        for place in locate(part, passages):
            held = len(covered(words, content(place.sentence) | content(place.passage["title"]))) / max(1, len(words))
            value = 0.6 * place.similarity + 0.4 * held
            if value > best.get(place.number, (0.0, place))[0]:
                best[place.number] = value, place
    return sorted(best.values(), key=lambda item: -item[0])


def _suggested(question: str, steps: Sequence[Any], relevance: float) -> str:
    """Suggest the first step that has no answer yet."""
    if relevance >= _POOR and all(step.answer for step in steps):
        return ""
    open_steps = [step.question for step in steps if not step.answer]
    split = decompose(question)
    return open_steps[0] if open_steps and split else " ".join(names_in(question)) if relevance < _POOR else ""


def summarize(slots: Slots) -> Reply:
    """Give the one or two sentences on an entity that bear most on the question."""
    entity, passages = slots["entity"], slots["passages"]
    about = [place for place in locate(slots["question"], passages) if _about(entity, place)]
    if not about:
        return {"answer": UNKNOWN, "confidence": 0.1, "citations": []}
    own = [place for place in about if fold(bare_title(place.passage["title"])) == fold(bare_title(entity))] or about
    chosen = own[:2] if len(own) > 1 and own[1].similarity > 0.8 * own[0].similarity else own[:1]
    chosen = sorted(chosen, key=lambda place: (place.number, place.position))
    confidence = max(0.0, min(0.95, 0.3 + max(place.similarity for place in chosen)))
    return {
        "answer": " ".join(place.sentence for place in chosen),
        "confidence": confidence,
        "citations": list(dict.fromkeys(p.number for p in chosen)),
    }


def _about(entity: str, place: Where) -> bool:
    name = content(bare_title(entity))
    return bool(name) and name <= content(place.sentence) | content(place.passage["title"])
