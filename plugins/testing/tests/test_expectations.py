"""A file of expectations: what it says, what it refuses, and what is appended to it."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from ramify.testing.expectations import Expectation, Expectations, append_expectations, load_expectations, parse_expectations
from ramify.tools.errors import UsageError


@pytest.mark.parametrize(
    ("expected", "answer", "text", "cited", "holds"),
    [
        ({"answer": "The Netherlands"}, "netherlands", "", [], True),
        ({"answer": ["Uppsala", "Graz"]}, "Graz.", "", [], True),
        ({"answer": "Uppsala"}, "Graz", "Not Uppsala.", [], False),
        ({"answer": "no"}, "Unknown", "", [], False),
        ({"contains": ["90 euros", "night"]}, "90", "It may cost 90 euros a night.", [], True),
        ({"contains": "no"}, "Norway", "", [], False),
        ({"not": "140 euros"}, "90 euros", "", [], True),
        ({"not": "90 euros"}, "up to 90 euros", "", [], False),
        ({"unknown": True}, "Unknown", "", [], True),
        ({"unknown": True}, "Graz", "", [], False),
        ({"cites": "policy.pdf"}, "90", "", ["policy.pdf", "travel/policy.pdf"], True),
        ({"cites": "travel/*.pdf"}, "90", "", ["travel/policy.pdf"], True),
        ({"cites": ["policy.pdf", "births.md"]}, "90", "", ["policy.pdf"], False),
    ],
)
def test_what_holds_of_an_answer(expected: dict[str, Any], answer: str, text: str, cited: list[str], holds: bool) -> None:
    assert (Expectation(question="?", **expected).objections(answer, text, cited) == []) is holds


def test_values_are_texts_as_they_are_written() -> None:
    read = parse_expectations(
        "tests:\n- question: Is it?\n  answer: no\n- question: When?\n  answer: [1856-07-10, 1911]\n  settings: {k: 8}"
    )
    assert [test.answer for test in read.tests] == [["no"], ["1856-07-10", "1911"]]
    assert read.tests[1].settings == {"k": 8}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tests:\n- question: Is it?", "test 1"),
        ("tests:\n- question: Is it?\n  answer: a\n  unknown: true", "test 1"),
        ("tests:\n- question: Is it?\n  answr: a", "answr"),
        ("tests:\n- question: Is it?\n  answer: a\n- question: Is it?\n  answer: b", "Is it?"),
        ("tests:\n- question: Is it?\n  answer: a\n  answer: b", "line 4"),
        ("tests: [", "YAML"),
        ("just a text", "file"),
        ("", "file"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_with_its_place(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "tests.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=named) as raised:
        load_expectations(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# ours\nstrategy: tor\n\ntests:\n- question: Old?\n  answer: a  # sure\n",
        'tests:\n    - {question: "Old?", answer: a}\n',
        "tests: []\n",
    ],
)
def test_appending_keeps_what_a_person_wrote(before: str, tmp_path: Path) -> None:
    file = tmp_path / "tests.yaml"
    if before:
        file.write_text(before, encoding="utf-8")
    new = [
        Expectation(question='Who said: "no"?', answer=["Ánna: no"]),
        Expectation(question="Old?", answer=["b"]),
        Expectation(question="#?", unknown=True),
    ]
    known = "Old?" in before
    assert append_expectations(file, new) == 3 - known
    read = load_expectations(file).tests
    assert [test.question for test in read] == [*(["Old?"] if known else []), 'Who said: "no"?', *([] if known else ["Old?"]), "#?"]
    assert read[known].answer == ["Ánna: no"]
    assert before in ("", "tests: []\n") or file.read_text(encoding="utf-8").startswith(before.rstrip())
    assert append_expectations(file, new) == 0


def test_a_file_whose_tests_are_not_at_its_end_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "tests.yaml"
    file.write_text("tests:\n- question: Old?\n  answer: a\nstrategy: tor\n", encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    with pytest.raises(UsageError):
        append_expectations(file, [Expectation(question="New?", answer=["b"])])
    assert file.read_text(encoding="utf-8") == before


def test_the_schema_has_each_key_with_a_description() -> None:
    schema = TypeAdapter(Expectations).json_schema()
    test = schema["$defs"]["Expectation"]["properties"]
    assert {"question", "answer", "contains", "not", "unknown", "cites", "strategy", "settings", "filter", "note"} <= test.keys()
    assert all(field.get("description") for field in test.values())
