"""Replies to the prompts of chains that conclude: follow_up and search_or_answer, next_thought, condense."""

from math import prod

from ramify.tools.english import UNKNOWN, is_unknown, same_question
from ramify.tools.extractive import Reply, Slots
from ramify.tools.extractive._answers import reply_of
from ramify.tools.extractive.questions import answer_to, next_hop, next_question
from ramify.tools.reader.short_answers import read

_MARK = "? "
"""What separates a question from its answer in a thought."""


def follow_up(slots: Slots) -> Reply:
    """Return the next sub-question, or the answer that is combined from those given: as sure as they are together."""
    known = [finding for finding in slots["history"] if not is_unknown(finding["answer"] or "")]
    answer = answer_to(slots["question"], [(finding["question"], finding["answer"]) for finding in known])
    if not answer:
        return {**next_question(slots), "answer": "", "confidence": 0.0}
    return {"done": True, "question": "", "answer": answer, "confidence": prod(finding["confidence"] for finding in known)}


def next_thought(slots: Slots) -> Reply:
    """Return the next sub-question with its answer in the passages, alone if it has none; at last the answer that is combined from them.

    Empty if there is nothing to ask.
    """
    question, said = slots["question"], list(map(str, slots["said"]))
    asked = [(f"{before}?", answer.strip(" .")) for before, mark, answer in (text.rpartition(_MARK) for text in said) if mark]
    following = next_hop(question, asked)
    if following is None:
        answer = answer_to(question, asked)
        return {"sentence": f"So the answer is: {answer}." if answer else "", "confidence": 1.0}
    found = reply_of(read(following, slots["passages"]))
    if found["answer"] == UNKNOWN:
        return {"sentence": "" if any(same_question(following, text) for text in said) else following, "confidence": 1.0}
    return {"sentence": f"{following.rstrip('? ')}{_MARK}{found['answer']}.", "confidence": found["confidence"]}


def condense(slots: Slots) -> Reply:
    """Return the phrase in the passages that answers what was searched for."""
    return reply_of(read(slots["query"], slots["passages"]))
