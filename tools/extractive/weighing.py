"""Replies to the prompts that weigh: passages by what they say (filter, summarize), pairs of sub-questions (judge, rubric)."""

from collections.abc import Sequence

from ramify.tools.embeddings.similarity import similarities, similarity
from ramify.tools.english import bare_title, content, names_in, sentences
from ramify.tools.extractive.asking import SLOT, chosen
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.folded_text import fold
from ramify.tools.reader.calibration import TAU
from ramify.tools.reader.inputs import Quote, in_context
from ramify.tools.reader.predictions import Reading, read_contexts
from ramify.tools.reader.short_answers import read
from ramify.tools.unknown import UNKNOWN, is_unknown

_RELEVANT, _NEAR_BEST, _IRRELEVANT = 0.5, 0.85, 0.1
_POOR = 0.35
_MOST_FACTS = 3
_VALID = 3
_ABOUT = 0.25
"""A part less alike the question than this is about something else."""


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


def judge(slots: Slots) -> Reply:
    """Score a pair with its answers on four criteria, 0 to 5, and name the weaker question, if only one has an answer."""
    question, pair = slots["question"], (slots["first"], slots["second"])
    answers = [slots["first_answer"] or "", slots["second_answer"] or ""]
    known = [not is_unknown(answer) for answer in answers]
    near = similarities(question, pair)
    repeated = all(known) and fold(answers[0]) == fold(answers[1]) not in ("yes", "no")
    apart = 0.0 if fold(pair[0]) == fold(pair[1]) else min(1.0, 1.25 - similarity(*pair)) - 0.2 * repeated
    return {
        "sufficiency": 5 * sum(known) / 2,
        "non_redundancy": round(5 * max(0.0, apart), 2),
        "consistency": 5.0 if min(near) > _ABOUT else 2.5,
        "decomposition": round(5 * _taken_up(question, pair), 2),
        "weaker": "neither" if known[0] == known[1] else str(known.index(False) + 1),
    }


def rubric(slots: Slots) -> Reply:
    """Give a pair one point for each of five criteria."""
    question, pair = slots["question"], (slots["first"], slots["second"])
    points = {
        "both are questions": all(part.rstrip().endswith("?") for part in pair),
        "both are specific": all(SLOT in part or names_in(part) or len(content(part)) >= 2 for part in pair),
        "both are relevant": SLOT in pair[1] or min(similarities(question, pair)) > _ABOUT,
        "neither repeats the other": len({fold(text) for text in (question, *pair)}) == 3,
        "together they are complete": _taken_up(question, pair) >= 0.7,
    }
    wrong = [point for point, met in points.items() if not met]
    score = len(points) - len(wrong)
    reasons = f"Not met: {', '.join(wrong)}." if wrong else "All five criteria are met."
    return {"reasons": reasons, "score": float(score), "verdict": "VALID" if score >= _VALID else "INVALID"}


def _taken_up(question: str, pair: Sequence[str]) -> float:
    """Tell which share of the question's words a pair takes up; little where one of it is the question again."""
    words = content(question)
    share = len(words & content(" ".join(pair))) / len(words) if words else 0.0
    return min(1.0, 0.2 + 0.9 * share) * (0.3 if fold(question) in map(fold, pair) else 1.0)
