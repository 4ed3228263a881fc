"""Objects in a text: found as a plain search would find them, in a time that follows the text's length."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.models import json_text
from ramify.tools.models.json_text import DECODER, field_span, objects
from ramify.tools.models.reply_parsing import LONGEST, parse
from tests.tools.questions import Answered

PARTS = [*'{}[]":,-1x\\', '"a"', "-0", "01", "1e5", "1.", "true", "nul", "null", "\\n", "\\u00e9", '"b":', '"x{', "NaN", "-Infinity"]
PARTS += ["{}", "[]", '{"a":', '{"a":1}', '{"a":{']
HOSTILE = ("{", '{"a":', '{"', '{"a":[', '{"a":"', '{"\\"', '{"a":{"b":1},', '{"a":"x" ,', '[{"a":', '{"a":1}', '"{"a', '{"a" ', "{ ")


def plainly(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Try every brace: right, and quadratic."""
    found, start = [], text.find("{")
    while start >= 0:
        try:
            value, end = DECODER.raw_decode(text, start)
            found.append((start, value))
        except ValueError:
            end = start + 1
        start = text.find("{", end)
    return found


@given(st.lists(st.sampled_from([*PARTS, " ", "\n", "\t", "\x01"]), max_size=14).map("".join))
def test_the_objects_are_those_of_a_plain_search(text: str) -> None:
    assert repr(list(objects(text))) == repr(plainly(text))


def operations(work: Callable[[], object]) -> int:
    """Count what is called."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("end", ["", "}" * 2000])
def test_a_text_of_twice_the_length_takes_twice_the_work(piece: str, end: str) -> None:
    once, twice = (operations(lambda times=times: list(objects(piece * times + end * (times // 1000)))) for times in (1000, 2000))  # type: ignore[misc]
    assert twice < 2.2 * once + 100
    assert operations(lambda: field_span(piece * 2000, "a")) < 40_000 + 60 * 2000


@pytest.mark.parametrize("piece", HOSTILE)
def test_what_is_no_object_is_not_decoded(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []

    class Counting:
        def raw_decode(self, text: str, start: int) -> tuple[Any, int]:
            decoded.append(start)
            return DECODER.raw_decode(text, start)

    monkeypatch.setattr(json_text, "DECODER", Counting())
    assert [start for start, _ in objects(piece * 300)] == decoded


def test_numbers_and_nests_that_no_parser_takes_are_no_objects() -> None:
    assert list(objects('{"a":' + "9" * 10_000 + '} {"b": 1}')) == [(10_007, {"b": 1})]
    assert list(objects('{"a":' * 50_000 + "1" + "}" * 50_000)) == []


def test_a_reply_is_read_up_to_a_bound() -> None:
    said = json.dumps({"answer": "x" * (LONGEST - 100), "confidence": 0.5})
    found, error = parse(said, Answered)
    assert (found is not None, error) == (True, None)


@pytest.mark.parametrize(
    ("escape", "read"), [(r"\ud83d", "\ufffd"), (r"\ude00", "\ufffd"), (r"\ud83d\ude00", "😀"), (r"\\ud83d", r"\ud83d")]
)
def test_half_a_character_is_replaced(escape: str, read: str) -> None:
    text = f'{{"answer": "a{escape}b", "confidence": 1}}'
    assert list(objects(text)) == [(0, {"answer": f"a{read}b", "confidence": 1})]
    assert field_span(text, "answer") == (12, 14 + len(escape))
