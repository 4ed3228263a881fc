"""Where splitting fails, the question is searched as it is, and the result says so."""

from typing import Any

import pytest

import ramify.graphs as graphs
from tests.river import QUESTION, but, river

BAD = "no JSON at all"
SURE = {"answer": "Seine", "confidence": 0.97, "citations": [1]}
UNSURE = {**SURE, "confidence": 0.5}
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("tor", {}, "decompose"),
    ("tor", {"rubric": True}, "decompose"),
    ("tor", {"judged": False}, "decompose"),
    ("chain", {}, "next_question"),
    ("self-ask", {}, "follow_up"),
    ("prune", {}, "decide"),
    ("prune", {"backtrace": "recursive"}, "decide"),
    ("prune", {"joint": False}, "decompose"),
    ("prune", {"joint": False, "entities": False}, "decompose"),
    ("prune", {"joint": False, "backtrace": "recursive"}, "decompose"),
]


@pytest.mark.parametrize(("strategy", "arguments", "prompt"), CASES)
def test_a_root_that_cannot_be_split_is_searched_and_answered(strategy: str, arguments: dict[str, Any], prompt: str) -> None:
    broken = but(**{prompt: lambda slots: BAD}, answer=UNSURE)
    result = graphs.ask(QUESTION, strategy, model=broken, index=river(), **arguments)
    assert result.answer == "Seine"
    assert result.citations
    assert result.usage.retrievals == 1
    assert list(result.tree) == ["0"]
    assert result.tree["0"].status == "leaf"
    assert "not split" in result.tree["0"].note
    (notice,) = result.notices
    assert "searched unchanged, not split" in notice
    assert f"{prompt!r} is malformed" in notice
    assert len(broken.asked(prompt)) == 2, "asked once, repaired once"
    assert result.usage.llm_calls == 4, "what the failed calls cost counts, beside the answer and its text"


def test_a_branch_that_cannot_be_split_is_a_leaf_and_the_rest_continues() -> None:
    def sometimes(slots: Any) -> Any:
        whole = slots["question"] == QUESTION
        return {"simple": False, "first": "What is the capital of France?", "second": "Which river runs through {1}?"} if whole else BAD

    result = graphs.ask(QUESTION, "tor", model=but(decompose=sometimes), index=river(), tau=0.99)
    assert [result.tree[path].status for path in ("0.0", "0.1")] == ["leaf", "leaf"]
    assert "not split" in result.tree["0.0"].note
    assert "filled with 'Paris'" in result.tree["0.1"].note
    assert result.answer == "Seine"
    assert not result.notices


def test_a_chain_that_breaks_off_is_answered_from_what_it_has() -> None:
    def once(slots: Any) -> Any:
        return BAD if slots["history"] else {"done": False, "question": "What is the capital of France?"}

    result = graphs.ask(QUESTION, "chain", model=but(next_question=once), index=river())
    assert result.answer == "Seine"
    assert "the chain ends here" in result.tree["0.0"].note


def test_a_root_that_names_nothing_to_ask_is_answered_itself() -> None:
    nothing = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": [], "entities": []}
    result = graphs.ask(QUESTION, model=but(decide=nothing, answer=SURE), index=river(), backtrace="recursive")
    assert result.answer == "Seine"
    assert "that can be asked" in result.tree["0"].note


def test_a_budget_that_is_used_up_ends_the_question_as_before() -> None:
    result = graphs.ask(QUESTION, "tor", model=but(), index=river(), max_calls=1)
    assert result.stopped_by == "calls"
    assert not any("not split" in notice for notice in result.notices)
