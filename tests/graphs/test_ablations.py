"""Ablations: what is left out does not happen, also where the model would have it."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import QUESTION, but, model, replies, river

SURE = {"answer": "Paris", "confidence": 0.99, "citations": [1]}
FORK = ["0", "0.0", "0.1"]


def into_halves(slots: Mapping[str, Any]) -> dict[str, Any]:
    """Split any question, each half anew."""
    return {"simple": False, "first": f"{slots['question']} / a", "second": f"{slots['question']} / b"}


def staged(chat: FakeModel, **arguments: Any) -> graphs.Result:
    """Ask PruneRAG, staged, with one level below the root."""
    return graphs.ask(QUESTION, "prune", joint=False, model=chat, index=river(), max_depth=1, **arguments)


def test_staged_as_it_is_accepts_a_sure_answer_at_once() -> None:
    assert list(staged(but(answer=SURE, decompose=into_halves)).tree) == ["0"]


@pytest.mark.parametrize("ablation", ["answers", "adaptive"])
def test_without_early_answers_a_sure_one_is_split_all_the_same_down_to_the_limit(ablation: str) -> None:
    result = staged(but(answer=SURE, decompose=into_halves), **{ablation: False})
    assert list(result.tree) == FORK
    assert [result.tree[path].status for path in FORK] == ["split", "leaf", "leaf"]
    assert result.tree["0"].confidence == pytest.approx(0.99)


@pytest.mark.parametrize("ablation", ["entities", "adaptive"])
def test_without_entities_a_question_that_cannot_be_split_is_a_leaf_and_no_name_is_looked_up(ablation: str) -> None:
    simple = but(decompose={"simple": True, "first": "", "second": ""})
    assert staged(simple).tree["0.0"].kind == "entity", "with them it is"
    result = staged(simple := but(decompose={"simple": True, "first": "", "second": ""}), **{ablation: False})
    assert list(result.tree) == ["0"]
    assert result.tree["0"].status == "leaf"
    assert not simple.asked("entities")
    assert not simple.asked("summarize")


def test_where_no_name_is_given_the_question_is_a_leaf_that_says_so() -> None:
    result = staged(but(decompose={"simple": True, "first": "", "second": ""}, entities={"entities": ["", "{1}"]}))
    assert list(result.tree) == ["0"]
    assert "names no entity to look up" in result.tree["0"].note


def test_without_answers_alone_names_are_still_looked_up() -> None:
    result = staged(but(answer=SURE, decompose={"simple": True, "first": "", "second": ""}), answers=False)
    assert result.tree["0.0"].kind == "entity"


@pytest.mark.parametrize(("answer", "accepted"), [("Paris", True), ("Unknown", False)])
def test_without_confidence_any_answer_is_accepted_but_unknown_is_none(answer: str, accepted: bool) -> None:
    unsure = but(answer={"answer": answer, "confidence": 0.1, "citations": [1]}, decompose=into_halves)
    result = staged(unsure, confidence=False)
    assert (list(result.tree) == ["0"]) is accepted


@pytest.mark.parametrize(("judged", "kept"), [(True, False), (False, True)])
def test_without_the_judge_a_fork_that_it_would_have_pruned_is_kept(judged: bool, kept: bool) -> None:
    weak = {"sufficiency": 0, "non_redundancy": 0, "consistency": 0, "decomposition": 0, "weaker": "2"}
    chat = but(judge=weak, decompose=lambda slots: replies("decompose", slots))
    result = graphs.ask(QUESTION, "tor", judged=judged, model=chat, index=river(), redecompositions=0)
    assert (result.tree["0"].status == "inner") is kept
    assert {result.tree[path].status for path in FORK[1:]} == ({"leaf"} if kept else {"pruned"})
    assert bool(chat.asked("judge")) is judged


def test_without_dependent_questions_a_pair_that_needs_one_is_not_asked() -> None:
    bridging = model()
    result = staged(bridging, dependent=False, entities=False)
    assert list(result.tree) == ["0"], "its second question has a hole"
    assert list(staged(model(), entities=False).tree) == FORK


@pytest.mark.parametrize("ablation", ["answers", "adaptive"])
def test_the_embedded_model_refuses_a_question_for_more_than_a_phrase_whatever_it_may_choose(ablation: str) -> None:
    result = graphs.ask("How is glass made?", "prune", model="extractive", index=river(), **{ablation: False})
    assert (result.answer, result.stopped_by) == ("Unknown", "finished")
