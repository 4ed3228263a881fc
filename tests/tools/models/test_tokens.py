"""What is learned of a model's tokens, and where it is kept."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from ramify.tools.demo import demo_corpus
from ramify.tools.models import ModelOptions, resolve_model, tokens
from ramify.tools.models.tokens import (
    KNOWN_AT_START,
    LearnedCount,
    Ratios,
    create_counter,
    encoder_tokens,
    estimate_tokens,
    passage_length,
    stored_ratios,
    truncate_to_tokens,
)
from tests.tools.ollama_server import Ollama
from tests.tools.openai_server import completion, serving
from tests.tools.questions import QUESTION, Answered, fresh

ENGLISH = (
    "Marie Skłodowska Curie (7 November 1867 – 4 July 1934) was a Polish and naturalised-French physicist and chemist who conducted "
    "pioneering research on radioactivity. She was the first woman to win a Nobel Prize, and the only person to win it in two sciences."
)
KOREAN = "마리 퀴리는 폴란드 출신의 프랑스 물리학자이자 화학자로, 방사능 연구의 선구자이며 노벨상을 받은 최초의 여성이다. (1867년 11월 7일)"
TABLE = "1 2 3 4 5\n6 7 8 9 10\n" * 20
SPLIT = regex.compile(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How LLaMA 3 splits a text before it looks for tokens: each part is one token at least."""
ORDINARY = st.text(st.one_of(st.characters(min_codepoint=32, max_codepoint=126), st.sampled_from("\n\t가나다라마바사한국어")), max_size=200)


@given(ORDINARY)
@example("\n ")
def test_the_estimate_is_no_less_than_the_parts_of_a_text(text: str) -> None:
    assert estimate_tokens(text) >= len(SPLIT.findall(text))


@pytest.mark.parametrize("text", [ENGLISH, KOREAN])
def test_the_estimate_is_at_least_a_token_for_three_bytes_of_prose(text: str) -> None:
    assert len(text.encode()) / 3 <= estimate_tokens(text) + 1 <= len(text.encode()) / 2


def test_numbers_in_a_table_are_a_token_each_and_so_are_the_spaces() -> None:
    assert estimate_tokens(TABLE) >= len(re.findall(r"\d+|\s", TABLE))


def test_a_model_without_a_server_is_estimated() -> None:
    assert create_counter(FakeListChatModel(responses=["yes"])) is estimate_tokens


def test_the_model_s_own_counter_is_used() -> None:
    chat = FakeListChatModel(responses=["yes"], custom_get_token_ids=lambda text: list(range(len(text))))
    assert create_counter(chat)("hello") == 5


@given(st.one_of(ORDINARY, st.text(max_size=60)), st.integers(0, 60))
def test_a_cut_text_fits_and_begins_the_text(text: str, tokens: int) -> None:
    short = truncate_to_tokens(text, tokens, estimate_tokens)
    assert text.startswith(short)
    assert estimate_tokens(short) <= tokens


def test_it_cuts_between_words() -> None:
    short = truncate_to_tokens(ENGLISH, 20, estimate_tokens)
    assert ENGLISH[len(short)] == " "
    assert estimate_tokens(ENGLISH[: ENGLISH.index(" ", len(short) + 1)]) > 20


def test_a_text_that_fits_is_left_alone() -> None:
    assert truncate_to_tokens(f"  {ENGLISH}\n", 10_000, estimate_tokens) == f"  {ENGLISH}\n"


def test_a_word_longer_than_the_room_is_cut_inside() -> None:
    assert truncate_to_tokens("안" * 50, 10, estimate_tokens) == "안" * 10


__all__ = ["fresh"]

TEXTS = [json.loads(line)["text"] for line in demo_corpus().read_text(encoding="utf-8").splitlines()]
PROMPT = "\n".join(TEXTS[:20])
KOREAN_PAGE = "마리 퀴리는 폴란드 출신의 프랑스 물리학자이자 화학자로, 방사능 연구의 선구자이며 노벨상을 받은 최초의 여성이다. " * 40
LONG_TABLE = "1 2 3 4 5\n6 7 8 9 10\n" * 100


def learned(*reports: tuple[str, int], name: str = "m") -> LearnedCount:
    count = LearnedCount(name)
    for text, reported in reports:
        count.learn([text], reported, filled=False)
    return count


def test_the_estimate_stands_until_something_was_learned() -> None:
    assert learned()(PROMPT) == estimate_tokens(PROMPT)


@settings(deadline=None)  # the encoder's tokenizer is loaded once
@given(st.lists(st.tuples(st.sampled_from([PROMPT, PROMPT[:6000], KOREAN_PAGE, LONG_TABLE]), st.floats(0.01, 1.4)), max_size=6))
def test_no_prompt_is_counted_lower_than_it_was_reported(reports: list[tuple[str, float]]) -> None:
    told = [(text, int(estimate_tokens(text) * share)) for text, share in reports]
    count = learned(*told, name=str(len(stored_ratios())))
    assert all(count(text) >= reported for text, reported in told if reported <= len(text.encode()))


def test_it_is_never_below_the_encoders_own_count() -> None:
    floor = encoder_tokens(PROMPT)
    assert floor is not None
    assert floor >= passage_length(PROMPT)
    assert learned((PROMPT, int(floor * 0.8)))(PROMPT) == floor


def test_other_scripts_and_tables_keep_their_estimate() -> None:
    count = learned((PROMPT, int(estimate_tokens(PROMPT) * 0.63)))
    assert count(PROMPT) < 0.7 * estimate_tokens(PROMPT)
    for text in (KOREAN_PAGE, "ภาษาไทยเขียนติดกันโดยไม่เว้นวรรค" * 20, "🜁🜂🜃🜄" * 50, "ACGT" * 200, LONG_TABLE):
        assert count(text) == estimate_tokens(text)


@pytest.mark.parametrize("reported", [10, 600, 10**6])
def test_what_cannot_be_the_count_of_the_prompt_teaches_nothing(reported: int) -> None:
    assert learned((PROMPT, reported))(PROMPT) == estimate_tokens(PROMPT)


def test_a_server_that_always_reports_a_full_window_does_not_spoil_the_count_for_good() -> None:
    count = LearnedCount("m")
    for text in ("", "Who?", PROMPT):
        count.learn([text], 512, filled=True)
    assert count(PROMPT) <= 4 * estimate_tokens(PROMPT)
    assert LearnedCount("m").ratios == count.ratios


def test_a_short_prompt_teaches_nothing() -> None:
    assert learned((TEXTS[0][:400], 200))(PROMPT) == estimate_tokens(PROMPT)


@pytest.mark.parametrize(
    "damaged",
    [
        *("", "[", "[]", "7", "[" * 10**5),
        *('{"m": 3}', '{"m": {"encoder": 1.1}}', '{"m": {"estimate": 1, "encoder": "x"}}', '{"m": {"estimate": NaN, "encoder": 1}}'),
        *('{"m": {"estimate": 1.0, "encoder": 0.1}}', '{"m": {"estimate": 1e308, "encoder": null}}'),
    ],
)
def test_a_damaged_file_is_passed_over_and_written_anew(damaged: str) -> None:
    tokens.ratios_path().write_text(damaged, encoding="utf-8")
    assert stored_ratios() == {}
    count = learned((PROMPT, int(estimate_tokens(PROMPT) * 0.63)))
    assert stored_ratios() == {"m": count.ratios}
    assert LearnedCount("m")(PROMPT) == count(PROMPT) < estimate_tokens(PROMPT)


def test_where_nothing_can_be_written_it_is_learned_all_the_same() -> None:
    tokens.ratios_path().mkdir()
    assert learned((PROMPT, int(estimate_tokens(PROMPT) * 0.63)))(PROMPT) < estimate_tokens(PROMPT)


def test_of_two_processes_the_higher_ratio_is_kept() -> None:
    first, second = LearnedCount("m"), LearnedCount("m")
    first.learn([PROMPT], int(estimate_tokens(PROMPT) * 0.75), filled=False)
    second.learn([PROMPT], int(estimate_tokens(PROMPT) * 0.63), filled=False)
    assert stored_ratios() == {"m": first.ratios}


def test_the_latest_models_are_remembered() -> None:
    for number in range(70):
        learned((PROMPT, int(estimate_tokens(PROMPT) * 0.63)), name=f"m{number}")
    assert [*stored_ratios()] == [f"m{number}" for number in range(6, 70)]


@pytest.mark.parametrize(("known", "share"), [({}, 1.0), ({"m": Ratios(1.0, 1.2)}, 0.8)])
def test_a_run_that_is_to_be_repeatable_goes_by_what_was_known_when_it_began(known: Mapping[str, Ratios], share: float) -> None:
    count = LearnedCount("m")
    held = KNOWN_AT_START.set(known)
    try:
        before = count(PROMPT)
        count.learn([PROMPT], int(estimate_tokens(PROMPT) * 0.63), filled=False)
        assert (count(PROMPT), before < estimate_tokens(PROMPT) * share) == (before, share < 1)
        count.learn([KOREAN_PAGE], estimate_tokens(KOREAN_PAGE) * 2, filled=True)
        assert count(KOREAN_PAGE) == estimate_tokens(KOREAN_PAGE) * 2, "what raises a count is used at once"
    finally:
        KNOWN_AT_START.reset(held)
    assert count(PROMPT) < 0.7 * estimate_tokens(PROMPT)


async def test_each_server_has_its_own(pair: tuple[Ollama, Ollama]) -> None:
    for server, share in zip(pair, (0.63, 0.75), strict=True):
        count = resolve_model("ollama:llama3.1:8b", ModelOptions(base_url=server.address)).count
        assert isinstance(count, LearnedCount)
        assert count(PROMPT) == estimate_tokens(PROMPT)
        count.learn([PROMPT], int(estimate_tokens(PROMPT) * share), filled=False)
        assert estimate_tokens(PROMPT) * (share - 0.01) < count(PROMPT) < estimate_tokens(PROMPT) * (share + 0.05)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("odd", [-5, -3.7, 10.5, "x", "12", [], {}, 1e30, 10**400, True, float("nan"), None, 0])
async def test_what_is_no_count_is_unknown_and_no_warning_is_printed(odd: Any) -> None:
    usage = {"prompt_tokens": odd, "completion_tokens": 5, "total_tokens": odd, "prompt_tokens_details": {"cached_tokens": odd}}
    with serving(lambda body: (200, completion('{"answer": "Marie Curie", "confidence": 0.9}', usage=usage))) as server:
        reply = await resolve_model("openai:m", ModelOptions(base_url=server.address)).reply(QUESTION, Answered)
    assert reply.parsed == Answered(answer="Marie Curie", confidence=0.9)
    assert reply.raw.usage_metadata is None
