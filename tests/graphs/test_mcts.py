"""Monte Carlo tree search: which question it splits next, which split answers, and when it ends."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import QUESTION, but, replies, river

CRITERIA = ("sufficiency", "non_redundancy", "consistency", "decomposition")


def halves(slots: Mapping[str, Any]) -> dict[str, Any]:
    """Split any question for ever, each time anew."""
    tries = len(slots["rejected"]) // 2
    return {"simple": False, "first": f"{slots['question']} / {tries}a", "second": f"{slots['question']} / {tries}b"}


def searcher(scores: Mapping[str, float], **changes: Any) -> FakeModel:
    """Make a model that splits for ever; pairs are scored from 0 to 1 by the end of their first half, 0.2 by default."""

    def score(slots: Mapping[str, Any]) -> dict[str, Any]:
        points = 5 * next((value for end, value in scores.items() if slots["first"].endswith(end)), 0.2)
        return {**dict.fromkeys(CRITERIA, points), "weaker": "neither"}

    def answer(slots: Mapping[str, Any]) -> dict[str, Any]:
        return {**replies("answer", slots), "confidence": 0.5 if slots["question"].endswith("b") else 0.7}

    return but(**{"decompose": halves, "judge": score, "answer": answer, **changes})


def search(model: FakeModel, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, "mcts", model=model, index=river(), **{"dependent": False, "judge": "scores", **options})


def shown(model: FakeModel) -> list[str]:
    """List the paths of the findings that the final call was shown."""
    return [finding["path"] for finding in model.asked("finalize")[0]["findings"]]


def test_where_the_first_split_scores_low_a_second_is_tried_and_answers() -> None:
    model = searcher({"0a": 0.2, "1a": 0.9})
    result = search(model, simulations=2)
    assert [result.tree[path].status for path in ("0", "0.0", "0.1", "0.2", "0.3")] == ["inner", "pruned", "pruned", "leaf", "leaf"]
    assert result.tree["0"].score == pytest.approx(0.9)
    assert shown(model) == ["0.2", "0.3"]


def test_the_tree_says_what_the_splits_scored_and_which_is_the_best() -> None:
    result = search(searcher({"0a": 0.2, "1a": 0.9}), simulations=2)
    assert "best of 2 splits" in result.tree["0"].note
    assert "scored 0.20" in result.tree["0.0"].note
    assert "not the best" in result.tree["0.0"].note


def test_a_second_split_that_scores_less_does_not_answer() -> None:
    model = searcher({"0a": 0.6, "1a": 0.1})
    result = search(model, simulations=2, theta=0.9, max_depth=1)
    assert [result.tree[path].status for path in ("0.0", "0.1", "0.2", "0.3")] == ["leaf", "leaf", "pruned", "pruned"]
    assert shown(model) == ["0.0", "0.1"]


def test_the_next_split_is_shown_those_that_were_tried() -> None:
    model = searcher({})
    search(model, simulations=2)
    first, second = (call["rejected"] for call in model.asked("decompose"))
    assert (len(first), len(second)) == (0, 2)
    assert "scored 0.20" in second[0]


def test_of_a_split_that_scores_high_the_less_sure_half_is_split() -> None:
    result = search(searcher({"0a": 0.8}), simulations=2)
    assert [path for path in result.tree if path.count(".") == 2] == ["0.1.0", "0.1.1"]


def test_a_half_keeps_its_own_answer_where_that_is_surer_than_its_split() -> None:
    model = searcher({"/ 0b / 0a": 0.1, "0a": 0.8})
    result = search(model, simulations=2)
    assert [result.tree[path].status for path in ("0.1", "0.1.0", "0.1.1")] == ["leaf", "pruned", "pruned"]
    assert shown(model) == ["0.0", "0.1"]


def test_a_half_is_answered_from_below_where_its_split_is_surer() -> None:
    model = searcher({"0a": 0.8})
    search(model, simulations=2)
    assert shown(model) == ["0.0", "0.1.0", "0.1.1"]


def test_where_no_split_is_worth_anything_the_question_itself_is_answered() -> None:
    model = searcher({"a": 0.0})
    result = search(model, simulations=2)
    assert {branch.status for path, branch in result.tree.items() if path != "0"} == {"pruned"}
    assert (result.tree["0"].status, result.answer) == ("leaf", "Paris"), "what the model says to the whole question"
    assert not model.asked("finalize")


def test_a_simple_question_is_answered_whole() -> None:
    model = searcher({}, decompose={"simple": True, "first": "", "second": ""})
    result = search(model, style="short")
    assert (list(result.tree), result.answer, result.usage.llm_calls) == (["0"], "Paris", 2)


def test_by_default_a_split_is_worth_its_less_sure_answer_and_no_call_is_made_for_that() -> None:
    model = searcher({})
    result = search(model, simulations=1, judge="confidence")
    assert result.tree["0"].score == pytest.approx(0.5)
    assert not model.asked("judge")


@pytest.mark.parametrize("simulations", [1, 2, 5])
def test_no_more_questions_are_split_than_simulations_are_allowed(simulations: int) -> None:
    model = searcher({"0a": 0.5, "1a": 0.6})
    result = search(model, simulations=simulations, max_depth=2)
    assert len(model.asked("decompose")) <= simulations
    assert len(result.tree) <= 1 + 2 * simulations


def test_a_question_that_cannot_be_split_again_costs_one_call_and_the_search_goes_on() -> None:
    once = {"simple": False, "first": "Who founded Paris?", "second": "Who founded Rome?"}
    model = searcher({}, decompose=lambda slots: once if slots["question"] == QUESTION else {"simple": True})
    result = search(model, simulations=7)
    assert list(result.tree) == ["0", "0.0", "0.1"]
    assert len(model.asked("decompose")) == 4, "the question twice, each half once"


@pytest.mark.parametrize("calls", range(3, 12))
def test_a_budget_of_calls_is_kept_and_what_was_found_answers(calls: int) -> None:
    model = searcher({"0a": 0.5, "1a": 0.6})
    result = search(model, simulations=7, max_calls=calls, style="short")
    assert result.usage.llm_calls <= calls
    assert result.answer in ("Paris", "Seine")
    assert not [branch for branch in result.tree.values() if branch.status in ("open", "waiting", "split")]


def test_a_search_that_breaks_off_answers_by_the_best_split_so_far() -> None:
    model = searcher({"0a": 0.6}, decompose=lambda slots: "no JSON" if slots["question"] != QUESTION else halves(slots))
    result = search(model, simulations=7)
    assert [result.tree[path].status for path in ("0", "0.0", "0.1")] == ["inner", "leaf", "leaf"]
    assert shown(model) == ["0.0", "0.1"]


def test_the_same_question_gives_the_same_tree() -> None:
    one, other = (search(searcher({"0a": 0.5, "1a": 0.6}), simulations=5) for _ in range(2))
    assert list(map(str, one.tree.values())) == list(map(str, other.tree.values()))


def test_the_second_hop_of_a_bridge_is_asked_with_the_first_one_s_answer() -> None:
    result = search(but(answer=lambda slots: {**replies("answer", slots), "confidence": 0.5}), simulations=1, dependent=True)
    assert result.tree["0.1"].question == "Which river runs through Paris?"
    assert result.tree["0.1"].status == "leaf"
