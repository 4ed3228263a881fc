"""What is learned of a model's tokens, and where it is kept."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.tools.demo import demo_corpus
from ramify.tools.models import ModelOptions, learned_tokens, resolve
from ramify.tools.models.learned_tokens import KNOWN_AT_START, LearnedCount, Ratios, kept_ratios
from ramify.tools.models.tokens import by_encoder, estimate, passage_length
from tests.tools.ollama_server import Ollama
from tests.tools.openai_server import completion, serving
from tests.tools.questions import QUESTION, Answered, fresh

__all__ = ["fresh"]

TEXTS = [json.loads(line)["text"] for line in demo_corpus().read_text(encoding="utf-8").splitlines()]
PROMPT = "\n".join(TEXTS[:20])
KOREAN = "마리 퀴리는 폴란드 출신의 프랑스 물리학자이자 화학자로, 방사능 연구의 선구자이며 노벨상을 받은 최초의 여성이다. " * 40
TABLE = "1 2 3 4 5\n6 7 8 9 10\n" * 100


def learned(*reports: tuple[str, int], name: str = "m") -> LearnedCount:
    count = LearnedCount(name)
    for text, reported in reports:
        count.learn([text], reported, filled=False)
    return count


def test_the_estimate_stands_until_something_was_learned() -> None:
    assert learned()(PROMPT) == estimate(PROMPT)


@settings(deadline=None)  # the encoder's tokenizer is loaded once
@given(st.lists(st.tuples(st.sampled_from([PROMPT, PROMPT[:6000], KOREAN, TABLE]), st.floats(0.01, 1.4)), max_size=6))
def test_no_prompt_is_counted_lower_than_it_was_reported(reports: list[tuple[str, float]]) -> None:
    told = [(text, int(estimate(text) * share)) for text, share in reports]
    count = learned(*told, name=str(len(kept_ratios())))
    assert all(count(text) >= reported for text, reported in told if reported <= len(text.encode()))


def test_it_is_never_below_the_encoders_own_count() -> None:
    floor = by_encoder(PROMPT)
    assert floor is not None
    assert floor >= passage_length(PROMPT)
    assert learned((PROMPT, int(floor * 0.8)))(PROMPT) == floor


def test_other_scripts_and_tables_keep_their_estimate() -> None:
    count = learned((PROMPT, int(estimate(PROMPT) * 0.63)))
    assert count(PROMPT) < 0.7 * estimate(PROMPT)
    for text in (KOREAN, "ภาษาไทยเขียนติดกันโดยไม่เว้นวรรค" * 20, "🜁🜂🜃🜄" * 50, "ACGT" * 200, TABLE):
        assert count(text) == estimate(text)


@pytest.mark.parametrize("reported", [10, 600, 10**6])
def test_what_cannot_be_the_count_of_the_prompt_teaches_nothing(reported: int) -> None:
    assert learned((PROMPT, reported))(PROMPT) == estimate(PROMPT)


def test_a_server_that_always_reports_a_full_window_does_not_spoil_the_count_for_good() -> None:
    count = LearnedCount("m")
    for text in ("", "Who?", PROMPT):
        count.learn([text], 512, filled=True)
    assert count(PROMPT) <= 4 * estimate(PROMPT)
    assert LearnedCount("m").ratios == count.ratios


def test_a_short_prompt_teaches_nothing() -> None:
    assert learned((TEXTS[0][:400], 200))(PROMPT) == estimate(PROMPT)


@pytest.mark.parametrize(
    "damaged",
    [
        *("", "[", "[]", "7", "[" * 10**5),
        *('{"m": 3}', '{"m": {"encoder": 1.1}}', '{"m": {"estimate": 1, "encoder": "x"}}', '{"m": {"estimate": NaN, "encoder": 1}}'),
        *('{"m": {"estimate": 1.0, "encoder": 0.1}}', '{"m": {"estimate": 1e308, "encoder": null}}'),
    ],
)
def test_a_damaged_file_is_passed_over_and_written_anew(damaged: str) -> None:
    learned_tokens.kept_in().write_text(damaged, encoding="utf-8")
    assert kept_ratios() == {}
    count = learned((PROMPT, int(estimate(PROMPT) * 0.63)))
    assert kept_ratios() == {"m": count.ratios}
    assert LearnedCount("m")(PROMPT) == count(PROMPT) < estimate(PROMPT)


def test_where_nothing_can_be_written_it_is_learned_all_the_same() -> None:
    learned_tokens.kept_in().mkdir()
    assert learned((PROMPT, int(estimate(PROMPT) * 0.63)))(PROMPT) < estimate(PROMPT)


def test_of_two_processes_the_higher_ratio_is_kept() -> None:
    first, second = LearnedCount("m"), LearnedCount("m")
    first.learn([PROMPT], int(estimate(PROMPT) * 0.75), filled=False)
    second.learn([PROMPT], int(estimate(PROMPT) * 0.63), filled=False)
    assert kept_ratios() == {"m": first.ratios}


def test_the_latest_models_are_remembered() -> None:
    for number in range(70):
        learned((PROMPT, int(estimate(PROMPT) * 0.63)), name=f"m{number}")
    assert [*kept_ratios()] == [f"m{number}" for number in range(6, 70)]


@pytest.mark.parametrize(("known", "share"), [({}, 1.0), ({"m": Ratios(1.0, 1.2)}, 0.8)])
def test_a_run_that_is_to_be_repeatable_goes_by_what_was_known_when_it_began(known: Mapping[str, Ratios], share: float) -> None:
    count = LearnedCount("m")
    held = KNOWN_AT_START.set(known)
    try:
        before = count(PROMPT)
        count.learn([PROMPT], int(estimate(PROMPT) * 0.63), filled=False)
        assert (count(PROMPT), before < estimate(PROMPT) * share) == (before, share < 1)
        count.learn([KOREAN], estimate(KOREAN) * 2, filled=True)
        assert count(KOREAN) == estimate(KOREAN) * 2, "what raises a count is used at once"
    finally:
        KNOWN_AT_START.reset(held)
    assert count(PROMPT) < 0.7 * estimate(PROMPT)


async def test_each_of_several_servers_has_its_own_and_a_prompt_fits_into_all(pair: tuple[Ollama, Ollama]) -> None:
    first, second = pair
    model = resolve("ollama:llama3.1:8b", ModelOptions(base_url=f"{first.address} {second.address}"))
    for server, share in ((first, 0.63), (second, 0.75)):
        assert model.count(PROMPT) == estimate(PROMPT)
        seat = resolve("ollama:llama3.1:8b", ModelOptions(base_url=server.address))
        assert isinstance(seat.count, LearnedCount)
        seat.count.learn([PROMPT], int(estimate(PROMPT) * share), filled=False)
    assert estimate(PROMPT) * 0.74 < model.count(PROMPT) < estimate(PROMPT) * 0.8


@pytest.mark.parametrize("odd", [-5, -3.7, 10.5, "x", "12", [], {}, 1e30, 10**400, True, float("nan")])
async def test_what_is_no_count_is_passed_over(odd: Any) -> None:
    usage = {"prompt_tokens": odd, "completion_tokens": 5, "total_tokens": 5}
    with serving(lambda body: (200, completion('{"answer": "Marie Curie", "confidence": 0.9}', usage=usage))) as server:
        reply = await resolve("openai:m", ModelOptions(base_url=server.address)).reply(QUESTION, Answered)
    assert reply.parsed == Answered(answer="Marie Curie", confidence=0.9)
    told = reply.raw.usage_metadata
    assert told is None or type(told["input_tokens"]) is int
