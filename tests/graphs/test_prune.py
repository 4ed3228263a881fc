"""PruneRAG: what confidence, depth and the way up do to the tree."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel, library
from tests.river import FIRST, QUESTION, TEXTS, but, model, replies, river

ANSWERED = {"action": "answer", "answer": "Paris", "citations": [1], "questions": [], "entities": []}


def splitting(slots: Mapping[str, Any]) -> dict[str, Any]:
    """Split any question, each part anew."""
    parts = [f"{slots['question']} / a", f"{slots['question']} / b"]
    return {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": parts, "entities": []}


@pytest.mark.parametrize(("confidence", "accepted"), [(0.94, False), (0.97, True)])
def test_an_answer_is_accepted_above_tau(confidence: float, accepted: bool) -> None:
    sure = but(decide=lambda slots: {**ANSWERED, "confidence": confidence})
    result = graphs.ask(QUESTION, model=sure, index=river())
    assert ("not above tau" in result.tree["0"].note) is not accepted
    assert len(sure.asked("decide")) == (1 if accepted else 2), "one that is not is reconsidered"


def test_tau_is_strict() -> None:
    sure = but(decide=lambda slots: {**ANSWERED, "confidence": 1.0})
    result = graphs.ask(QUESTION, model=sure, index=river(), tau=1.0)
    assert "not above tau 1" in result.tree["0"].note


def test_unknown_is_not_accepted_however_sure() -> None:
    unknown = but(decide=lambda slots: {**ANSWERED, "answer": "Unknown", "confidence": 0.99})
    result = graphs.ask(QUESTION, model=unknown, index=river())
    assert "not above tau" in result.tree["0"].note
    assert [bool(call["hint"]) for call in unknown.asked("decide")] == [False, True]


NOT_TOLD = {"thought": "Rivers; no capital.", **ANSWERED, "action": "unknown", "answer": "", "confidence": 0, "citations": []}


def test_where_the_passages_do_not_tell_the_question_is_answered_itself_and_nobody_decides_again() -> None:
    result = graphs.ask(QUESTION, model=(chat := but(decide=NOT_TOLD)), index=river(), style="short")
    assert [name for name, _ in chat.calls] == ["decide", "answer"]
    assert (list(result.tree), result.answer) == (["0"], "Paris")
    assert "missing: Rivers, no capital." in result.tree["0"].note


def test_an_unsure_answer_is_withdrawn_where_the_passages_turn_out_not_to_tell() -> None:
    chat = but(decide=lambda slots: NOT_TOLD if slots["hint"] else {**ANSWERED, "confidence": 0.5})
    result = graphs.ask(QUESTION, model=chat, index=river())
    assert (len(chat.asked("decide")), result.answer) == (2, "Unknown")


def test_a_half_of_which_the_passages_do_not_tell_is_left_to_the_final_call() -> None:
    chat = but(decide=lambda slots: splitting(slots) if slots["question"] == QUESTION else NOT_TOLD)
    result = graphs.ask(QUESTION, model=chat, index=river())
    assert [result.tree[path].status for path in ("0.0", "0.1")] == ["leaf", "leaf"]
    assert (len(chat.asked("answer")), result.answer) == (0, "Seine")


@pytest.mark.parametrize("way", ["decompose", "entities"])
def test_a_way_chosen_without_what_it_needs_leaves_a_leaf_that_says_so(way: str) -> None:
    empty = but(decide=lambda slots: {**ANSWERED, "action": way, "answer": "", "questions": [], "entities": []})
    result = graphs.ask(QUESTION, model=empty, index=river())
    assert list(result.tree) == ["0"]
    assert f"chose {way} but named nothing that can be asked" in result.tree["0"].note


@pytest.mark.parametrize("way", ["decompose", "entities"])
def test_what_was_proposed_and_cannot_be_asked_leaves_the_question_to_be_answered_itself(way: str) -> None:
    empty = but(decide=lambda slots: {**ANSWERED, "action": way, "answer": "", "questions": ["", " "], "entities": [""]})
    result = graphs.ask(QUESTION, model=empty, index=river())
    assert list(result.tree) == ["0"]
    assert result.tree["0"].answer == "Paris", "what the model says to the whole question"


@pytest.mark.parametrize("dependent", [True, False])
def test_the_model_is_asked_for_dependent_questions_only_where_they_are_allowed(dependent: bool) -> None:
    for options, prompt in (({}, "decide"), ({"joint": False}, "decompose")):
        asked = model()
        graphs.ask(QUESTION, model=asked, index=river(), dependent=dependent, **options)
        assert {call["dependent"] for call in asked.asked(prompt)} == {dependent}


def test_an_accepted_root_costs_one_call() -> None:
    result = graphs.ask(QUESTION, model=but(decide=lambda slots: {**ANSWERED, "confidence": 0.99}), index=river(), style="short")
    assert result.usage.llm_calls == 1
    assert result.answer == "Paris"
    assert result.citations


def test_an_unsure_answer_is_reconsidered_once_with_a_hint_on_the_same_branch() -> None:
    unsure = but(decide=lambda slots: {**ANSWERED, "confidence": 0.5})
    result = graphs.ask(QUESTION, model=unsure, index=river())
    assert list(result.tree) == ["0"]
    assert (result.tree["0"].answer, result.usage.retrievals) == ("Paris", 2)
    first, second = (call["hint"] for call in unsure.asked("decide"))
    assert first == ""
    assert "'Paris'" in second


def test_a_second_opinion_that_is_sure_is_accepted() -> None:
    opinions = iter([{**ANSWERED, "confidence": 0.5}, {**ANSWERED, "answer": "Seine", "confidence": 0.99}])
    result = graphs.ask(QUESTION, model=but(decide=lambda slots: next(opinions)), index=river())
    assert (result.answer, result.tree["0"].objection) == ("Seine", "")


def test_nobody_is_asked_again_where_nothing_would_change() -> None:
    unsure = but(decide=lambda slots: {**ANSWERED, "confidence": 0.5})
    graphs.ask(QUESTION, model=unsure, index=river(), reconsider=False)
    assert len(unsure.asked("decide")) == 1


def test_the_joint_tree_costs_at_most_four_calls_and_seven_searches() -> None:
    result = graphs.ask(QUESTION, model=but(decide=splitting), index=river(), dependent=False)
    assert len(result.tree) == 7
    assert result.usage.llm_calls == 4
    assert result.usage.retrievals == 7
    assert result.usage.critical_path_calls == 3
    assert all(branch.answer is None for path, branch in result.tree.items() if branch.depth == 2)


def test_a_branch_at_the_limit_is_answered_when_its_sibling_waits_for_it() -> None:
    result = graphs.ask(QUESTION, model=model(), index=river(), max_depth=1)
    assert result.tree["0.0"].answer == "Paris"
    assert result.tree["0.1"].question == "Which river runs through Paris?"


def test_at_the_limit_the_last_of_two_hops_is_answered_when_its_parents_sibling_waits() -> None:
    def hops(slots: Mapping[str, Any]) -> dict[str, Any]:
        parts = {
            "Into which sea does the river through the capital of France flow?": [QUESTION, "Into which sea does {1} flow?"],
            QUESTION: [FIRST, "Which river runs through {1}?"],
        }
        split = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "entities": []}
        return {**split, "questions": parts[slots["question"]]} if slots["question"] in parts else {**ANSWERED, "confidence": 0.97}

    result = graphs.ask("Into which sea does the river through the capital of France flow?", model=but(decide=hops), index=river())
    assert result.tree["0.0.1"].answer == "Seine"
    assert result.tree["0.1"].question == "Into which sea does Seine flow?"


def test_identical_sub_questions_of_different_branches_are_asked_once() -> None:
    same = {
        "action": "decompose",
        "answer": "",
        "confidence": 0,
        "citations": [],
        "entities": [],
        "questions": [FIRST, f"  {FIRST.upper()} "],
    }
    twins = but(decide=lambda slots: same if slots["question"] == QUESTION else {**ANSWERED, "confidence": 0.97})
    result = graphs.ask(QUESTION, model=twins, index=river())
    assert (
        len([call for call in twins.asked("decide") if "capital" in call["question"].casefold() and "river" not in call["question"]]) == 1
    )
    assert result.tree["0.1"].answer == result.tree["0.0"].answer == "Paris"
    assert result.tree["0.1"].note == "same question as 0.0"


def test_the_final_call_sees_what_answers_rest_on_first() -> None:
    asked = model()
    graphs.ask(QUESTION, model=asked, index=river(), tau=0.98, reconsider=False)
    shown = [quote["text"] for quote in asked.asked("finalize")[0]["passages"]]
    assert set(shown[:2]) == {"France has the capital Paris.", "The river Seine runs through Paris."}


@pytest.mark.parametrize("arguments", [{}, {"backtrace": "recursive"}, {"joint": False}, {"joint": False, "backtrace": "recursive"}])
def test_at_depth_zero_the_root_is_answered_itself(arguments: dict[str, Any]) -> None:
    result = graphs.ask(QUESTION, model=model(), index=river(), max_depth=0, **arguments)
    assert list(result.tree) == ["0"]
    assert result.answer == "Paris", "what the model says to the whole question"


def test_what_is_measured_of_an_accepted_answer_is_in_the_tree_and_in_the_result() -> None:
    result = graphs.ask(QUESTION, model=but(decide=lambda slots: {**ANSWERED, "confidence": 0.99, "citations": [2]}), index=river())
    root = result.tree["0"]
    assert root.confidence == result.confidence == pytest.approx(0.99)
    assert root.confidence_source == result.confidence_source == "logprobs"
    assert root.cited == (root.evidence[1],)
    assert [citation.id for citation in result.citations] == list(root.cited)


def test_an_answer_that_stays_unsure_at_the_limit_says_so() -> None:
    unsure = but(answer={"answer": "Paris", "confidence": 0.5, "citations": [1]})
    result = graphs.ask(QUESTION, model=unsure, index=river(), max_depth=0)
    assert result.tree["0"].note == "confidence 0.500, not above tau 0.95"


def test_a_question_from_further_above_is_not_asked_again() -> None:
    def around(slots: Mapping[str, Any]) -> dict[str, Any]:
        parts = {QUESTION: [FIRST, "What is a river?"], FIRST: [QUESTION, "What is a capital?"]}
        return {**splitting(slots), "questions": parts.get(slots["question"], ["", ""])}

    result = graphs.ask(QUESTION, model=but(decide=around), index=river(), max_depth=3)
    assert list(result.tree) == ["0", "0.0", "0.1"]


def test_names_are_looked_up_for_the_question_above_them_two_at_most() -> None:
    names = {**ANSWERED, "action": "entities", "answer": "", "confidence": 0, "entities": ["Seine", "Paris", "Seine", "Rome"]}
    chat = but(decide=names)
    result = graphs.ask(QUESTION, model=chat, index=river())
    assert [branch.question for branch in result.tree.values() if branch.kind == "entity"] == ["Seine", "Paris"]
    assert {(call["entity"], call["question"]) for call in chat.asked("summarize")} == {("Seine", QUESTION), ("Paris", QUESTION)}
    assert len(chat.asked("summarize")) == 2


def test_an_aggregate_sees_what_the_branch_and_its_children_found_and_no_pruned_child() -> None:
    def unsure(slots: Mapping[str, Any]) -> dict[str, Any]:
        if slots["question"] == QUESTION:
            return {**splitting(slots), "questions": [FIRST, "Which river runs through {1}?"]}
        return {**ANSWERED, "answer": "Unknown", "confidence": 0.99}

    chat = but(decide=unsure, answer="no JSON")
    result = graphs.ask(QUESTION, backtrace="recursive", model=chat, index=river(), max_depth=1, k=1)
    assert result.tree["0.1"].status == "pruned"
    (call,) = chat.asked("aggregate")
    assert [finding["path"] for finding in call["findings"]] == ["0.0"]
    found = {result.passages[key].text for path in ("0", "0.0") for key in result.tree[path].evidence}
    assert len(found) == 2
    assert {quote["text"] for quote in call["passages"]} == found


def test_without_a_final_reply_the_root_s_own_answer_stands_and_the_failure_is_reported() -> None:
    def splits_at_last(slots: Mapping[str, Any]) -> dict[str, Any]:
        halves = slots["hint"] or slots["question"] != QUESTION
        return {**ANSWERED, "confidence": 0.5} if not halves or " / " in slots["question"] else splitting(slots)

    result = graphs.ask(QUESTION, model=but(decide=splits_at_last, finalize="no JSON"), index=river())
    assert len(result.tree) == 3, "the second opinion is to split"
    assert (result.answer, result.stopped_by) == ("Paris", "error")
    assert "malformed" in result.notices[0]


CAPITAL_TEXT, SEINE_TEXT = TEXTS[:2]


def shown_for(chat: FakeModel, prompt: str, question: str) -> list[str]:
    """List the passages shown to the first call about a question."""
    call = next(call for call in chat.asked(prompt) if call["question"] == question)
    return [quote["text"] for quote in call["passages"]]


@pytest.mark.parametrize(("shared", "texts"), [(0, [SEINE_TEXT]), (1, [SEINE_TEXT, CAPITAL_TEXT])])
def test_what_the_first_hop_rests_on_is_shown_to_the_second_where_evidence_is_shared(shared: int, texts: list[str]) -> None:
    chat = but(decide=lambda slots: {**replies("decide", slots), "citations": [1]})
    result = graphs.ask(QUESTION, model=chat, index=river(), k=1, shared_evidence=shared)
    assert shown_for(chat, "decide", "Which river runs through Paris?") == texts
    assert [result.passages[key].text for key in result.tree["0.1"].evidence] == texts
    assert result.usage.retrievals == 3, "what is shared was found before"


def test_a_part_is_shown_the_most_relevant_of_the_passages_that_the_answer_above_cites() -> None:
    barges, egypt = "What pulls barges on the Seine?", "What is the capital of Egypt?"
    texts = ("What pulls barges on the Seine: tugs.", "Tugs pull barges on the Seine.", "Cairo is the capital of Egypt.", "What Egypt is.")
    split = {"simple": False, "first": barges, "second": egypt}
    chat = but(answer={"answer": "Seine", "confidence": 0.5, "citations": [1, 2]}, decompose=split)
    options: dict[str, Any] = {"joint": False, "k": 2, "max_depth": 1, "dependent": False, "model": chat}
    result = graphs.ask(QUESTION, index=library(*TEXTS[:2], *texts), shared_evidence=1, **options)
    assert {result.passages[key].text for key in result.tree["0"].cited} == {CAPITAL_TEXT, SEINE_TEXT}
    assert [shown_for(chat, "answer", part) for part in (barges, egypt)] == [[*texts[:2], SEINE_TEXT], [*texts[2:], CAPITAL_TEXT]]
