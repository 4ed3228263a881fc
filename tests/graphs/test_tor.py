"""ToR-RAG: what its thresholds, attempts and depth do to the tree."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.river import FIRST, QUESTION, but, model, replies, river

WEAK = {"sufficiency": 1, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": "2"}


def halves(slots: Mapping[str, Any]) -> dict[str, Any]:
    """Split any question for ever, each time anew."""
    tries = len(slots["rejected"])
    return {"simple": False, "first": f"{slots['question']} / {tries}a", "second": f"{slots['question']} / {tries}b"}


def test_a_fork_below_theta_is_tried_again_and_the_old_pair_stays_with_its_reason() -> None:
    scored = iter([WEAK, {**WEAK, "sufficiency": 5, "consistency": 5}])
    result = graphs.ask(QUESTION, "tor", model=but(judge=lambda slots: next(scored), decompose=halves), index=river(), max_depth=1)
    assert [result.tree[path].status for path in ("0.0", "0.1", "0.2", "0.3")] == ["pruned", "pruned", "leaf", "leaf"]
    assert "below theta 0.4" in result.tree["0.0"].note
    assert "the weaker of the two" in result.tree["0.1"].note
    assert result.tree["0"].status == "inner"
    assert result.tree["0"].score == pytest.approx(0.6)


def test_a_rejected_pair_is_shown_to_the_next_decomposition() -> None:
    weak = but(judge=WEAK, decompose=halves)
    graphs.ask(QUESTION, "tor", model=weak, index=river(), max_depth=1)
    first, second = (call["rejected"] for call in weak.asked("decompose"))
    assert first == []
    assert len(second) == 2
    assert "the weaker of the two" in second[1]


@pytest.mark.parametrize(("informed", "shown"), [(True, [True, True, True]), (False, [False, False, False])])
def test_a_question_that_was_searched_is_split_with_what_was_found(informed: bool, shown: list[bool]) -> None:
    chat = but(decompose=halves, answer={"confidence": 0.5})
    graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=2, informed=informed)
    assert ["passages" in slots for slots in chat.asked("decompose")] == shown


def test_the_same_pair_is_not_asked_again() -> None:
    result = graphs.ask(QUESTION, "tor", model=but(judge=WEAK), index=river())
    assert "0.2" not in result.tree
    assert "no new way" in result.tree["0"].note


def test_halves_without_an_answer_grow_unjudged_and_a_fork_that_can_have_none_is_pruned_unjudged() -> None:
    unknown = but(answer={"answer": "Unknown", "confidence": 0.9, "citations": []}, decompose=halves)
    options = {"max_depth": 2, "dependent": False, "redecompositions": 0}
    result = graphs.ask(QUESTION, "tor", model=unknown, index=river(), **options)
    assert len(result.tree) == 7
    assert not unknown.asked("judge")
    assert {path for path, branch in result.tree.items() if branch.status == "pruned"} == {"0.0.0", "0.0.1", "0.1.0", "0.1.1"}
    assert "neither half has an answer" in result.tree["0.0.0"].note


def test_an_answer_that_comes_late_from_below_a_half_reaches_the_final_call() -> None:
    def late(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        known = slots["question"].endswith(("0a / 0a", "0a / 0b"))
        return {"answer": "Paris", "confidence": 0.97, "citations": [1]} if known else {"answer": "Unknown", "confidence": 0.9}

    chat = but(answer=late, decompose=halves)
    result = graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=2, dependent=False)
    assert [result.tree[path].status for path in ("0", "0.0", "0.0.0", "0.0.1")] == ["inner", "inner", "leaf", "leaf"]
    told = {finding["path"]: finding["answer"] for finding in chat.asked("finalize")[0]["findings"]}
    assert told["0.0.0"] == "Paris"


def test_a_root_whose_forks_are_all_pruned_is_answered_itself() -> None:
    result = graphs.ask(QUESTION, "tor", model=but(judge=WEAK), index=river(), redecompositions=0)
    assert result.tree["0"].status == "leaf"
    assert result.tree["0"].answer == "Paris", "what the model says to the whole question"
    assert {result.tree[path].status for path in ("0.0", "0.1")} == {"pruned"}


def test_theta_is_met_by_a_score_equal_to_it() -> None:
    exactly = {**WEAK, "sufficiency": 2, "non_redundancy": 2, "consistency": 2, "decomposition": 2}
    result = graphs.ask(QUESTION, "tor", model=but(judge=exactly), index=river())
    assert result.tree["0"].score == pytest.approx(0.4)
    assert result.tree["0"].status == "inner"


@pytest.mark.parametrize(("rubric", "calls", "path"), [(False, 29, 10), (True, 36, 13)])
def test_a_full_tree_of_depth_three_costs_what_the_method_says(rubric: bool, calls: int, path: int) -> None:
    full = but(decompose=halves)
    result = graphs.ask(QUESTION, "tor", model=full, index=river(), rubric=rubric, expand_sure=True, redecompositions=0, dependent=False)
    assert len(result.tree) == 15
    assert result.usage.llm_calls == calls
    assert result.usage.critical_path_calls == path


def test_sure_answers_are_not_grown_unless_the_paper_s_way_is_asked_for() -> None:
    for options, branches in (({}, 3), ({"tau": 0.99}, 7), ({"expand_sure": True}, 7)):
        result = graphs.ask(QUESTION, "tor", model=but(decompose=halves), index=river(), max_depth=2, dependent=False, **options)
        assert len(result.tree) == branches


def test_an_invalid_pair_counts_as_a_failed_fork() -> None:
    invalid = {"verdict": "INVALID", "score": 1, "reasons": "they overlap"}
    result = graphs.ask(QUESTION, "tor", model=but(rubric=invalid, decompose=halves), index=river(), rubric=True)
    assert [branch.status for branch in result.tree.values()] == ["leaf", "pruned", "pruned", "pruned", "pruned"]
    assert "they overlap" in result.tree["0.0"].note
    assert result.usage.retrievals == 1, "only the root is searched"


def test_a_simple_question_is_answered_whole_with_one_more_call() -> None:
    result = graphs.ask("What is the capital of France?", "tor", model=model(), index=river(), style="short")
    assert list(result.tree) == ["0"]
    assert result.answer == "Paris"
    assert result.usage.llm_calls == 2


def test_without_dependence_a_hole_is_never_asked() -> None:
    result = graphs.ask(QUESTION, "tor", model=model(), index=river(), dependent=False)
    assert not any("{1}" in branch.question for branch in result.tree.values())


def test_a_sibling_without_an_answer_prunes_the_branch_that_waits_for_it() -> None:
    def unknown(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return (
            {"answer": "Unknown", "confidence": 0.9, "citations": []}
            if "capital of France?" in slots["question"]
            else replies("answer", slots)
        )

    result = graphs.ask(QUESTION, "tor", model=but(answer=unknown), index=river(), redecompositions=0)
    assert result.tree["0.1"].status == "pruned"
    assert "0.0" in result.tree["0.1"].note


def test_the_best_five_passages_by_mmr_value_reach_the_final_call() -> None:
    asked = but(answer=lambda slots: {**replies("answer", slots), "citations": []})
    result = graphs.ask(QUESTION, "tor", model=asked, index=river(), final_k=2, tau=0.99)
    shown = [quote["text"] for quote in asked.asked("finalize")[0]["passages"]]
    ranked = sorted({p.id: p for p in result.passages.values()}.values(), key=lambda passage: -passage.value)
    assert shown == [passage.text for passage in ranked[:2]]


def test_what_answers_cite_comes_before_what_mmr_values_more() -> None:
    asked = but(answer=lambda slots: {**replies("answer", slots), "citations": [3]})
    result = graphs.ask(QUESTION, "tor", model=asked, index=river(), final_k=2, tau=0.99)
    shown = [quote["text"] for quote in asked.asked("finalize")[0]["passages"]]
    cited = {result.passages[key].text for branch in result.tree.values() for key in branch.cited}
    assert cited == set(shown[: len(cited)])


def test_the_judge_sees_each_half_with_its_own_answer_once_both_are_in() -> None:
    chat = model()
    graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=1)
    (judged,) = chat.asked("judge")
    assert (judged["question"], judged["first"], judged["first_answer"]) == (QUESTION, FIRST, "Paris")
    assert (judged["second"], judged["second_answer"]) == ("Which river runs through Paris?", "Seine")


@pytest.mark.parametrize(("confidence", "status"), [(0.9, "inner"), (0.3, "leaf")])
def test_a_fork_may_be_judged_by_its_less_likely_answer(confidence: float, status: str) -> None:
    chat = but(answer=lambda slots: {**replies("answer", slots), "confidence": confidence if "river" in slots["question"] else 0.95})
    result = graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=1, judge="confidence", redecompositions=0)
    assert not chat.asked("judge")
    assert result.tree["0"].score == pytest.approx(confidence)
    assert result.tree["0"].status == status


def broken_at(words: str) -> Any:
    """Answer with no JSON where the question holds the words."""
    return lambda slots: "no JSON" if words in slots["question"] else {"answer": "Tiber", "confidence": 0.9, "citations": [1]}


PAIR = {"simple": False, "first": FIRST, "second": "Which river runs through Rome?"}


def test_the_judge_is_shown_that_a_half_has_no_answer_and_what_it_found_reaches_the_final_call() -> None:
    chat = but(answer=broken_at("France"), decompose=PAIR)
    graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=1)
    (judged,) = chat.asked("judge")
    assert judged["first_answer"] == "no answer"
    (final,) = chat.asked("finalize")
    assert [(finding["path"], finding["status"]) for finding in final["findings"]] == [("0.0", "failed"), ("0.1", "leaf")]


def test_passages_are_enough_for_a_final_call_where_no_half_has_an_answer() -> None:
    chat = but(answer=broken_at("river"), decompose={**PAIR, "first": "Which river is in France?"})
    result = graphs.ask(QUESTION, "tor", model=chat, index=river(), max_depth=1)
    assert chat.asked("finalize")[0]["passages"]
    assert result.answer == "Seine"


def test_an_answered_half_whose_splitting_fails_keeps_its_answer_and_says_why() -> None:
    def fails_below(slots: Mapping[str, Any]) -> Any:
        return PAIR if slots["question"] == QUESTION else "no JSON"

    result = graphs.ask(QUESTION, "tor", model=but(decompose=fails_below), index=river(), max_depth=2, tau=0.99)
    assert (result.tree["0.0"].status, result.tree["0.0"].answer) == ("leaf", "Paris")
    assert "malformed" in result.tree["0.0"].note


@pytest.mark.parametrize("search_root", [True, False])
@pytest.mark.parametrize("reply", [{**PAIR, "simple": True}, {**PAIR, "first": "", "second": ""}, {**PAIR, "first": QUESTION}])
def test_what_is_called_simple_or_gives_no_new_question_is_answered_whole(reply: dict[str, Any], search_root: bool) -> None:
    result = graphs.ask(QUESTION, "tor", model=but(decompose=reply), index=river(), search_root=search_root)
    assert list(result.tree) == ["0"]
    assert (result.tree["0"].status, result.answer) == ("leaf", "Paris")


def test_where_the_final_call_says_unknown_nothing_is_cited() -> None:
    unknown = {"answer": "Unknown", "confidence": 0.8, "citations": [1], "settled_by": "unsettled"}
    result = graphs.ask(QUESTION, "tor", model=but(finalize=unknown), index=river(), tau=0.99)
    assert (result.answer, result.citations, result.settled_by) == ("Unknown", [], "unsettled")


def test_a_pair_pruned_before_is_not_weakened_again() -> None:
    result = graphs.ask(QUESTION, "tor", model=but(judge=WEAK, decompose=halves), index=river(), max_depth=1)
    assert [result.tree[path].note.count("below theta") for path in ("0.0", "0.1", "0.2", "0.3")] == [1, 1, 1, 1]


def test_a_question_from_further_above_is_no_half() -> None:
    def around(slots: Mapping[str, Any]) -> dict[str, Any]:
        return {**PAIR, "first": {QUESTION: FIRST, FIRST: QUESTION}.get(slots["question"], "")}

    result = graphs.ask(QUESTION, "tor", model=but(decompose=around), index=river())
    assert list(result.tree) == ["0", "0.0", "0.1"]
