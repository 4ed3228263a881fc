"""ToR-RAG's second attempt: the better half of a weak pair stays with its answer, the weaker is replaced."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import FIRST, QUESTION, SECOND, but, model, river

WEAK = {"sufficiency": 1, "non_redundancy": 1, "consistency": 1, "decomposition": 1}
FINE = {"sufficiency": 4, "non_redundancy": 4, "consistency": 4, "decomposition": 4, "weaker": "2"}
OTHER = "Which river runs through Rome?"


def second_attempt(weaker: str, pairs: list[tuple[str, str]], **changes: Any) -> FakeModel:
    """Split a question in one pair after another; the first fork is weak by one half, what comes after it is fine."""
    scores = iter([{**WEAK, "weaker": weaker}])
    tries = iter(pairs)

    def decompose(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        first, second = next(tries) if slots["question"] == QUESTION else ("", "")
        return {"simple": not first, "first": first, "second": second}

    return but(judge=lambda slots: next(scores, FINE), decompose=decompose, **changes)


def asked(mind: FakeModel, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, "tor", model=mind, index=river(), max_depth=1, **options)


@pytest.mark.parametrize(("weaker", "kept", "old"), [("2", FIRST, "0.0"), ("1", OTHER, "0.1")])
@pytest.mark.parametrize("order", [1, -1])
def test_the_better_half_is_carried_over_and_only_the_weaker_is_asked_anew(weaker: str, kept: str, old: str, order: int) -> None:
    again = (kept, "What flows through Paris?")[::order]
    mind = second_attempt(weaker, [(FIRST, OTHER), (again[0], again[1])])
    result = asked(mind)
    tree = result.tree
    assert [tree[path].status for path in ("0", "0.0", "0.1", "0.2", "0.3")] == ["inner", "pruned", "pruned", "leaf", "leaf"]
    stays, anew = (tree[path] for path in (("0.2", "0.3") if weaker == "2" else ("0.3", "0.2")))  # each in its place
    assert (stays.question, stays.answer, stays.evidence) == (kept, tree[old].answer, tree[old].evidence)
    assert (stays.confidence, stays.cited) == (tree[old].confidence, tree[old].cited)
    assert stays.note.split(";")[0] == f"carried over from {old}"
    assert anew.question == "What flows through Paris?"
    assert sorted(call["question"] for call in mind.asked("answer")) == sorted([FIRST, OTHER, "What flows through Paris?"])
    assert result.usage.retrievals == 4, "the whole question, both halves and the new one"


def test_the_decomposer_is_shown_what_stays() -> None:
    mind = second_attempt("2", [(FIRST, OTHER), (FIRST, "What flows through Paris?")])
    asked(mind)
    before, after = (call["kept"] for call in mind.asked("decompose"))
    assert before == ""
    assert f"{FIRST} -> Paris" in after
    assert OTHER not in after


def test_a_new_question_that_builds_on_what_stays_is_filled_in_at_once() -> None:
    result = asked(second_attempt("2", [(FIRST, SECOND), (FIRST, "What flows through {1}?")]))
    assert result.tree["0.3"].question == "What flows through Paris?"
    assert result.tree["0.3"].note.startswith("filled with 'Paris' from 0.2")
    assert (result.tree["0.3"].awaits, result.tree["0.3"].template) == ("0.2", "What flows through {1}?")


def test_the_second_hop_of_a_bridge_falls_with_the_first() -> None:
    result = asked(second_attempt("1", [(FIRST, SECOND), ("What city is the capital?", "Which river is in {1}?")]))
    assert [result.tree[path].question for path in ("0.2", "0.3")] == ["What city is the capital?", "Which river is in Paris?"]
    assert result.tree["0.2"].note == ""


def test_a_first_hop_without_an_answer_is_not_carried_over() -> None:
    unknown = {"answer": "Unknown", "confidence": 0.9, "citations": []}
    answer = {FIRST: unknown}
    mind = second_attempt(
        "2",
        [(FIRST, SECOND), ("What city is the capital?", "Which river is in {1}?")],
        answer=lambda slots: answer.get(slots["question"], {"answer": "Paris", "confidence": 0.9, "citations": [1]}),
    )
    assert asked(mind).tree["0.2"].question == "What city is the capital?"


def test_the_weaker_again_is_no_other_way() -> None:
    result = asked(second_attempt("2", [(FIRST, OTHER), (FIRST, OTHER)]))
    assert "0.2" not in result.tree
    assert "no new way" in result.tree["0"].note


def test_what_was_carried_over_stays_when_the_rubric_refuses_its_new_half() -> None:
    verdicts = iter(["VALID", "INVALID"])
    pairs = [(FIRST, OTHER), (FIRST, "Is it a river?"), (FIRST, "What flows through Paris?")]
    mind = second_attempt("2", pairs, rubric=lambda slots: {"verdict": next(verdicts, "VALID"), "score": 3, "reasons": "so"})
    result = asked(mind, rubric=True, redecompositions=2)
    assert result.tree["0.4"].note == "carried over from 0.2"
    assert result.tree["0.4"].answer == "Paris"
    assert [call["second"] for call in mind.asked("rubric")] == [OTHER, "Is it a river?", "What flows through Paris?"]
    assert "Is it a river?" not in [call["question"] for call in mind.asked("answer")]


def test_the_rubric_and_the_judge_hear_whether_sub_questions_may_depend() -> None:
    mind = second_attempt("2", [(FIRST, OTHER), (FIRST, "What flows through Paris?")])
    asked(mind, rubric=True, dependent=False)
    assert [call["dependent"] for prompt in ("rubric", "judge") for call in mind.asked(prompt)] == [False] * 4


@pytest.mark.parametrize(
    ("strategy", "prompt", "slot"),
    [("tor", "finalize", "findings"), ("prune", "finalize", "findings"), ("chain", "next_question", "history")],
)
def test_findings_name_the_sources_that_they_rest_on(strategy: str, prompt: str, slot: str) -> None:
    mind = model()
    unsettled: dict[str, Any] = {"prune": {"tau": 0.99, "reconsider": False}, "tor": {"tau": 0.99}}.get(strategy, {})
    graphs.ask(QUESTION, strategy, model=mind, index=river(), **unsettled)
    sources = {finding["answer"]: finding["sources"] for finding in mind.asked(prompt)[-1][slot]}
    assert len(sources["Paris"]) == 1
    assert sources["Paris"][0].endswith(".txt)")
    assert sources["Paris"][0].startswith('"')
