"""Duplicates: what counts as the same question, and what is copied of it."""

import pytest

from ramify.nodes.tree import Branch, Status, Tree
from ramify.nodes.tree.answers import copy_answer, find_duplicate

ASKED = "Who founded Acme?"
FIRST = Branch(path="0.0", question=ASKED, next="answer")


def grown(*branches: Branch) -> Tree:
    return {branch.path: branch for branch in (Branch(path="0", question="Where?", status="split"), *branches)}


@pytest.mark.parametrize("same", [ASKED, " who  founded ACME", "Who founded Acme ?!", "Who founded Ａｃｍｅ."])
def test_case_spaces_final_marks_and_forms_of_letters_make_no_other_question(same: str) -> None:
    later = Branch(path="0.1", question=same, next="answer")
    assert find_duplicate(grown(FIRST, later), later) == FIRST


@pytest.mark.parametrize(
    "other",
    [
        Branch(path="0.1", question="Who founded Acme first?"),
        Branch(path="0.1", question=ASKED, kind="entity"),
        Branch(path="0.0.0", question=ASKED),
    ],
)
def test_another_wording_an_entity_or_a_descendant_is_no_find_duplicate(other: Branch) -> None:
    assert find_duplicate(grown(FIRST, other), other) is None


@pytest.mark.parametrize(("path", "status", "answer", "is_duplicate"), [
    ("0.2", "open", None, False),
    ("0.2", "leaf", "Stern", True),
    ("0.0", "pruned", None, False),
    ("0.0", "failed", None, False),
    ("0.0", "pruned", "Stern", True),
    ("0.0", "open", None, True),
])  # fmt: skip
def test_a_duplicate_has_its_answer_or_stands_before_and_will_have_it(
    path: str, status: Status, answer: str | None, is_duplicate: bool
) -> None:
    branch = Branch(path="0.1", question=ASKED, next="answer")
    other = Branch(path=path, question=ASKED, status=status, answer=answer)
    assert (find_duplicate(grown(other, branch), branch) == other) is is_duplicate


def test_a_copy_has_the_answer_with_all_that_it_rests_on() -> None:
    told = {"answer": "Stern", "confidence": 0.7, "confidence_source": "logprobs", "evidence": ("a", "b"), "cited": ("b",)}
    copied = copy_answer(Branch(path="0.1", question=ASKED, next="answer"), Branch(path="0.0", question=ASKED, status="leaf", **told))
    assert copied.model_dump(include=set(told)) == told
    assert (copied.status, copied.note) == ("answered", "same question as 0.0")
    entity = Branch(path="0.1", question="Acme", kind="entity", next="answer")
    assert copy_answer(entity, Branch(path="0.0", question="Acme", kind="entity", status="leaf", **told)).status == "leaf"


@pytest.mark.parametrize(("status", "copied"), [("failed", "failed"), ("leaf", "leaf")])
def test_a_copy_of_what_has_no_answer_says_where_to_look(status: Status, copied: Status) -> None:
    told = copy_answer(Branch(path="0.1", question=ASKED, next="answer"), Branch(path="0.0", question=ASKED, status=status))
    assert (told.status, told.answer, told.note) == (copied, None, "same question as 0.0: see there")


def test_of_two_answers_that_are_asked_again_the_earlier_one_is_asked() -> None:
    first = FIRST.with_status("answered", answer="Stern", objection="not above tau").model_copy(update={"next": "decide"})
    later = first.model_copy(update={"path": "0.1"})
    tree = grown(first, later)
    assert (find_duplicate(tree, first), find_duplicate(tree, later)) == (None, first)
    assert copy_answer(later, first).reconsidered
