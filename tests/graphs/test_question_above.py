"""What a sub-question is said to be part of: the question that was split into it; in a chain, the main question."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.prompts import AGGREGATE
from tests.river import FIRST, QUESTION, SECOND, but, river

LINKS = ("What is the capital of France?", "Which river runs through Paris?", "Into which sea does the Seine flow?")


def above(chat: Any, prompt: str = "answer") -> dict[str, str]:
    """Return what each question was said to be part of."""
    return {call["question"]: call.get("above", "") for call in chat.asked(prompt)}


@pytest.mark.parametrize(("strategy", "prompt"), [("chain", "next_question"), ("self-ask", "follow_up")])
def test_every_link_of_a_chain_is_part_of_the_main_question(strategy: str, prompt: str) -> None:
    def following(slots: Mapping[str, Any]) -> dict[str, Any]:
        left = LINKS[len(slots["history"]) :]
        return {"done": not left, "question": left[0] if left else "", "answer": "" if left else "Seine", "confidence": 0.9}

    chat = but(**{prompt: following})
    graphs.ask(QUESTION, strategy, model=chat, index=river(), style="short")
    assert above(chat) == dict.fromkeys(LINKS, QUESTION)


def test_a_link_that_asks_the_main_question_is_part_of_none() -> None:
    chat = but(next_question=lambda slots: {"done": bool(slots["history"]), "question": QUESTION})
    graphs.ask(QUESTION, "chain", model=chat, index=river(), style="short")
    assert above(chat) == {QUESTION: ""}


def test_in_a_tree_a_part_of_a_part_is_shown_what_it_is_part_of() -> None:
    parts = {QUESTION: (FIRST, SECOND), FIRST: ("Which city is it?", "Which country is it?")}

    def split(slots: Mapping[str, Any]) -> dict[str, Any]:
        first, second = parts.get(slots["question"], ("", ""))
        return {"simple": not first, "first": first, "second": second}

    chat = but(decompose=split, answer={"answer": "Paris", "confidence": 0.9, "citations": [1]})
    graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=2, style="short")
    shown = above(chat)
    assert (shown[FIRST], shown["Which city is it?"]) == (QUESTION, FIRST)


def test_what_is_combined_is_shown_the_question_above() -> None:
    def decide(slots: Mapping[str, Any]) -> dict[str, Any]:
        nothing = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "entities": []}
        parts = {QUESTION: [FIRST, SECOND], FIRST: ["Which city is it?", "Which country is it?"]}
        if slots["question"] in parts:
            return {**nothing, "questions": parts[slots["question"]]}
        return {**nothing, "action": "answer", "answer": "Paris", "confidence": 0.97, "citations": [1], "questions": []}

    chat = but(decide=decide)
    graphs.ask(QUESTION, "prune", model=chat, index=river(), backtrace="recursive", style="short", max_depth=3)
    assert above(chat, "aggregate")[FIRST] == QUESTION
    shown = AGGREGATE.render({"findings": [], "passages": [], "question": FIRST, "above": QUESTION})[-1].text
    assert f"Part of: {QUESTION}\nQuestion: {FIRST}" in shown
