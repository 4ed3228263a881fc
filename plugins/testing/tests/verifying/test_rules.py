"""The rules by which steps are checked: how an answer follows from others, what counts, and what rests on the model alone."""

from typing import Any

import pytest

from plugins.testing.tests.verifying.conftest import BRIDGE, COMPARISON, Answered
from ramify.graphs import ask
from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import cite
from ramify.testing import Verification, verify
from ramify.tools.errors import UsageError

LEM = Passage(id="lem", text="Stanisław Lem was born in Lwów in 1921. He wrote Solaris.", source="lem.txt", score=1.0)
CITATION = cite([LEM], ["Stanisław Lem was born in Lwów in 1921. …"], cited=True)[0].model_dump()


def branch(path: str, question: str, answer: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"path": path, "question": question, "answer": answer, "status": "leaf", "cited": ["lem"] if answer else [], **fields}


def check(answer: str, *tree: dict[str, Any], **fields: Any) -> Verification:
    return verify({"question": tree[0]["question"], "answer": answer, "citations": [CITATION], "tree": list(tree), **fields})


def verdicts(verification: Verification, what: str) -> dict[str, str]:
    return {check.where: check.verdict for check in verification.checks if check.what == what}


def test_unknown_claims_nothing() -> None:
    verification = check("Unknown", branch("0", "Where was Lem born?", status="leaf"))
    assert verification.holds
    assert verification.steps.total == 0


READ = {"Lwów": "holds", "1921": "holds", "Kraków": "fails", "1922": "fails", "Yes": "unchecked", "a writer": "unchecked"}


@pytest.mark.parametrize(("answer", "verdict"), READ.items())
def test_an_answer_stands_in_its_passage(answer: str, verdict: str) -> None:
    assert verdicts(check(answer, branch("0", "Where was Lem born?", answer)), "answer")["0"] == verdict


def test_what_a_person_gave_is_not_checked() -> None:
    verification = check("Kraków", branch("0", "Where was Lem born?", "Kraków", confidence_source="person"))
    assert verdicts(verification, "answer") == {"0": "unchecked", "answer": "holds"}


@pytest.mark.parametrize(
    ("together", "answers", "answer", "verdict"),
    [
        ("same", ("Lwów", "Lwów"), "Yes", "holds"),
        ("same", ("1921", "1922"), "Yes", "fails"),
        ("both", ("Yes", "No"), "No", "holds"),
        ("both", ("Yes", "Yes"), "No", "fails"),
        ("more", ("1,000 km", "200 miles"), "Vistula", "holds"),
        ("more", ("100 km", "200 miles"), "Vistula", "fails"),
        ("same", ("American", "United States"), "Yes", "unchecked"),  # by meaning alone, which no rule decides
    ],
)
def test_a_combination_is_computed_again(together: str, answers: tuple[str, str], answer: str, verdict: str) -> None:
    halves = [branch(f"0.{n}", f"How long is the {name}?", answers[n]) for n, name in enumerate(("Vistula", "Oder"))]
    verification = check(answer, branch("0", "Which is it?", status="split", together=together), *halves)
    assert verdicts(verification, "answer")["answer"] == verdict


def test_no_encoder_and_no_model_is_asked(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [answered(BRIDGE), answered(COMPARISON)]

    def refuse(*_: object) -> float:
        raise AssertionError("nothing is computed by a model")

    for name in ("arithmetic.similarity", "reader.reading.read_context", "checks.support.entailment_probabilities"):
        monkeypatch.setattr(f"ramify.embedded.{name}", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
    halves = [branch(f"0.{n}", "Where is it?", answer) for n, answer in enumerate(("American", "United States"))]
    answers.append({"question": "?", "answer": "Yes", "tree": [branch("0", "Is it the same?", together="same"), *halves]})
    assert [verify(answer).steps.hold for answer in answers] == [4, 3, 0]


def test_a_result_is_checked_as_its_json() -> None:
    result = ask(COMPARISON, "prune", model="extractive")
    assert verify(result) == verify(result.to_json())


def test_a_branch_below_a_pruned_one_is_no_step() -> None:
    pruned = branch("0.0", "Where did Lem live?", status="pruned", note="neither half has an answer")
    verification = check("Lwów", branch("0", "Where was Lem born?", "Lwów"), pruned, branch("0.0.0", "Where?", "Kraków"))
    assert verification.holds
    assert verification.places == ["0", "answer"]


def test_a_chain_is_filled_with_the_answers_before_it() -> None:
    links = [
        branch("0", "Where was the author of Solaris born?", status="split", together="bridge"),
        branch("0.0", "Who wrote Solaris?", "Stanisław Lem", status="inner"),
        branch("0.0.0", "Where was Stanisław Lem born?", "Lwów", template="Where was {1} born?"),
    ]
    assert check("Lwów", *links).steps == (3, 0, 0)
    assert verdicts(check("Lwów", *links[:2], {**links[2], "template": "Where did {1} die?"}), "filled") == {"0.0.0": "fails"}


def test_an_unsure_answer_that_is_said_to_be_unsure_holds() -> None:
    unsure = branch("0", "Where was Lem born?", "Lwów", confidence=0.4, note="confidence 0.400, not above tau 0.6")
    assert check("Lwów", unsure, tau=0.6).holds
    assert not check("Lwów", {**unsure, "note": ""}, tau=0.6).holds
    assert check("Lwów", {**unsure, "note": ""}, tau=None).holds  # of a strategy that does not accept by tau


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"question": "?", "answer": "!", "tree": []},
        {"question": "?", "answer": "!", "tree": [1]},
        {"question": "?", "answer": "!", "tree": [{"path": "0", "question": "?"}, {"path": "0", "question": "?"}]},
        {"question": "?", "answer": "!", "tree": [{"path": "0", "question": "?"}, {"path": "0.0.0", "question": "?"}]},
        {"question": "?", "answer": "!", "tree": [{"path": "0" + ".0" * n, "question": "?"} for n in range(80)]},
        {"question": "?", "answer": "!", "tree": [{"path": "0", "question": "?", "confidence": 7}]},
        {"format": "ramify-answer/9", "question": "?", "answer": "!", "tree": [{"path": "0", "question": "?"}]},
    ],
)
def test_what_is_no_answer_is_a_usage_error(answer: Any) -> None:
    with pytest.raises(UsageError):
        verify(answer)
