import re

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from ramify.tools.models.tokens import counter, cut, estimate

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
    assert estimate(text) >= len(SPLIT.findall(text))


@pytest.mark.parametrize("text", [ENGLISH, KOREAN])
def test_the_estimate_is_at_least_a_token_for_three_bytes_of_prose(text: str) -> None:
    assert len(text.encode()) / 3 <= estimate(text) + 1 <= len(text.encode()) / 2


def test_numbers_in_a_table_are_a_token_each_and_so_are_the_spaces() -> None:
    assert estimate(TABLE) >= len(re.findall(r"\d+|\s", TABLE))


def test_a_model_without_a_server_is_estimated() -> None:
    assert counter(FakeListChatModel(responses=["yes"])) is estimate


def test_a_count_given_with_the_model_is_used() -> None:
    chat = FakeListChatModel(responses=["yes"], custom_get_token_ids=lambda text: list(range(len(text))))
    assert counter(chat)("hello") == 5


@given(st.one_of(ORDINARY, st.text(max_size=60)), st.integers(0, 60))
def test_a_cut_text_fits_and_begins_the_text(text: str, tokens: int) -> None:
    short = cut(text, tokens, estimate)
    assert text.startswith(short)
    assert estimate(short) <= tokens


def test_it_cuts_between_words() -> None:
    short = cut(ENGLISH, 20, estimate)
    assert ENGLISH[len(short)] == " "
    assert estimate(ENGLISH[: ENGLISH.index(" ", len(short) + 1)]) > 20


def test_a_text_that_fits_is_left_alone() -> None:
    assert cut(f"  {ENGLISH}\n", 10_000, estimate) == f"  {ENGLISH}\n"


def test_a_word_longer_than_the_room_is_cut_inside() -> None:
    assert cut("안" * 50, 10, estimate) == "안" * 10
