"""A question that refers to the answer of another, however that is written, is filled in or not asked; none is asked again below itself."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import FIRST, QUESTION, but, river

WRITTEN = ["#1", "{{1}}", "<answer 1>", "[answer of 1]", "[1]", "{answer1}", "the answer to #1"]
GROWING: list[tuple[str, dict[str, Any]]] = [("prune", {}), ("prune", {"joint": False}), ("tor", {})]


def splitting(first: str, second: str, whole: str = QUESTION) -> FakeModel:
    """Split one question in two, in whatever wiring."""
    split = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": [first, second], "entities": []}
    told = {"action": "answer", "answer": "Paris", "confidence": 0.97, "citations": [1], "questions": [], "entities": []}

    def decide(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return split if slots["question"] == whole else told

    def decompose(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"simple": slots["question"] != whole, "first": first, "second": second}

    def answer(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"answer": "Paris", "confidence": 0.5 if slots["question"] == whole else 0.97, "citations": [1]}

    return but(decide=decide, decompose=decompose, answer=answer)


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("strategy", "arguments"), GROWING)
def test_the_answer_is_filled_in_however_the_model_refers_to_it(strategy: str, arguments: dict[str, Any], written: str) -> None:
    result = graphs.ask(QUESTION, strategy, model=splitting(FIRST, f"Which river runs through {written}?"), index=river(), **arguments)
    assert result.tree["0.1"].question == "Which river runs through Paris?"


@pytest.mark.parametrize("pair", [(FIRST, "Which river runs through #2?"), ("Who is #1?", FIRST), (FIRST, "Who is {answer 3}?")])
@pytest.mark.parametrize(("strategy", "arguments"), GROWING)
def test_a_reference_that_cannot_be_filled_is_not_asked(strategy: str, arguments: dict[str, Any], pair: tuple[str, str]) -> None:
    result = graphs.ask(QUESTION, strategy, model=splitting(*pair), index=river(), **arguments)
    assert not any("#" in branch.question or "{" in branch.question for branch in result.tree.values())


@pytest.mark.parametrize(("strategy", "arguments"), GROWING)
def test_without_dependence_a_reference_is_not_asked(strategy: str, arguments: dict[str, Any]) -> None:
    model = splitting(FIRST, "Which river runs through #1?")
    result = graphs.ask(QUESTION, strategy, model=model, index=river(), dependent=False, **arguments)
    assert not any("#" in branch.question for branch in result.tree.values())


def test_what_the_question_itself_says_is_no_reference() -> None:
    whole = "Who is married to the singer of the #1 hit of 1985?"
    result = graphs.ask(whole, model=splitting("Who sang the #1 hit of 1985?", "Who is married to #1's singer?", whole), index=river())
    assert result.tree["0.0"].question == "Who sang the #1 hit of 1985?"


def test_a_chain_fills_in_what_was_answered_before() -> None:
    def following(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        script = [FIRST, "Which river runs through #1?", ""]
        return {"done": len(slots["history"]) == 2, "question": script[len(slots["history"])]}

    result = graphs.ask(QUESTION, "chain", model=but(next_question=following), index=river())
    assert result.tree["0.0.0"].question == "Which river runs through Paris?"


def test_a_chain_does_not_ask_for_what_was_not_answered() -> None:
    def following(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"done": False, "question": [FIRST, "Which river runs through #3?"][len(slots["history"])]}

    result = graphs.ask(QUESTION, "chain", model=but(next_question=following), index=river())
    assert list(result.tree) == ["0", "0.0"]
    assert "refers to a missing answer" in result.tree["0.0"].note


def test_no_question_is_asked_again_below_any_of_those_it_came_from() -> None:
    def round_and_round(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        parts = {QUESTION: [FIRST, "Which river is it?"], FIRST: ["What is France?", "What is a capital?"]}
        asked = parts.get(slots["question"], [QUESTION, "What else?"])
        return {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": asked, "entities": []}

    result = graphs.ask(QUESTION, model=but(decide=round_and_round), index=river(), max_depth=3)
    assert [path for path, branch in result.tree.items() if branch.question == QUESTION] == ["0"]
    assert "that can be asked" in result.tree["0.0.0"].note


def test_an_answer_that_was_not_mentioned_is_none() -> None:
    unsaid = {"answer": "Not mentioned in the passages.", "confidence": 0.99, "citations": []}
    result = graphs.ask(
        QUESTION, model=but(decide={**unsaid, "action": "answer", "questions": [], "entities": []}, finalize=unsaid), index=river()
    )
    assert result.answer == "Unknown"
    assert "not above tau" in result.tree["0"].note, "nothing was accepted"


@pytest.mark.parametrize("strategy", ["naive", "closed-book"])
def test_a_strategy_of_one_answer_says_unknown_too(strategy: str) -> None:
    unsaid = {"answer": "The passages do not say.", "confidence": 0.99, "citations": []}
    result = graphs.ask(QUESTION, strategy, model=but(answer=unsaid, closed_book=unsaid), index=river())
    assert result.answer == "Unknown"
