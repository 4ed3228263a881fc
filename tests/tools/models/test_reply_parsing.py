"""Objects in a text: found as a plain search would find them, in a time that follows the text's length."""

import json
import math
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from ollama import ChatResponse

from ramify.tools.models import reply_parsing
from ramify.tools.models.reply_parsing import DECODER, MAX_REPLY_CHARS, field_span, find_objects, parse_object, span_confidence
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
    assert repr(list(find_objects(text))) == repr(plainly(text))


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
    once, twice = (operations(lambda times=times: list(find_objects(piece * times + end * (times // 1000)))) for times in (1000, 2000))  # type: ignore[misc]
    assert twice < 2.2 * once + 100
    assert operations(lambda: field_span(piece * 2000, "a")) < 40_000 + 60 * 2000


@pytest.mark.parametrize("piece", HOSTILE)
def test_what_is_no_object_is_not_decoded(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []

    class Counting:
        def raw_decode(self, text: str, start: int) -> tuple[Any, int]:
            decoded.append(start)
            return DECODER.raw_decode(text, start)

    monkeypatch.setattr(reply_parsing, "DECODER", Counting())
    assert [start for start, _ in find_objects(piece * 300)] == decoded


def test_numbers_and_nests_that_no_parser_takes_are_no_objects() -> None:
    assert list(find_objects('{"a":' + "9" * 10_000 + '} {"b": 1}')) == [(10_007, {"b": 1})]
    assert list(find_objects('{"a":' * 50_000 + "1" + "}" * 50_000)) == []


def test_a_reply_is_read_up_to_a_bound() -> None:
    said = json.dumps({"answer": "x" * (MAX_REPLY_CHARS - 100), "confidence": 0.5})
    found, error = parse_object(said, Answered)
    assert (found is not None, error) == (True, None)


@pytest.mark.parametrize(
    ("escape", "read"), [(r"\ud83d", "\ufffd"), (r"\ude00", "\ufffd"), (r"\ud83d\ude00", "😀"), (r"\\ud83d", r"\ud83d")]
)
def test_half_a_character_is_replaced(escape: str, read: str) -> None:
    text = f'{{"answer": "a{escape}b", "confidence": 1}}'
    assert list(find_objects(text)) == [(0, {"answer": f"a{read}b", "confidence": 1})]
    assert field_span(text, "answer") == (12, 14 + len(escape))


Tokens = list[tuple[str, float]]


def openai(tokens: Tokens, text: str | None = None) -> AIMessage:
    told = [{"token": token, "bytes": list(token.encode()), "logprob": logprob, "top_logprobs": []} for token, logprob in tokens]
    said = "".join(token for token, _ in tokens) if text is None else text
    return AIMessage(said, response_metadata={"logprobs": {"content": told, "refusal": None}})


def ollama(tokens: Tokens, text: str | None = None) -> AIMessage:
    """As the client hands them over: its own objects, which drop the bytes."""
    body = {"message": {"role": "assistant"}, "logprobs": [{"token": token, "logprob": logprob} for token, logprob in tokens]}
    said = "".join(token for token, _ in tokens) if text is None else text
    return AIMessage(said, response_metadata={"logprobs": list(ChatResponse(**body).logprobs or [])})


REPLY: Tokens = [('{"', -5), ("answer", -5), ('":', -5), (' "', -5), ("Mar", -0.1), ("ie", -0.3), ('",', -5), (' "n', -5), ('":', -5)]
REPLY += [(" ", -5), ("4", -0.5), ("2", -0.7), (',"ok":', -5), ("true", -0.2), ("}", -5)]


@pytest.mark.parametrize("form", [openai, ollama])
@pytest.mark.parametrize(("field", "mean"), [("answer", -0.2), ("n", -0.6), ("ok", -0.2)])
def test_only_the_tokens_of_the_value_count(form: Any, field: str, mean: float) -> None:
    assert span_confidence(form(REPLY), field) == pytest.approx(math.exp(mean))


def test_a_token_across_the_boundary_counts_when_it_holds_a_character_of_the_value() -> None:
    message = openai([('{"answer": "Ma', -0.2), ('rie"', -0.4), ("}", -9)])
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.3))


def test_the_same_words_elsewhere_do_not_count() -> None:
    message = openai([('{"thought": "answer: Yes", ', -9), ('"answer": "', -9), ("Yes", -0.1), ('"}', -9)])
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.1))


def test_a_field_of_a_nested_object_is_another_field() -> None:
    message = openai([('{"inner": {"answer": "', -9), ("No", -8), ('"}, "answer": "', -9), ("Yes", -0.1), ('"}', -9)])
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.1))


def test_words_and_fences_around_the_object_do_not_matter() -> None:
    message = openai([("Here: {not json}\n```json\n", -9), ('{"answer": "', -9), ("Yes", -0.1), ('"}\n```', -9)])
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.1))


def test_tokens_before_and_after_the_text_are_passed_over() -> None:
    thinking: Tokens = [("\n", -9), ("hm", -9), *REPLY, ("<|eot_id|>", -9)]
    assert span_confidence(openai(thinking, "".join(token for token, _ in REPLY)), "answer") == pytest.approx(math.exp(-0.2))


def test_half_characters_with_their_bytes() -> None:
    start, end = b'{"answer": "', b'"}'
    syllable = "한".encode()
    told = [(start, -9), (syllable[:1], -0.1), (syllable[1:], -0.3), ("국".encode(), -0.5), (end, -9)]
    content = [{"token": part.decode(errors="replace"), "bytes": list(part), "logprob": logprob} for part, logprob in told]
    message = AIMessage('{"answer": "한국"}', response_metadata={"logprobs": {"content": content}})
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.3))


def test_half_characters_without_their_bytes() -> None:
    message = ollama([('{"answer": "', -9), ("\ufffd", -0.1), ("\ufffd\ufffd", -0.3), ("국", -0.5), ('"}', -9)], '{"answer": "한국"}')
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.3))


@pytest.mark.parametrize("form", [openai, ollama])
def test_the_confidence_is_none_if_undetermined(form: Any) -> None:
    assert span_confidence(AIMessage('{"answer": "Yes"}'), "answer") is None
    assert span_confidence(form(REPLY), "missing") is None
    assert span_confidence(form([('{"answer": "', -1), ('"}', -1)]), "answer") is None, "an empty value has no tokens"
    assert span_confidence(form(REPLY, '{"answer": "another text"}'), "answer") is None
    assert span_confidence(form(REPLY[:6]), "answer") is None, "the object is not complete"
    assert span_confidence(form([("no object", -1)]), "answer") is None


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 0.5, 3.0])
@pytest.mark.parametrize("form", [openai, ollama])
def test_what_is_no_log_probability_measures_nothing(form: Any, odd: float) -> None:
    tokens = [(text, odd if text == "ie" else logprob) for text, logprob in REPLY]
    assert span_confidence(form(tokens), "answer") is None
    assert span_confidence(form(tokens), "n") == pytest.approx(math.exp(-0.6)), "another field's tokens are what they are"


@pytest.mark.parametrize("low", [-1e308, -1.7e308, -1e30, -9999.0])
@pytest.mark.parametrize("form", [openai, ollama])
def test_log_probabilities_without_a_bottom_are_no_confidence_and_no_overflow(form: Any, low: float) -> None:
    assert span_confidence(form([(text, low) for text, _ in REPLY]), "answer") == 0.0


def test_a_zero_that_was_rounded_up_is_certain() -> None:
    assert span_confidence(openai([('{"answer": "', -9), ("Yes", 1e-6), ('"}', -9)]), "answer") == 1.0


@pytest.mark.parametrize(
    "told",
    [
        None,
        "none",
        7,
        {"content": None},
        {"content": "none"},
        {"content": {"token": "x"}},
        [None],
        [7],
        [[]],
        [{}],
        [{"token": None, "logprob": -0.1}],
        [{"token": '{"answer": "Yes"}', "logprob": None}],
        [{"token": '{"answer": "Yes"}', "logprob": "-0.1"}],
        [{"token": '{"answer": "Yes"}', "logprob": 10**400}],
        [{"token": '{"answer": "Yes"}', "logprob": -0.1, "bytes": [300]}],
        [{"token": '{"answer": "Yes"}', "logprob": -0.1, "bytes": 10**12}],
        [{"token": '{"answer": "Yes"}', "logprob": -0.1, "bytes": ["a"]}],
    ],
)
def test_anything_else_in_the_place_of_log_probabilities_measures_nothing(told: Any) -> None:
    assert span_confidence(AIMessage('{"answer": "Yes"}', response_metadata={"logprobs": told}), "answer") is None


def test_a_token_with_half_a_character_still_spells_the_text() -> None:
    tokens: Tokens = [('{"answer": "', -9), ("Cur", -0.1), ("\ud83d", -0.3), ("ie", -0.5), ('"}', -9)]
    told = [{"token": token, "logprob": logprob} for token, logprob in tokens]
    message = AIMessage('{"answer": "Cur\ufffdie"}', response_metadata={"logprobs": told})
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.3))


@pytest.mark.parametrize("text", ['{"answer": "Yes", "note": "more"}', '{"note": "some more words", "answer": "Yes"}'])
def test_tokens_that_leave_out_a_part_of_the_text_do_not_spell_it(text: str) -> None:
    tokens = [('{"', -9), ("answer", -9), ('": "', -9), ("Yes", -0.1), ('"', -9)]
    assert span_confidence(ollama([*tokens, ("}", -9)] if text.startswith('{"note') else tokens, text), "answer") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.text(" \n\t", max_size=3)


@given(
    members=st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4),
    blanks=st.lists(BLANKS, min_size=5, max_size=5),
    data=st.data(),
)
def test_the_span_of_any_field_of_any_object(members: dict[str, Any], blanks: list[str], data: st.DataObject) -> None:
    ascii_only = data.draw(st.booleans())
    wanted = data.draw(st.sampled_from(sorted(members)))
    text, expected = blanks[0] + "{", (0, 0)
    for number, (name, value) in enumerate(members.items()):
        text += ("," if number else "") + blanks[1] + json.dumps(name, ensure_ascii=ascii_only) + blanks[2] + ":" + blanks[3]
        written = json.dumps(value, ensure_ascii=ascii_only)
        quoted = isinstance(value, str)
        if name == wanted:
            expected = (len(text) + quoted, len(text) + len(written) - quoted)
        text += written + blanks[4]
    assert field_span(text + "}", wanted) == expected


@given(value=st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable()), data=st.data())
def test_any_split_into_bytes_finds_the_tokens_of_the_value(value: str, data: st.DataObject) -> None:
    before, inside, after = '{"thought": "x", "answer": "', json.dumps(value, ensure_ascii=False)[1:-1], '"}'
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(inside.encode()) - 1)))))
    places = [0, *(cut for cut in cuts if cut < len(inside.encode())), len(inside.encode())]
    parts = [inside.encode()[first:last] for first, last in pairwise(places)]
    told = [(before.encode(), -9.0), *((part, -0.25) for part in parts), (after.encode(), -9.0)]
    content = [{"token": part.decode(errors="replace"), "bytes": list(part), "logprob": logprob} for part, logprob in told]
    message = AIMessage(before + inside + after, response_metadata={"logprobs": {"content": content}})
    assert span_confidence(message, "answer") == pytest.approx(math.exp(-0.25))
