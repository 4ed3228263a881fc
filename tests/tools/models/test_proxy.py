"""Several servers behind nginx, with the configuration of docs/operating.md: skipped where nginx is not installed."""

import asyncio

import pytest

from ramify.tools.models import ModelOptions, clear_cache, resolve_model
from tests.tools.model_process import processes
from tests.tools.nginx import PROGRAM, proxied
from tests.tools.questions import QUESTION, Answered

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")


async def test_a_server_killed_in_the_middle_loses_no_answer() -> None:
    clear_cache()
    with processes(2, seconds=0.05, at_once=1) as (stays, dies), proxied([stays.port, dies.port]) as address:
        model = resolve_model("openai:local", ModelOptions(base_url=address, max_concurrency=4))
        assert model.num_ctx == 8192, "the window is read through the proxy"
        calls = [asyncio.create_task(model.reply(QUESTION, Answered)) for _ in range(24)]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert dies.calls + stays.calls > 0
        dies.kill()
        assert all(reply.parsed for reply in await asyncio.gather(*calls))
        assert stays.calls >= 12


async def test_a_server_that_was_never_there_costs_no_answer() -> None:
    clear_cache()
    with processes(1) as (server,), proxied([server.port, 9]) as address:
        model = resolve_model("openai:local", ModelOptions(base_url=address))
        assert all([(await model.reply(QUESTION, Answered)).parsed for _ in range(6)])
        assert server.calls == 6
