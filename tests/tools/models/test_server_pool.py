"""One model at several servers: shared out, left out, looked at again."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import Model, ModelOptions, resolve
from ramify.tools.models.reply_parsing import Structured
from tests.tools.ollama_server import Ollama
from tests.tools.openai_server import OpenAI, completion, serving
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, auto, fresh

__all__ = ["fresh"]


LLAMA = "ollama:llama3.1:8b"


REPLY = completion('{"answer": "Marie Curie", "confidence": 0.9}')


VLLM = {"id": "local", "owned_by": "vllm", "max_model_len": 8192}


def at(*servers: Any, model: str = LLAMA, **options: Any) -> Model:
    return resolve(model, ModelOptions(base_url=" ".join(getattr(server, "address", server) for server in servers), **options))


async def ask(model: Model, times: int = 1) -> list[Structured]:
    return await asyncio.gather(*(model.reply(QUESTION, Answered) for _ in range(times)))


@contextmanager
def two(*entries: Any) -> Iterator[tuple[OpenAI, OpenAI]]:
    """Two servers of OpenAI's protocol, each with an entry of its own in the list of models."""
    with ExitStack() as stack:
        lists: list[Any] = [lambda _, entry=entry: (200, {"data": [entry]}) for entry in entries]
        first, second = (stack.enter_context(serving(lambda asked: (200, REPLY), v1_models=told)) for told in lists)
        yield first, second


async def test_each_server_is_given_as_many_calls_as_it_takes(pair: tuple[Ollama, Ollama]) -> None:
    for server in pair:
        server.wait_for = 3  # replies are held back until so many are there: so that each has its own, others waiting or not
    await ask(at(*pair, max_concurrency=3), times=12)
    assert [server.most_busy for server in pair] == [3, 3]
    assert sum(len(server.requests) for server in pair) == 12


async def test_who_is_busy_is_spared(pair: tuple[Ollama, Ollama]) -> None:
    slow, quick = pair
    slow.slots, slow.seconds = threading.Semaphore(1), 30.0  # given up when the test ends
    model = at(*pair, max_concurrency=2)
    held = [asyncio.create_task(model.reply(QUESTION, Answered)) for _ in range(3)]  # two go to the first
    await asyncio.to_thread(slow.wait_for_calls, 2)
    await ask(model, times=6)
    assert (len(slow.requests), len(quick.requests)) == (2, 7)
    for task in held:
        task.cancel()
    await asyncio.gather(*held, return_exceptions=True)


async def test_one_after_another_goes_to_the_first_whose_cache_is_warm(pair: tuple[Ollama, Ollama]) -> None:
    model = at(*pair)
    for _ in range(3):
        await ask(model)
    assert (len(pair[0].requests), len(pair[1].requests)) == (3, 0)


async def test_what_one_refuses_another_is_still_asked_for() -> None:
    def refuse(asked: dict[str, Any]) -> tuple[int, Any]:
        return (400, {"error": {"message": "logprobs are not supported"}}) if asked.get("logprobs") else (200, REPLY)

    with serving(refuse) as poor, serving(lambda asked: (200, REPLY)) as rich:
        model = at(poor, rich, model="openai:local", max_concurrency=1)
        await ask(model, times=4)
        assert any("gives no log probabilities" in told for told in model.told)
    assert [asked.get("logprobs") for asked in rich.asked] == [True] * len(rich.asked)
    assert [asked.get("logprobs") for asked in poor.asked].count(True) == 1


@pytest.mark.parametrize("place", [0, 1])
async def test_one_that_is_not_there_is_left_out(ollama_one: Ollama, place: int) -> None:
    several: list[Any] = [ollama_one]
    several.insert(place, NOWHERE)
    model = at(*several)
    assert [reply.parsed for reply in await ask(model, times=3)] == [Answered(**GOOD)] * 3
    why = f"no Ollama server answers at {NOWHERE}: it is left out, and looked at again from time to time"
    assert why in model.notices
    assert f"{LLAMA} is asked at 2 servers: {', '.join(getattr(one, 'address', one) for one in several)}" in model.notices
    assert model.told == [why]


async def test_where_none_is_there_one_error_names_all() -> None:
    with pytest.raises(ModelError) as caught:
        at(NOWHERE, "http://someone:secret-word@127.0.0.1:10")
    assert str(caught.value) == (
        "none of the 2 servers can be asked: no Ollama server answers at http://127.0.0.1:9; no Ollama server answers at "
        "http://127.0.0.1:10 — start it with `ollama serve`"
    )
    with pytest.raises(ModelError, match=r"openai:local at http://127\.0\.0\.1:9/v1 cannot be reached; openai:local at http://127"):
        at(f"{NOWHERE}/v1", "http://127.0.0.1:10/v1", model="openai:local")


async def test_auto_takes_several_hosts_too(ollama_one: Ollama) -> None:
    assert auto(base_url=f"127.0.0.1:9 {ollama_one.address.removeprefix('http://')}").name == LLAMA
    with pytest.raises(ModelError, match=r"--base-url http://127\.0\.0\.1:9 --base-url http://127\.0\.0\.1:10`"):
        auto(base_url=f"{NOWHERE} http://127.0.0.1:10")


async def test_one_without_the_model_is_left_out(pair: tuple[Ollama, Ollama]) -> None:
    pair[0].models.clear()
    model = at(*pair)
    await ask(model)
    assert len(pair[1].requests) == 1
    assert any(f"Ollama at {pair[0].address} does not have 'llama3.1:8b': it is left out" in told for told in model.notices)
    pair[1].models.clear()
    with pytest.raises(ModelError, match=r"does not have 'llama3\.1:8b' — run `ollama pull llama3\.1:8b`"):
        await ask(model)


@pytest.mark.parametrize(
    ("listed", "taken"),
    [
        ({"data": [{**VLLM, "id": "other"}]}, False),
        ({"data": [{"id": "a"}, {"id": "b"}]}, False),
        ({"data": []}, False),
        ({"data": [{"id": "/models/any.gguf", "owned_by": "llamacpp"}]}, True),
        ({"data": [{"id": "a"}, {"id": "local"}]}, True),
        ("no list", True),
    ],
)
async def test_who_offers_another_model_is_left_out(listed: Any, taken: bool) -> None:
    with serving(lambda asked: (200, REPLY)) as plain, serving(lambda asked: (200, REPLY), v1_models=lambda _: (200, listed)) as other:
        model = at(plain, other, model="openai:local", max_concurrency=1)
        await ask(model, times=2)
    assert (len(plain.asked), len(other.asked)) == ((1, 1) if taken else (2, 0))
    assert any("is not there: that server offers" in told for told in model.notices) is not taken


async def test_one_that_does_not_let_us_in_is_left_out() -> None:
    locked = {"v1_models": lambda _: (401, {"error": {"message": "who are you?"}})}
    with serving(lambda asked: (200, REPLY)) as plain, serving(lambda asked: (200, REPLY), **locked) as other:
        model = at(other, plain, model="openai:local")
        await ask(model)
    assert len(plain.asked) == 1
    assert model.told == [f"openai:local at {other.address} refuses access: it is left out, and looked at again from time to time"]


async def test_the_smallest_window_counts() -> None:
    with two(VLLM, {**VLLM, "max_model_len": 2048}) as servers:
        model = at(*servers, model="openai:local")
    assert model.num_ctx == 2048
    assert model.notices[0].endswith("their windows differ, and prompts are made for the smallest, of 2048 tokens")


def test_an_address_that_is_none_is_an_error_at_once(pair: tuple[Ollama, Ollama]) -> None:
    with pytest.raises(UsageError, match=r"'http://127\.0\.0\.1:x' is not an address"):
        at(pair[0], "http://127.0.0.1:x")
    with pytest.raises(UsageError, match=r"'http://127\.0\.0\.1:9/v1,127\.0\.0\.1:80' is not an address"):
        at(f"{NOWHERE}/v1,127.0.0.1:80", model="openai:local")
