"""PruneRAG, joint: an unsure answer is checked against the next passages, and repeating it makes it no surer."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.tree import WORKING
from tests.fakes import FakeModel, library
from tests.river import but

QUESTION = "Which tower stands in Harrow Vale?"
TOWERS = [f"The tower of {name} stands in Harrow Vale." for name in ("Ambry", "Belk", "Corrow", "Dunmere", "Esk", "Farrow")]
VALE = library(*TOWERS, *(f"Wool note {n}." for n in range(10)))
EMPTY: dict[str, Any] = {"action": "answer", "answer": "", "confidence": 0, "citations": [], "questions": [], "entities": []}


def deciding(first: Mapping[str, Any], second: Mapping[str, Any]) -> FakeModel:
    """Decide in one way at first, and in another when asked again."""
    return but(decide=lambda slots: {**EMPTY, **(second if slots["hint"] else first)})


def ask(chat: FakeModel, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, model=chat, index=VALE, **{"k": 3, "style": "short", **options})


def test_the_next_passages_and_those_that_it_cites_are_shown_with_the_answer_to_check() -> None:
    chat = deciding({"answer": "Ambry", "confidence": 0.6, "citations": [2]}, {"answer": "Ambry", "confidence": 0.7, "citations": [1]})
    result = ask(chat)
    first, second = ([passage["text"] for passage in call["passages"]] for call in chat.asked("decide"))
    assert len(first) == 3
    assert len(second) == 4
    assert set(first) & set(second) == {first[1]}
    hint = chat.asked("decide")[1]["hint"]
    assert "'Ambry'" in hint
    assert "unsure" in hint
    assert result.usage.retrievals == 2


@pytest.mark.parametrize("again", ["Ambry", "ambry.", "the tower of Ambry", "Ambry, Harrow Vale"])
def test_the_same_answer_keeps_its_first_confidence_and_is_not_accepted(again: str) -> None:
    chat = deciding({"answer": "Ambry", "confidence": 0.874, "citations": [2]}, {"answer": again, "confidence": 0.973, "citations": [1]})
    root = ask(chat).tree["0"]
    assert root.answer == again
    assert root.confidence == pytest.approx(0.874, abs=1e-3)
    assert "not above tau" in root.note


def test_the_same_answer_surer_than_tau_by_its_own_is_not_the_result_s_confidence() -> None:
    chat = deciding({"answer": "Ambry", "confidence": 0.5, "citations": [1]}, {"answer": "Ambry", "confidence": 0.99, "citations": []})
    result = ask(chat)
    assert result.confidence == pytest.approx(0.5, abs=1e-3)
    assert result.citations, "it still rests on what was cited first"


@pytest.mark.parametrize(("confidence", "accepted"), [(0.6, False), (0.99, True)])
def test_another_answer_has_its_own_confidence(confidence: float, accepted: bool) -> None:
    first = {"answer": "Ambry", "confidence": 0.8, "citations": [1]}
    chat = deciding(first, {"answer": "Belk", "confidence": confidence, "citations": [1]})
    root = ask(chat).tree["0"]
    assert (root.answer, not root.objection) == ("Belk", accepted)
    assert root.confidence == pytest.approx(confidence, abs=1e-3)


def test_an_answer_is_found_in_the_next_passages_where_the_first_had_none() -> None:
    unknown = {"answer": "Unknown", "confidence": 0.9}
    result = ask(deciding(unknown, {"answer": "Esk", "confidence": 0.97, "citations": [1]}))
    assert (result.answer, result.tree["0"].objection) == ("Esk", "")


def test_where_nothing_further_is_found_the_same_passages_are_checked() -> None:
    chat = deciding({"answer": "Ambry", "confidence": 0.6}, {"answer": "Ambry", "confidence": 0.6})
    graphs.ask(QUESTION, model=chat, index=library(*TOWERS[:2]), k=3, style="short")
    first, second = (call["passages"] for call in chat.asked("decide"))
    assert first == second


UNKNOWN = {"action": "unknown"}
PAIR = ["Which towers stand in a vale?", "Which vale is Harrow?"]
GIVEN = [
    (UNKNOWN, {"questions": PAIR}),
    ({"action": "answer", "answer": "Unknown"}, {"questions": PAIR}),
    ({"action": "answer", "answer": "unknown."}, {"questions": PAIR[:1]}),
    ({"action": "entities"}, {"questions": PAIR}),
    (UNKNOWN, {"entities": ["Ambry", "Belk"]}),
    ({"action": "decompose"}, {"entities": ["Ambry"]}),
    ({"action": "answer", "answer": ""}, {"entities": ["Ambry"]}),
]


@pytest.mark.parametrize(("action", "given"), GIVEN)
def test_what_a_reply_without_an_answer_proposes_is_used(action: dict[str, Any], given: dict[str, list[str]]) -> None:
    sure = {**EMPTY, "answer": "Ambry", "confidence": 0.97}
    chat = but(decide=lambda slots: {**EMPTY, **action, **given} if slots["question"] == QUESTION else sure)
    tree = ask(chat).tree
    [asked] = given.values()
    assert [branch.question for path, branch in tree.items() if path != "0"] == asked
    assert {branch.kind for path, branch in tree.items() if path != "0"} == {"entity" if "entities" in given else "question"}


def test_an_answer_is_taken_whatever_is_proposed_beside_it() -> None:
    tree = ask(but(decide={**EMPTY, "answer": "Ambry", "confidence": 0.97, "questions": PAIR})).tree
    assert list(tree) == ["0"]


def test_no_name_is_looked_up_where_that_is_left_out() -> None:
    tree = ask(but(decide={**EMPTY, **UNKNOWN, "entities": ["Ambry"]}), entities=False).tree
    assert list(tree) == ["0"]


@pytest.mark.parametrize("again", ["Who built the tower?", "Who built the tower ?!"])
def test_two_equal_sub_questions_are_reconsidered_once(again: str) -> None:
    half = {"action": "answer", "answer": "Mason", "confidence": 0.6, "citations": [1]}

    def decide(slots: Mapping[str, Any]) -> dict[str, Any]:
        if slots["question"] != QUESTION:
            return {**EMPTY, **half}
        split = {"action": "decompose", "questions": ["Who built the tower?", again]}
        return {**EMPTY, **(split if slots["hint"] else {"answer": "Ambry", "confidence": 0.6, "citations": [2]})}

    chat = but(decide=decide)
    result = ask(chat, max_depth=2, tau=0.95)
    assert len([call for call in chat.asked("decide") if call["question"] != QUESTION]) == 2, "asked, and asked again"
    assert not [branch for branch in result.tree.values() if branch.status in WORKING]
