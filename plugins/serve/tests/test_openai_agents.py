"""Agents of the OpenAI Agents SDK that ask over MCP: sync, async and streamed, given up half way, and in a session that goes on."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

from plugins.serve.tests.conftest import TIMEOUT_S, wait_until
from plugins.serve.tests.test_mcp import fake_model, running_server
from ramify.serve.questions import QuestionQueue
from tests.fakes import FakeModel
from tests.openai_agents import ScriptedByOpenAI
from tests.river import FIRST, QUESTION

SLOW_S = 60.0


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    """Send nothing to OpenAI."""
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)


def documents(address: str) -> MCPServerStreamableHttp:
    return MCPServerStreamableHttp({"url": address, "timeout": TIMEOUT_S}, client_session_timeout_seconds=TIMEOUT_S)


def reader(server: MCPServerStreamableHttp) -> Agent:
    return Agent("reader", model=ScriptedByOpenAI(), mcp_servers=[server])


@asynccontextmanager
async def asked(model: FakeModel) -> AsyncIterator[tuple[Agent, QuestionQueue]]:
    """Give an agent that is connected with a server, and what is asked there."""
    with running_server(model) as (address, questions, _):
        async with documents(address) as server:
            yield reader(server), questions


async def counted(questions: QuestionQueue, count: int) -> None:
    """Wait until so many questions are being answered."""
    await asyncio.to_thread(wait_until, lambda: questions.count == count)


def run_in_own_loop(address: str) -> str:
    """Run an agent as a synchronous program does; the SDK closes the connection after it, so there is one run for each."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # of this thread: `run_sync` takes it
    server = documents(address)
    loop.run_until_complete(server.connect())
    try:
        return str(Runner.run_sync(reader(server), QUESTION).final_output)
    finally:
        loop.run_until_complete(server.cleanup())
        asyncio.set_event_loop(None)
        loop.close()


async def test_a_synchronous_run_in_a_thread_gets_the_answer() -> None:
    with running_server(fake_model()) as (address, questions, _):
        told = await asyncio.to_thread(run_in_own_loop, address)
        assert questions.count == 0
    assert told.startswith("Answer: Seine\n")


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_asynchronous_run_gets_the_answer(streamed: bool) -> None:
    async with asked(fake_model()) as (agent, _):
        if streamed:
            run: Any = Runner.run_streamed(agent, QUESTION)
            names = [event.name async for event in run.stream_events() if event.type == "run_item_stream_event"]
            assert names == ["tool_called", "tool_output", "message_output_created"]
        else:
            run = await Runner.run(agent, QUESTION)
    assert run.final_output.startswith("Answer: Seine\n")


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_run_given_up_half_way_stops_the_question_on_the_server(streamed: bool) -> None:
    model = fake_model(latency=SLOW_S)
    async with asked(model) as (agent, questions):
        if streamed:
            run = Runner.run_streamed(agent, QUESTION)
            reading = asyncio.create_task(_read(run))
            await counted(questions, 1)
            run.cancel()
            await asyncio.wait_for(reading, TIMEOUT_S)
        else:
            running = asyncio.create_task(Runner.run(agent, QUESTION))
            await counted(questions, 1)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        await counted(questions, 0)
    assert model.calls == []


async def _read(run: Any) -> None:
    async for _ in run.stream_events():
        pass


async def test_a_session_goes_on_after_a_run_that_was_given_up(tmp_path: Path) -> None:
    session = SQLiteSession("mine", tmp_path / "session.sqlite")
    async with asked(fake_model(latency=SLOW_S)) as (agent, questions):
        running = asyncio.create_task(Runner.run(agent, QUESTION, session=session))
        await counted(questions, 1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await counted(questions, 0)
    async with asked(fake_model()) as (agent, _):
        told = [(await Runner.run(agent, question, session=session)).final_output for question in (QUESTION, FIRST)]
    session.close()
    assert [text.split("\n")[0] for text in told] == ["Answer: Seine", "Answer: Paris"]
