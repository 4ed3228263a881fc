"""Budgets: hard, shared by all branches, and told in the result."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.asking import budget
from ramify.nodes.asking.budget import Budget
from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from tests.fakes import FakeModel, library
from tests.faults import fault
from tests.graphs.test_max_calls import WHOLE, Busy, Doubtful, Late, Wavering
from tests.river import FINAL, FINAL_TOR, QUESTION, model, river

STRATEGIES = ["tor", "mcts", "prune", "iterative", "chain", "ircot", "self-ask", "react", "naive", "closed-book"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("allowed", [1, 2, 3])
@fault("budgets", "calls used up", sees="an answer from what was found, and which budget ended it", kept="the tree so far", code=0)
def test_calls_never_exceed_the_budget_and_the_result_says_so(strategy: str, allowed: int) -> None:
    options = {
        "style": "short",
        **{"prune": FINAL, "mcts": FINAL_TOR}.get(strategy, {}),
    }  # a final call is kept back, whether it turns out to be needed or not
    free = graphs.ask(QUESTION, strategy, model=model(), index=river(), **options)
    result = graphs.ask(QUESTION, strategy, model=model(), index=river(), max_calls=allowed, **options)
    assert result.usage.llm_calls <= allowed
    assert (result.stopped_by == "calls") == (free.usage.llm_calls > allowed)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("allowed", [2, 3, 4])
def test_a_turn_of_a_conversation_ends_as_a_question_alone(strategy: str, allowed: int) -> None:
    options = {"style": "short", "max_calls": allowed, "index": river()}
    alone = graphs.ask(QUESTION, strategy, model=model(), **options)
    turn = graphs.Conversation().ask(QUESTION, strategy, model=model(), **options)
    assert (turn.answer, turn.stopped_by, turn.tree) == (alone.answer, alone.stopped_by, alone.tree)


def test_the_final_call_is_reserved() -> None:
    kept = model()
    result = graphs.ask(QUESTION, "prune", model=kept, index=river(), max_calls=1)
    assert [name for name, _ in kept.calls] == ["finalize"]
    assert result.answer == "Seine"
    assert result.citations
    assert "budget of 1 calls" in result.tree["0"].note


@pytest.mark.parametrize("strategy", STRATEGIES)
@fault("budgets", "tokens used up", sees="an answer from what was found, and which budget ended it", kept="the tree so far", code=0)
def test_tokens_never_exceed_the_budget(strategy: str) -> None:
    for allowed in (500, 3000, 6000):
        result = graphs.ask(QUESTION, strategy, model=model(), index=river(), max_tokens=allowed)
        assert result.usage.tokens <= allowed


@pytest.mark.parametrize("strategy", ["tor", "prune", "chain"])
def test_the_last_call_uses_the_tokens_that_are_left(strategy: str) -> None:
    """Passages are measured as an index does, a window is guarded by an estimate that counts more: the last call is made all the same."""
    words = "administrative hydrological investigations throughout surrounding countryside "
    texts = [f"The river Seine runs through the capital of France. Number {n}: {words * 22}" for n in range(12)]
    for allowed in (4_000, 5_000, 6_000):
        result = graphs.ask(QUESTION, strategy, model=model(), index=library(*texts), max_tokens=allowed)
        assert result.usage.tokens <= allowed
        assert result.answer == "Seine", (allowed, result.notices)


@pytest.mark.parametrize("strategy", STRATEGIES)
@fault(
    "budgets",
    "seconds used up while a model hangs",
    sees="an answer from what was found, and which budget ended it",
    kept="the tree so far",
    code=0,
)
def test_a_hanging_model_is_left_when_the_seconds_are_up(strategy: str) -> None:
    result = graphs.ask(QUESTION, strategy, model=model(latency=60.0), index=river(), max_seconds=0.5)
    assert result.stopped_by == "seconds"
    assert result.answer == "Unknown"
    assert result.usage.llm_calls >= 1, "what was given up was asked all the same"
    assert result.usage.prompt_tokens > 0


def test_a_fifth_of_the_seconds_is_reserved_for_the_final_call() -> None:
    settings = Settings(max_seconds=10)
    assert Budget.open(settings, Usage(), started=100.0, reserves_final_call=True).deadline == 108.0
    assert Budget.open(settings, Usage(), started=100.0, reserves_final_call=False).deadline == 110.0


@pytest.mark.parametrize("allowed", range(1, 13))
@pytest.mark.parametrize(
    ("strategy", "busy", "options"),
    [
        ("tor", Late(), {"max_depth": 3}),
        ("tor", Wavering(dependent=True), {"max_depth": 2}),
        ("prune", Doubtful(dependent=True), {}),
        ("prune", Busy(dependent=True), {"joint": False, "backtrace": "recursive"}),
    ],
)
@fault("budgets", "parallel steps that would exceed it", sees="never more calls than allowed", kept="the tree so far", code=0)
def test_steps_that_run_side_by_side_draw_on_one_budget(strategy: str, busy: Busy, options: dict[str, Any], allowed: int) -> None:
    busy.count = 0
    chat = FakeModel(replies=busy)
    result = graphs.ask(WHOLE, strategy, model=chat, index=river(), max_calls=allowed, **options)
    assert len(chat.calls) == result.usage.llm_calls <= allowed


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_of_a_question_is_stored_once_it_is_answered(strategy: str) -> None:
    graphs.ask(QUESTION, strategy, model=model(), index=river())
    assert not [asked for _, asked in budget._SUPERSTEP_BUDGETS if asked == QUESTION]


def test_nothing_is_stored_of_a_question_during_which_loading_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.nodes.retrieve.warm", lambda index: (index, 0.5))
    result = graphs.ask(QUESTION, "prune", model=model(), index=river())
    assert result.usage.loading_s >= 1.5, "three searches"
    assert not [asked for _, asked in budget._SUPERSTEP_BUDGETS if asked == QUESTION]
