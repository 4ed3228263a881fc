"""Statuses: whatever one step gives, another takes, or it is settled."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.tree import WORKING
from ramify.tools.errors import UsageError
from tests.graphs.wirings import WIRINGS, named
from tests.river import QUESTION, but, model, river


@pytest.mark.parametrize("wiring", WIRINGS, ids=named)
def test_every_status_given_is_taken_or_settled(wiring: tuple[str, dict[str, Any]]) -> None:
    steps = graphs.build(wiring[0], **wiring[1]).steps.values()
    given = {status for step in steps for status in step.gives}
    taken = {status for step in steps for status in step.takes}
    assert given & WORKING <= taken, f"nobody takes {given & WORKING - taken}"


def test_the_document_names_all_who_take_a_status() -> None:
    page = (Path(__file__).parents[2] / "docs" / "own_strategy.md").read_text(encoding="utf-8")
    told = {
        status: set(re.findall(r"\w+", re.sub(r"\([^)]*\)", "", who))) for status, who in re.findall(r"\| `(\w+)` \|[^|]+\|([^|]+)\|", page)
    }
    real: dict[str, set[str]] = defaultdict(set)
    for name, arguments in WIRINGS:
        for step in graphs.build(name, **arguments).steps.values():
            for status in step.takes:
                real[status].add(step.__name__)
    assert told == real


@pytest.mark.parametrize("wiring", WIRINGS, ids=named)
def test_a_run_ends_with_every_branch_settled_and_gives_what_its_steps_declare(wiring: tuple[str, dict[str, Any]]) -> None:
    result = graphs.ask(QUESTION, wiring[0], model=model(), index=river(), **wiring[1])
    declared = {status for step in graphs.build(wiring[0], **wiring[1]).steps.values() for status in step.gives}
    assert {branch.status for branch in result.tree.values()} <= declared - WORKING
    assert result.stopped_by == "finished"


def test_a_branch_that_no_step_takes_is_an_error_and_not_an_answer() -> None:
    wiring, settings = graphs.configure("naive", {"model": model(), "index": river()})
    state = {"question": QUESTION, "tree": {"0": {"question": QUESTION, "status": "growing"}}}
    graph = wiring.compile()
    with pytest.raises(UsageError, match="no step of this graph takes it"):
        graphs.run.blocking(_continue(graph, settings, state))


async def _continue(graph: Any, settings: Any, state: Any) -> Any:
    from langgraph.checkpoint.memory import InMemorySaver

    graph.checkpointer = InMemorySaver()
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"question": QUESTION}, config, context=settings)
    await graph.aupdate_state(config, {"tree": state["tree"]}, as_node="answer")
    return await graph.ainvoke(None, config, context=settings)


def test_a_failed_branch_fails_alone_with_the_reason() -> None:
    def capital_breaks(slots: Any) -> Any:
        return "no JSON at all" if "capital of France" in slots["question"] else {"answer": "Tiber", "confidence": 0.9, "citations": [1]}

    pair = {"simple": False, "first": "What is the capital of France?", "second": "Which river runs through Rome?"}
    broken = but(answer=capital_breaks, decompose=lambda s: pair if s["question"] == QUESTION else {**pair, "simple": True})
    result = graphs.ask(QUESTION, "tor", model=broken, index=river())
    assert result.tree["0.0"].status == "failed"
    assert "malformed" in result.tree["0.0"].note
    assert result.tree["0.1"].answer == "Tiber"
    assert len([call for call in broken.asked("answer") if "capital" in call["question"]]) == 2, "asked once, repaired once"
