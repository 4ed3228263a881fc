"""Replies that say the right thing in another form than the one asked for."""

from typing import Any

import pytest
from pydantic import ValidationError

import ramify.graphs as graphs
from ramify.prompts import ANSWER, DECIDE, DECOMPOSE, FILTER, FINALIZE, JUDGE, NEXT_QUESTION, RUBRIC
from ramify.prompts.prompt import Prompt
from tests.river import but, replies, river


@pytest.mark.parametrize(
    "stated", [95, "95%", "95 percent", 1.5, -3, None, "high", float("nan"), float("inf"), 10**400, "9" * 5000, [0.9], {"value": 1}, True]
)
def test_a_right_answer_does_not_die_of_a_stated_number(stated: Any) -> None:
    model = but(answer={"answer": "Seine", "confidence": stated})
    result = graphs.ask("Which river runs through Paris?", "naive", model=model.model_copy(update={"logprobs": False}), index=river())
    assert (result.answer, result.usage.replies["answer"].valid, result.stopped_by) == ("Seine", 1, "finished")
    assert 0 <= (result.confidence or 0) <= 1


CONFIDENCES = [
    ("high", 0.9),
    ("Very High", 0.95),
    ("High confidence.", 0.9),
    ("high (90%)", 0.9),
    ("medium", 0.5),
    ("LOW", 0.2),
    ("not sure", 0.2),
    ("hoch", 0.9),
    ("높음", 0.9),
    (True, 0.95),
    ("9/10", 0.9),
    ("9 out of 10", 0.9),
    ("0/0", 0.0),
    ("0,95", 0.95),
    ("95,5 %", 0.955),
    (".9", 0.9),
    ("quite high", 0.9),
    ("extremely confident", 0.9),
    ("sehr hoch", 0.9),
    ("高い", 0.9),
    ("not high", 0.0),
    ([0.9], 0.9),
    ({"score": 0.9}, 0.9),
]


@pytest.mark.parametrize(
    ("stated", "read"), [(95, 0.95), ("95%", 0.95), ("0.8", 0.8), (1, 1.0), ("8e-1", 0.8), ("very", 0.0), (None, 0.0), *CONFIDENCES]
)
def test_a_stated_confidence_is_read_as_a_share(stated: Any, read: float) -> None:
    assert ANSWER.reply.model_validate({"answer": "x", "confidence": stated}).confidence == pytest.approx(read)


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ([1, 2], [1, 2]),
        (["[1]", "passage 2"], [1, 2]),
        ("1, 3", [1, 3]),
        (2, [2]),
        (None, []),
        ([-1, 0], [0]),
        ([True, None], []),
        ({}, []),
        ([1.0], [1]),
        ([[1], [3]], [1, 3]),
        ([{"passage": 1, "quote": "opened in 1938"}, {"id": "[2]"}], [1, 2]),
        ({"2": "opened in 1938"}, [2]),
        (["[1] Ballpoint pen, 1938"], [1]),
    ],
)
def test_numbers_of_passages_are_read_however_they_are_written(written: Any, numbers: list[int]) -> None:
    assert ANSWER.reply.model_validate({"answer": "x", "citations": written}).citations == numbers


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (1967, "1967"),
        (2.0, "2"),
        (2.5, "2.5"),
        (True, "Yes"),
        (False, "No"),
        (["Paris", "Lyon"], "Paris, Lyon"),
        (None, ""),
        ({"name": "Lyon"}, "Lyon"),
        ("Answer: **Lyon** [1]", "Lyon"),
        ("**Final answer:** Lyon [1] [2]", "Lyon"),
        ("Lyon [1, 2]", "Lyon"),
        ("items[0]", "items[0]"),
        ("2**8 and 2**9", "2**8 and 2**9"),
    ],
)
def test_an_answer_of_another_type_is_written_out(said: Any, answer: str) -> None:
    assert ANSWER.reply.model_validate({"answer": said}).answer == answer


@pytest.mark.parametrize(
    ("prompt", "given", "field", "read"),
    [
        (JUDGE, {"weaker": 2}, "weaker", "2"),
        (JUDGE, {"sufficiency": "4/5"}, "sufficiency", 4.0),
        (JUDGE, {"consistency": 9}, "consistency", 5.0),
        (RUBRIC, {"verdict": "Valid."}, "verdict", "VALID"),
        (FINALIZE, {"settled_by": "the sources agree"}, "settled_by", "agreement"),
        (DECIDE, {"action": "Answer"}, "action", "answer"),
        (DECIDE, {"action": "answer: they contain it"}, "action", "answer"),
        (DECIDE, {"action": ['"unknown"']}, "action", "unknown"),
        (DECIDE, {"questions": None, "entities": "Paris"}, "entities", ["Paris"]),
        (FILTER, {"facts": "One fact.", "is_sufficient": None}, "facts", ["One fact."]),
    ],
)
def test_what_is_meant_is_taken(prompt: Prompt[Any], given: dict[str, Any], field: str, read: Any) -> None:
    whole = dict(replies(prompt.name, {"question": "Which?"}))
    assert getattr(prompt.reply.model_validate({**whole, **given}), field) == read


@pytest.mark.parametrize(
    ("prompt", "given"),
    [(DECOMPOSE, {"simple": True}), (NEXT_QUESTION, {"done": True}), (FINALIZE, {"answer": "Seine"}), (ANSWER, {"answer": "Seine"})],
)
def test_a_field_that_nothing_depends_on_may_be_missing(prompt: Prompt[Any], given: dict[str, Any]) -> None:
    assert prompt.reply.model_validate(given)


@pytest.mark.parametrize(
    ("prompt", "given"), [(ANSWER, {}), (ANSWER, {"confidence": 1}), (DECOMPOSE, {"thought": "split"}), (ANSWER, {"answer": {"a": 1}})]
)
def test_a_reply_without_what_was_asked_for_is_malformed(prompt: Prompt[Any], given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        prompt.reply.model_validate(given)


@pytest.mark.parametrize(
    ("said", "answer", "missing"),
    [
        ("Unknown: her birthplace is not told", "Unknown", "her birthplace is not told"),
        ("Unknown", "Unknown", ""),
        ("Unknown:", "Unknown:", ""),
        ("Unknown Pleasures: a review", "Unknown Pleasures: a review", ""),
        ("10:30", "10:30", ""),
    ],
)
def test_what_is_missing_stands_behind_unknown(said: str, answer: str, missing: str) -> None:
    reply = ANSWER.reply.model_validate({"answer": said, "citations": []})
    assert (reply.answer, getattr(reply, "missing", None)) == (answer, missing)
