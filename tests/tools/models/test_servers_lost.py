"""Servers that fail, hang or die: the call is made elsewhere, and they are asked again when they are back."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from ramify.tools.errors import ModelError, ReplyError
from ramify.tools.models import forget
from ramify.tools.models import server_record as health
from tests.tools.model_process import processes
from tests.tools.models.test_server_pool import LLAMA, ask, at
from tests.tools.ollama_replies import Fail, Hang, Say
from tests.tools.ollama_server import Ollama
from tests.tools.ollama_server import serving as serving_ollama
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, fresh

__all__ = ["fresh"]


@pytest.mark.parametrize("trouble", [Fail(500, "out of memory"), Fail(429, "slow down"), Fail(-1, "runner has stopped"), Fail(403, "no")])
async def test_what_fails_at_one_is_asked_at_another(pair: tuple[Ollama, Ollama], trouble: Fail) -> None:
    ill, well = pair
    ill._rules.clear()
    ill.when("polonium", trouble)
    model = at(*pair, max_concurrency=1)
    assert [reply.parsed for reply in await ask(model, times=6)] == [Answered(**GOOD)] * 6
    assert len(well.requests) == 6
    assert 1 <= len(ill.requests) <= health.IN_A_ROW, "it is left out after some failures"


async def test_a_call_that_no_server_serves_is_an_error_and_the_servers_are_asked_on(pair: tuple[Ollama, Ollama]) -> None:
    for server in pair:
        server._rules.clear()
        server.when("polonium", Fail(500, "cannot do that"))
    model = at(*pair)
    with pytest.raises(ReplyError, match=r"cannot do that.*, also when asked again"):
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
    assert model.told == [f"{LLAMA} at {pair[0].address} gave no reply within 1.5 s: it is left out, and looked at again from time to time"]


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
    monkeypatch.setattr(health, "FIRST", 0.0)
    monkeypatch.setattr(health, "LONGEST", 0.1)


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
        assert any(dies.address in told and "left out" in told for told in model.told)
        await ask(model, times=4)
        dies.start()
        await until(lambda: dies.calls > 0, lambda: ask(model, times=8))
        assert model.told == []


@pytest.mark.usefixtures("soon")
async def test_one_that_was_not_there_at_the_start_is_taken_when_it_comes(ollama_one: Ollama) -> None:
    with serving_ollama() as late:
        port = int(late.address.rpartition(":")[2])
    model = at(ollama_one, late.address, max_concurrency=1)
    assert any("left out" in told for told in model.notices)
    with serving_ollama(port) as late:
        await until(lambda: bool(late.requests), lambda: ask(model, times=4))
        assert model.told == []


async def test_when_all_are_dead_and_one_is_back_the_next_call_finds_it() -> None:
    with processes(2) as servers:
        model = at(*servers, model="openai:local")
        for server in servers:
            server.kill()
        with pytest.raises(ModelError, match="none of the 2 servers can be asked"):
            await ask(model)
        servers[1].start()
        await ask(model, times=2)
        assert servers[1].calls == 2


async def test_calls_that_wait_for_a_server_when_it_dies_are_told() -> None:
    """All places are taken, and others wait, when the only server that is asked dies: they are told, and none waits for ever."""
    with processes(1, seconds=60, at_once=1) as (server,):
        model = at(server, f"{NOWHERE}/v1", model="openai:local", max_concurrency=1)
        under_way = [asyncio.create_task(model.reply(QUESTION, Answered)) for _ in range(5)]
        await asyncio.sleep(0.5)
        server.kill()
        errors = await asyncio.wait_for(asyncio.gather(*under_way, return_exceptions=True), timeout=30)
    assert {type(error) for error in errors} == {ModelError}


async def test_a_frozen_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from ramify.tools.models import server_questions as served

    monkeypatch.setattr(served, "PATIENCE", 2.0)
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
    forget()
    model = at(*pair)
    assert model.told == [], "looked up afresh, it answered"
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
