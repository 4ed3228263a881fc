"""How many passages go into a window on Ollama, before and after its server has told how many tokens a prompt has."""

import json
import math
import time
from collections.abc import Callable

import pytest

from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from ramify.nodes.tree import Passage
from ramify.prompts.answer import ANSWER, Answered
from ramify.tools.demo import demo_corpus
from ramify.tools.errors import WindowError
from ramify.tools.models import tokens
from ramify.tools.models.tokens import passage_length, truncate_to_tokens
from tests.tools.ollama_replies import Request
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.questions import fresh

__all__ = ["fresh", "ollama"]

QUESTION = "Who discovered polonium?"
NAME = "ollama:llama3.1:8b"
WINDOW, REPLY = 8192, 512
LETTERS = 4.3
"""A token of LLaMA 3's has so many characters of English."""
ENGLISH = " ".join(json.loads(line)["text"] for line in demo_corpus().read_text(encoding="utf-8").splitlines())
KOREAN = "폴로늄은 1898년 7월 18일 마리 퀴리와 피에르 퀴리가 우라늄 광석인 피치블렌드에서 추출하여 발견하였다. " * 300


def counting(a_syllable: float = 0.9) -> Callable[[Request], int]:
    """Count as a model's tokenizer does, a syllable of Korean as told; a server's window holds no more."""

    def count(text: str) -> int:
        return math.ceil(sum(1 / LETTERS if letter.isascii() else a_syllable for letter in text)) + 5

    def reports(request: Request) -> int:
        return min(sum(count(message["content"]) for message in request["messages"]), request["options"]["num_ctx"])

    return reports


def passages(text: str, tokens: int = 300) -> tuple[Passage, ...]:
    """Cut twenty passages out of a text."""
    found, rest = [], text
    for number in range(20):
        part = truncate_to_tokens(rest, tokens, passage_length)
        rest = rest[len(part) :]
        found.append(Passage(id=f"p{number}", text=part, source="a.txt", score=1 - number / 100))
    return tuple(found)


async def asked(text: str = ENGLISH, tokens: int = 300) -> Reply[Answered]:
    shown = {"context_tokens": 100_000, "passage_tokens": tokens}
    given = Settings.model_validate({"model": NAME, "num_ctx": WINDOW, "num_predict": REPLY, **shown})
    with call_context(given, Budget.open(given, Usage(), time.time(), reserves_final_call=False)):
        return await ask(ANSWER, passages(text, tokens), question=QUESTION)


async def test_twenty_passages_fit_once_the_server_has_reported_what_a_prompt_has(ollama: Ollama) -> None:
    ollama.reports = counting()
    assert [len((await asked()).passages) for _ in range(3)] == [13, 20, 20]
    assert 0.8 * WINDOW < counting()(ollama.requests[-1]) <= WINDOW - REPLY


async def test_a_cached_prompt_takes_nothing_away(ollama: Ollama) -> None:
    whole, sent = counting(), []

    def reports(request: Request) -> int:
        """As Ollama 0.30.0: only what was newly read."""
        sent.append(request)
        return whole(request) if len(sent) == 1 else 10

    ollama.reports = reports
    assert [len((await asked()).passages) for _ in range(4)] == [13, 20, 20, 20]
    assert max(map(whole, sent)) <= WINDOW - REPLY


@pytest.mark.parametrize("told", [1, 10, 1500])
async def test_what_tells_of_a_part_of_the_prompt_lowers_no_estimate(ollama: Ollama, told: int) -> None:
    ollama.reports = lambda request: told
    assert [len((await asked()).passages) for _ in range(3)] == [13, 13, 13]


@pytest.mark.parametrize("a_syllable", [0.6, 0.9, 1.0])
async def test_what_was_learned_from_english_does_not_fill_the_window_with_korean(ollama: Ollama, a_syllable: float) -> None:
    ollama.reports = counting(a_syllable)
    before = len((await asked(KOREAN, 900)).passages)
    await asked()
    assert len((await asked(KOREAN, 900)).passages) in (before, before + 1), "the prompt's own words are English"
    assert counting(a_syllable)(ollama.requests[-1]) <= WINDOW - REPLY
    assert len(ollama.requests) == 3, "none was made anew"


async def test_a_window_that_was_filled_all_the_same_is_not_trusted(ollama: Ollama) -> None:
    """A tokenizer that spells Korean in bytes: the estimate was too low, and learns."""
    ollama.reports = counting(1.5)
    reply = await asked(KOREAN, 900)
    first, second = map(counting(1.5), ollama.requests)
    assert (first, second < WINDOW) == (WINDOW, True)
    shown = ollama.requests[-1]["messages"][-1]["content"]
    assert shown.count("</passage>") == len(reply.passages) < ollama.requests[0]["messages"][-1]["content"].count("</passage>")
    await asked(KOREAN, 900)
    assert len(ollama.requests) == 3, "the next prompt fits at once"


async def test_a_prompt_that_leaves_the_reply_no_room_is_noticed(ollama: Ollama) -> None:
    ollama.reports = counting()
    await asked()
    ollama.reports = lambda request: WINDOW - 5 if len(ollama.requests) == 2 else counting()(request)
    shown = len((await asked()).passages)
    assert (shown < 20, len(ollama.requests)) == (True, 3)


async def test_a_window_that_is_always_filled_fails_that_branch(ollama: Ollama) -> None:
    ollama.reports = lambda request: WINDOW
    with pytest.raises(WindowError, match="num_ctx 8192 — raise num_ctx"):
        await asked()
    assert len(ollama.requests) == 2


async def test_nothing_is_saved_where_what_was_learned_filled_a_window(ollama: Ollama) -> None:
    ollama.reports = counting()
    await asked()
    ollama.reports = lambda request: WINDOW if request["messages"][-1]["content"].count("</passage>") > 15 else counting()(request)
    assert [len((await asked()).passages) for _ in range(2)] == [13, 13]
    assert len(ollama.requests) == 4


async def test_it_is_remembered_for_the_next_process(ollama: Ollama) -> None:
    ollama.reports = counting()
    await asked()
    place = f"{NAME} at {ollama.address}"
    later = tokens.LearnedCount(place)
    (sent,) = ollama.requests
    assert counting()(sent) <= sum(later(message["content"]) for message in sent["messages"]) < 1.05 * counting()(sent)
    assert list(tokens.stored_ratios()) == [place]
