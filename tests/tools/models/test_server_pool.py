"""One model at several servers: shared out, left out, looked at again."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from ramify.tools.errors import ModelError, ReplyError, UsageError
from ramify.tools.models import Model, ModelOptions, clear_cache, resolve_model
from ramify.tools.models import concurrency as health
from ramify.tools.models.reply_parsing import Structured
from tests.tools.model_process import processes
from tests.tools.ollama_replies import Fail, Hang, Say
from tests.tools.ollama_server import Ollama
from tests.tools.ollama_server import serving as serving_ollama
from tests.tools.openai_server import OpenAI, completion, serving
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, auto, fresh

__all__ = ["fresh"]


LLAMA = "ollama:llama3.1:8b"


REPLY = completion('{"answer": "Marie Curie", "confidence": 0.9}')


VLLM = {"id": "local", "owned_by": "vllm", "max_model_len": 8192}


def at(*servers: Any, model: str = LLAMA, **options: Any) -> Model:
    return resolve_model(model, ModelOptions(base_url=" ".join(getattr(server, "address", server) for server in servers), **options))


async def ask(model: Model, times: int = 1) -> list[Structured]:
    return await asyncio.gather(*(model.reply(QUESTION, Answered) for _ in range(times)))


@contextmanager
def two(*entries: Any) -> Iterator[tuple[OpenAI, OpenAI]]:
    """Two servers of OpenAI's protocol, each with an entry of its own in the list of models."""
    with ExitStack() as stack:
        lists: list[Any] = [lambda _, entry=entry: (200, {"data": [entry]}) for entry in entries]
        first, second = (stack.enter_context(serving(lambda asked: (200, REPLY), v1_models=told)) for told in lists)
        yield first, second


async def test_each_server_gets_as_many_calls_as_it_serves(pair: tuple[Ollama, Ollama]) -> None:
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
        assert any("provides no log probabilities" in told for told in model.learned_notices)
    assert [asked.get("logprobs") for asked in rich.asked] == [True] * len(rich.asked)
    assert [asked.get("logprobs") for asked in poor.asked].count(True) == 1


@pytest.mark.parametrize("place", [0, 1])
async def test_one_that_is_not_there_is_left_out(ollama_one: Ollama, place: int) -> None:
    several: list[Any] = [ollama_one]
    several.insert(place, NOWHERE)
    model = at(*several)
    assert [reply.parsed for reply in await ask(model, times=3)] == [Answered(**GOOD)] * 3
    why = f"no Ollama server answers at {NOWHERE}: the server is excluded and checked again periodically"
    assert why in model.notices
    assert f"{LLAMA} is used at 2 servers: {', '.join(getattr(one, 'address', one) for one in several)}" in model.notices
    assert model.learned_notices == [why]


async def test_where_none_is_there_one_error_names_all() -> None:
    with pytest.raises(ModelError) as caught:
        at(NOWHERE, "http://someone:secret-word@127.0.0.1:10")
    assert all(fact in caught.value.what for fact in ("2 servers", "http://127.0.0.1:9;", "http://127.0.0.1:10"))
    assert "`ollama serve`" in caught.value.remedy
    assert "secret-word" not in str(caught.value)
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
    assert any(f"Ollama at {pair[0].address} does not have 'llama3.1:8b': the server is excluded" in told for told in model.notices)
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
    assert any("is not available: that server offers" in told for told in model.notices) is not taken


async def test_one_that_does_not_let_us_in_is_left_out() -> None:
    locked = {"v1_models": lambda _: (401, {"error": {"message": "who are you?"}})}
    with serving(lambda asked: (200, REPLY)) as plain, serving(lambda asked: (200, REPLY), **locked) as other:
        model = at(other, plain, model="openai:local")
        await ask(model)
    assert len(plain.asked) == 1
    assert model.learned_notices == [
        f"openai:local at {other.address} refuses access: the server is excluded and checked again periodically"
    ]


async def test_the_smallest_window_counts() -> None:
    with two(VLLM, {**VLLM, "max_model_len": 2048}) as servers:
        model = at(*servers, model="openai:local")
    assert model.num_ctx == 2048
    assert model.notices[0].endswith("their windows differ, and prompts are made for the smallest, of 2048 tokens")


def test_an_invalid_address_is_an_error_at_once(pair: tuple[Ollama, Ollama]) -> None:
    with pytest.raises(UsageError, match=r"'http://127\.0\.0\.1:x' is not an address"):
        at(pair[0], "http://127.0.0.1:x")
    with pytest.raises(UsageError, match=r"'http://127\.0\.0\.1:9/v1,127\.0\.0\.1:80' is not an address"):
        at(f"{NOWHERE}/v1,127.0.0.1:80", model="openai:local")


@pytest.mark.parametrize("trouble", [Fail(500, "out of memory"), Fail(429, "slow down"), Fail(-1, "runner has stopped"), Fail(403, "no")])
async def test_what_fails_at_one_is_asked_at_another(pair: tuple[Ollama, Ollama], trouble: Fail) -> None:
    ill, well = pair
    ill._rules.clear()
    ill.when("polonium", trouble)
    model = at(*pair, max_concurrency=1)
    assert [reply.parsed for reply in await ask(model, times=6)] == [Answered(**GOOD)] * 6
    assert len(well.requests) == 6
    assert 1 <= len(ill.requests) <= health.MAX_CONSECUTIVE_FAILURES, "it is left out after some failures"


async def test_a_call_that_no_server_serves_is_an_error_and_the_servers_are_asked_on(pair: tuple[Ollama, Ollama]) -> None:
    for server in pair:
        server._rules.clear()
        server.when("polonium", Fail(500, "cannot do that"))
    model = at(*pair)
    with pytest.raises(ReplyError, match=r"cannot do that.*, also on a retry"):
        await ask(model)
    for server in pair:
        server._rules.clear()
        server.when("polonium", Say(GOOD))
    assert (await ask(model))[0].parsed == Answered(**GOOD)


async def test_what_is_wrong_with_the_call_itself_is_not_asked_elsewhere(pair: tuple[Ollama, Ollama]) -> None:
    for server in pair:
        server._rules.clear()
        server.when("polonium", Fail(400, "invalid format"))
    with pytest.raises(ReplyError, match="invalid format"):
        await ask(at(*pair))
    assert sum(len(server.requests) for server in pair) == 1


async def test_a_silent_one_is_left_out_and_the_call_made_elsewhere(pair: tuple[Ollama, Ollama]) -> None:
    pair[0]._rules.clear()
    pair[0].when("polonium", Hang())
    model = at(*pair, timeout=1.5)
    assert [reply.parsed for reply in await ask(model, times=2)] == [Answered(**GOOD)] * 2
    assert len(pair[0].requests) == 1
    assert model.learned_notices == [
        f"{LLAMA} at {pair[0].address} gave no reply within 1.5 s: the server is excluded and checked again periodically"
    ]


async def test_a_call_waits_in_vain_at_two_servers_at_most() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(serving_ollama()) for _ in range(3)]
        for server in servers:
            server.when("polonium", Hang())
        with pytest.raises(ReplyError, match=r"gave no reply within 0\.2 s — raise timeout"):
            await ask(at(*servers, timeout=0.2))
        assert sum(len(server.requests) for server in servers) == 2


async def test_a_call_that_takes_too_long_is_not_made_again_where_there_is_no_other_server(ollama_one: Ollama) -> None:
    ollama_one._rules.clear()
    ollama_one.when("polonium", Hang())
    with pytest.raises(ReplyError, match=r"gave no reply within 0\.2 s — raise timeout"):
        await ask(at(ollama_one, NOWHERE, timeout=0.2))
    assert len(ollama_one.requests) == 1


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks again at once at what is left out."""
    monkeypatch.setattr(health, "FIRST_CHECK_S", 0.0)
    monkeypatch.setattr(health, "MAX_CHECK_S", 0.1)


async def until(done: Callable[[], bool], meanwhile: Callable[[], Any]) -> None:
    """Do something again and again until that is done."""
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        await meanwhile()


@pytest.mark.usefixtures("soon")
async def test_a_killed_server_costs_no_call_and_is_asked_again_when_it_is_back() -> None:
    with processes(2, seconds=0.05, at_once=4) as (stays, dies):
        model = at(stays, dies, model="openai:local", max_concurrency=4)
        under_way = [asyncio.create_task(model.reply(QUESTION, Answered)) for _ in range(24)]
        await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        dies.kill()
        assert all(reply.parsed for reply in await asyncio.gather(*under_way))
        assert any(dies.address in told and "excluded" in told for told in model.learned_notices)
        await ask(model, times=4)
        dies.start()
        await until(lambda: dies.calls > 0, lambda: ask(model, times=8))
        assert model.learned_notices == []


@pytest.mark.usefixtures("soon")
async def test_one_that_was_not_there_at_the_start_is_taken_when_it_comes(ollama_one: Ollama) -> None:
    with serving_ollama() as late:
        port = int(late.address.rpartition(":")[2])
    model = at(ollama_one, late.address, max_concurrency=1)
    assert any("excluded" in told for told in model.notices)
    with serving_ollama(port) as late:
        await until(lambda: bool(late.requests), lambda: ask(model, times=4))
        assert model.learned_notices == []


async def test_when_all_are_dead_and_one_is_back_the_next_call_finds_it() -> None:
    with processes(2) as servers:
        model = at(*servers, model="openai:local")
        for server in servers:
            server.kill()
        with pytest.raises(ModelError, match="none of the 2 servers can be used"):
            await ask(model)
        servers[1].start()
        await ask(model, times=2)
        assert servers[1].calls == 2


async def test_calls_waiting_for_a_dead_server_fail_or_move() -> None:
    """All places are taken, and others wait, when the only server that is asked dies: they are told, and none waits for ever."""
    with processes(1, seconds=60, at_once=1) as (server,):
        model = at(server, f"{NOWHERE}/v1", model="openai:local", max_concurrency=1)
        under_way = [asyncio.create_task(model.reply(QUESTION, Answered)) for _ in range(5)]
        await asyncio.sleep(0.5)
        server.kill()
        errors = await asyncio.wait_for(asyncio.gather(*under_way, return_exceptions=True), timeout=30)
    assert {type(error) for error in errors} == {ModelError}


async def test_a_frozen_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from ramify.tools.models import server_info as served

    monkeypatch.setattr(served, "INFO_TIMEOUT_S", 2.0)
    with processes(2) as (well, frozen):
        assert frozen.process is not None
        os.kill(frozen.process.pid, signal.SIGSTOP)
        try:
            model = at(frozen, well, model="openai:local")
            await ask(model, times=3)
        finally:
            os.kill(frozen.process.pid, signal.SIGCONT)
        assert well.calls == 3


async def test_what_is_known_of_a_server_outlasts_a_fresh_look(pair: tuple[Ollama, Ollama]) -> None:
    pair[0]._rules.clear()
    pair[0].when("polonium", Fail(403, "no"))
    await ask(at(*pair))
    clear_cache()
    model = at(*pair)
    assert model.learned_notices == [], "looked up afresh, it answered"
    assert (await ask(model))[0].parsed == Answered(**GOOD)


def test_event_loops_share_the_servers(pair: tuple[Ollama, Ollama]) -> None:
    model = at(*pair, max_concurrency=2)
    threads = [threading.Thread(target=lambda: asyncio.run(ask(model, times=6))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sum(len(server.requests) for server in pair) == 18
    assert max(server.most_busy for server in pair) <= 2
