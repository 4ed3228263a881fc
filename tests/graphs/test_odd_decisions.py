"""Decisions of a person that are invalid, too few, too late or odd: asked for again, or without effect, never an error."""

from typing import Any

import pytest
from langgraph.types import Command

from tests.graphs.test_ask_first import APPROVE, BOTH, CONFIG, ROME, Run, asked, edit, reject, two_splits
from tests.river import QUESTION, model


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        ("yes", "list of decisions"),
        ([APPROVE], "list of decisions"),
        (APPROVE, "list of decisions"),
        (float("nan"), "list of decisions"),
        ({"decisions": []}, "list of decisions"),
        ({"decisions": None}, "list of decisions"),
        ({"decisions": [APPROVE, None]}, "list of decisions"),
        ({"decisions": ["approve"]}, "list of decisions"),
        ({"decisions": [{"type": "APPROVE"}]}, "list of decisions"),
        ({"decisions": [APPROVE] * 5000}, "5000 decisions were given for 1 actions"),
        ({"decisions": [APPROVE, APPROVE]}, "2 decisions were given for 1 actions"),
        ({"decisions": [{"type": "respond"}]}, "list of decisions"),
        ({"decisions": [{"type": "edit", "args": {"first": ROME}}]}, "an edit of 'split_question' names"),
        ({"decisions": [{"type": "edit", "edited_action": {"name": "split_question", "args": {"first": 5}}}]}, "list of decisions"),
        ({"decisions": [{"type": "edit"}]}, "an edit of 'split_question' names"),
        ({"decisions": [edit("other", first=ROME)]}, "names 'other'"),
        ({"decisions": [edit("split_question", third=ROME)]}, "no argument 'third'"),
        ({"decisions": [edit("split_question", first=QUESTION)]}, "cannot be asked"),
        ({"decisions": [edit("split_question", first="Who is {1}?")]}, "cannot be asked"),
        ({"decisions": [edit("split_question", second=" ")]}, "cannot be asked"),
        ({"decisions": [edit("split_question", first="x" * 3000)]}, "3,000 characters"),
        ({"decisions": [edit("split_question", first="\ud800")]}, "is not valid UTF-8"),
    ],
)
async def test_a_decision_that_cannot_be_used_is_asked_for_again(decision: Any, told: str) -> None:
    run = Run("prune", model(), ask_first="splits")
    await run.ask()
    result = await run.graph.ainvoke(Command(resume=decision), CONFIG, context=run.settings)
    [action] = asked(result)
    assert action["description"].startswith("Not understood: ")
    assert told in action["description"]
    assert (await run.decide(APPROVE))["answer"] == "Seine"


async def test_a_rejection_need_not_have_a_message() -> None:
    run = Run("prune", model(), ask_first="splits", max_depth=1)
    await run.ask()
    result = await run.decide({"type": "reject", "message": None})
    assert "not split: rejected by a person" in result["tree"]["0"].note


async def test_decisions_after_the_end_change_nothing() -> None:
    run = Run("prune", model(), ask_first="splits", max_depth=1)
    await run.ask()
    ended = await run.decide(APPROVE)
    assert (await run.decide(reject("too late")))["answer"] == ended["answer"]


async def test_a_decision_too_few_is_asked_for_again() -> None:
    run = Run("prune", model(replies=two_splits), ask_first="splits", max_depth=2, tau=0.98)
    await run.ask(BOTH)
    await run.decide(APPROVE)
    assert "1 decisions were given for 2 actions" in asked(await run.decide(APPROVE))[0]["description"]
