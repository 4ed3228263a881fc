"""What the final call is shown: branches as findings, passages in the order of what answers rest on."""

from typing import Any

import pytest

from ramify.nodes.settings import TorSettings
from ramify.nodes.step.findings import branches_for_final_call, rank_passages, to_finding
from ramify.nodes.tree import Branch, Passage, ancestors


def state(*branches: Branch) -> Any:
    """A state of branches; passages a to f, of which the later ones are worth more to MMR and are less near."""
    found = {key: Passage(id=key, text=key, source=key, score=1 - n / 10, value=n / 10) for n, key in enumerate("abcdef")}
    return {"tree": {branch.path: branch for branch in branches}, "passages": found}


def ids(passages: list[Passage]) -> str:
    return "".join(passage.id for passage in passages)


def test_what_answers_rest_on_comes_first_the_deepest_first_names_too_then_what_was_found_and_nothing_pruned() -> None:
    branches = [
        Branch(path="0", question="Q", evidence=("a", "b")),
        Branch(path="0.0", question="Q1", evidence=("b", "c"), cited=("c",)),
        Branch(path="0.1", question="E", kind="entity", evidence=("d",), cited=("d",)),
        Branch(path="0.2", question="Q2", evidence=("e",), cited=("e",), status="pruned"),
        Branch(path="0.0.0", question="Q3", evidence=("f", "a"), cited=("a",)),
    ]
    assert ids(rank_passages(state(*branches), branches)) == "acdfb"


def test_leaves_hand_over_their_passages_by_what_mmr_gave_them_each_once() -> None:
    branches = [Branch(path="0.0", question="Q1", evidence=("a", "c")), Branch(path="0.1", question="Q2", evidence=("e", "c", "lost"))]
    assert ids(rank_passages(state(*branches), branches, by_value=True)) == "eca"


@pytest.mark.parametrize(
    ("branch", "holds"),
    [
        (Branch(path="0.0", question="Q", status="leaf", answer="A"), True),
        (Branch(path="0.0", question="Q", status="failed", evidence=("a",)), True),
        (Branch(path="0.0", question="Q", status="failed"), False),
        (Branch(path="0.0", question="Q", status="pruned", answer="A", evidence=("a",)), False),
        (Branch(path="0.0", question="Q", status="inner", answer="A"), False),
    ],
)
def test_leaves_and_what_failed_with_something_in_hand_hold_at_the_end(branch: Branch, holds: bool) -> None:
    assert (branches_for_final_call(state(branch), TorSettings) == [branch]) is holds


def test_what_an_answer_cites_is_not_dropped_for_what_mmr_values_more() -> None:
    branches = [
        Branch(path="0.0", question="Q1", evidence=("a", "c"), cited=("a",)),
        Branch(path="0.1", question="Q2", evidence=("e", "f")),
    ]
    assert ids(rank_passages(state(*branches), branches, by_value=True)) == "afec"


def test_the_best_passage_of_a_name_that_was_not_summed_up_has_its_place() -> None:
    branches = [
        Branch(path="0.0", question="Q1", evidence=("a", "b", "c")),
        Branch(path="0.1", question="E", kind="entity", evidence=("d", "e")),
    ]
    assert ids(rank_passages(state(*branches), branches)) == "dabce"


def test_a_finding_tells_of_its_branch_as_it_is() -> None:
    told = {
        "path": "0.1",
        "kind": "entity",
        "question": "Acme",
        "answer": "A firm.",
        "confidence": 0.3,
        "status": "pruned",
        "note": "judged weak",
    }
    passages = {"a": Passage(id="a", text="…", source="a.txt", score=1, metadata={"title": "A"})}
    beside = {"together": "", "above": [], "note": "judged weak"}
    assert to_finding(Branch(**told, evidence=("a", "b")), passages, ()) == {**told, **beside, "sources": []}
    assert to_finding(Branch(**told, cited=("a", "b")), passages, ()) == {**told, **beside, "sources": ['"A" (a.txt)']}
    bare = to_finding(Branch(path="0", question="Q"), {}, ())
    assert (bare["answer"], bare["confidence"]) == ("", 0.0)


def test_a_finding_shows_what_is_above_it_and_how_answers_are_combined() -> None:
    root = Branch(path="0", question="Which?", together="earlier")
    half = Branch(path="0.0", question="Q1", together="bridge", answer="A")
    told = to_finding(half, {}, ancestors({"0": root, "0.0": half}, "0.0"))
    assert (told["together"], told["above"]) == ("bridge", [{"path": "0", "question": "Which?", "together": "earlier"}])
