"""Iterative RAG and the chain: when their loops go on, search anew and stop."""

from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import library
from tests.river import QUESTION, TEXTS, but, replies, river

POOR: dict[str, Any] = {
    "relevant": [], "facts": [], "sources": [], "is_sufficient": False, "relevance": 0.1, "suggested": ""
}  # fmt: skip


SHELF = library(*TEXTS, *(f"Filler number {n} about nothing." for n in range(40)))


def run(chat: Any, **options: Any) -> graphs.Result:
    """Ask with Iterative RAG over many passages."""
    return graphs.ask(QUESTION, "iterative", model=chat, index=SHELF, batch=4, **options)


def test_the_filter_reads_until_the_rounds_are_used_up_and_says_so() -> None:
    chat = but(filter=POOR)
    result = run(chat)
    assert len(chat.asked("filter")) == 5
    assert result.stopped_by == "rounds"
    assert result.answer == "Unknown"
    assert {branch.status for path, branch in result.tree.items() if path != "0"} == {"pruned"}


def test_no_passage_is_read_twice() -> None:
    chat = but(filter=POOR)
    run(chat)
    read = [quote["text"] for call in chat.asked("filter") for quote in call["passages"]]
    assert len(read) == len(set(read)) == 20


def test_enough_facts_stop_the_loop() -> None:
    chat = but(
        filter=lambda slots: {**POOR, "relevant": [1], "relevance": 0.9, "facts": [f"fact {n} of {len(slots['facts'])}" for n in range(3)]}
    )
    result = run(chat)
    assert len(chat.asked("filter")) == 2
    assert result.stopped_by == "finished"


def test_three_poor_rounds_search_the_suggested_query() -> None:
    chat = but(filter={**POOR, "suggested": "Tiber"})
    result = run(chat)
    grown = [branch for branch in result.tree.values() if branch.question == "Tiber"]
    assert len(grown) == 1
    assert grown[0].evidence


def test_what_helped_is_assigned_to_the_branch_that_found_it() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(), index=river())
    helped = {key for branch in result.tree.values() for key in branch.evidence}
    assert len(helped) == 2
    assert result.explanation


def test_every_query_of_a_plan_is_searched_up_to_a_bound() -> None:
    planned = [f"river number {n}" for n in range(12)]
    result = graphs.ask(QUESTION, "iterative", model=but(plan={"primary": QUESTION, "sub_queries": planned}), index=SHELF)
    assert [branch.question for path, branch in result.tree.items() if path != "0"] == [QUESTION, *planned[:8]]
    assert result.usage.retrievals == 9


def test_without_a_plan_the_question_itself_is_searched_and_the_tree_says_so() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(plan="no plan"), index=river())
    assert result.tree["0.0"].question == QUESTION
    assert "no plan" in result.tree["0"].note
    assert result.answer == "Seine"


def test_a_plan_that_fails_ends_no_question() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(plan="no plan"), index=river())
    assert (result.answer, result.stopped_by, result.usage.retrievals) == ("Seine", "finished", 1)
    assert [notice for notice in result.notices if "searched unchanged" in notice and "'plan' is malformed" in notice]


def test_a_round_that_fails_counts_as_read_and_the_loop_continues() -> None:
    chat = but(filter=lambda slots: "no JSON" if lost(chat) else replies("filter", slots))
    result = run(chat)
    assert (result.answer, result.stopped_by) == ("Seine", "finished")
    assert [notice for notice in result.notices if notice.startswith("round 1 of reading failed; its 4 passages are skipped")]
    first, again, second = ({quote["text"] for quote in call["passages"]} for call in chat.asked("filter"))
    assert first == again
    assert not first & second


def lost(chat: Any) -> bool:
    """Tell whether the first round is still read: the call, and the one that repairs it."""
    return len(chat.asked("filter")) <= 2


def test_where_every_round_fails_the_result_says_that_the_model_did() -> None:
    result = run(but(filter="no JSON"))
    assert (result.answer, result.stopped_by) == ("Unknown", "error")
    assert "5 of 5 rounds of reading failed" in result.explanation
    assert len(result.notices) == 5


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_a_call_on_the_whole_question_is_made_again_where_its_failure_may_pass(prompt: str) -> None:
    chat = but(**{prompt: lambda slots: cut_off() if len(chat.asked(prompt)) == 1 else replies(prompt, slots)})
    result = graphs.ask(QUESTION, "iterative", model=chat, index=river())
    assert (result.answer, result.stopped_by, result.notices) == ("Seine", "finished", [])


def cut_off() -> Any:
    raise OSError("the wire was cut")


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_what_a_client_raises_over_a_reply_is_reported_and_ends_no_run(prompt: str) -> None:
    result = run(but(**{prompt: lambda slots: cut_off()}))
    assert any("OSError: the wire was cut" in notice for notice in result.notices)
    assert (result.answer, result.stopped_by) == (("Seine", "finished") if prompt == "plan" else ("Unknown", "error"))


def test_a_call_on_the_whole_question_is_a_task_in_the_stream() -> None:
    begun: list[str] = []

    def watch(kind: str, event: Any) -> None:
        if kind == "tasks" and isinstance(event.get("input"), tuple):
            begun.append(event["name"])

    graphs.ask(QUESTION, "iterative", watch, model=but(), index=river())
    assert begun == ["plan", "filter", "compress"]
