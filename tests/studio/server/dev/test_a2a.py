"""Other agents ask over A2A, with A2A's own client, and programs over the Agent Protocol: each the assistant of the index that it means."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers import get_artifact_text, new_text_message
from a2a.types import Role, SendMessageRequest, StreamResponse, TaskState
from langgraph_sdk.client import LangGraphClient

from ramify.graphs.tool import describe_index
from ramify.studio.server.bounds import unique_index_names
from ramify.studio.server.langgraph_json import assistant_id
from tests.studio.dev_server import TIMEOUT_S, DevServer
from tests.studio.server.dev.conftest import assistant, run_documented
from tests.tools.ollama_replies import Hang
from tests.tools.ollama_server import serving

CURIE = "Where was Marie Curie born?"


@asynccontextmanager
async def agent(address: str, streaming: bool = False) -> AsyncIterator[Client]:
    """Connect the client to the agent whose card is at an address, in version 0.3 for streams."""
    async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as http:
        card = await A2ACardResolver(http, address).get_agent_card()
        assert [one.protocol_version for one in card.supported_interfaces] == ["1.0"]
        card.supported_interfaces[0].protocol_version = "0.3" if streaming else "1.0"
        yield ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)


async def send(client: Client, text: str, **given: Any) -> list[StreamResponse]:
    """Send a message and give what comes until its end."""
    request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER, **given))
    return [event async for event in client.send_message(request)]


def answer_of(events: list[StreamResponse]) -> str:
    """Give the text of the artifact, of a task or of a stream."""
    [artifact] = [*events[-1].task.artifacts, *(event.artifact_update.artifact for event in events if event.HasField("artifact_update"))]
    return get_artifact_text(artifact)


def test_assistants_are_called_as_their_folders_and_as_nothing_that_there_is() -> None:
    assert unique_index_names(["/a/my letters", "/b/prune", "/c/prune/", "milvus:http://host:1/notes"], {"prune", "notes"}) == [
        "my-letters", "prune-2", "prune-3", "notes-2",
    ]  # fmt: skip


async def test_the_id_of_an_assistant_is_made_as_the_server_makes_it(studio: LangGraphClient) -> None:
    assert [await assistant(studio, name) for name in ("my-index", "letters")] == [assistant_id("my-index"), assistant_id("letters")]


async def test_the_documented_question_over_a2a_is_answered_from_the_first_index(server: DevServer, index: Path) -> None:
    told = await run_documented("agents.md", "A2ACardResolver", server)
    assert told["answer"].startswith("Budapest\n")
    assert re.search(r"^\[\d\] .*#laszlo-biro", told["answer"], re.MULTILINE)
    assert re.search(r"^Confidence: 0\.\d\d of 1$", told["answer"], re.MULTILINE)
    assert f"Searched: {index} (" in told["answer"]


async def test_each_index_has_an_agent_with_a_card_and_answers_of_its_own(server: DevServer, index: Path, letters: Path) -> None:
    told = await run_documented("agents.md", "/a2a/", server)
    async with httpx.AsyncClient(trust_env=False) as http:
        card = (await http.get(f"{told['agent']}/.well-known/agent-card.json")).json()
    assert card["name"] == "letters"
    assert describe_index(str(letters)) in card["description"]
    async with agent(told["agent"]) as mine, agent(server.url) as first:
        here, elsewhere = await asyncio.gather(send(mine, CURIE), send(first, CURIE))
    assert answer_of(here).startswith("Warsaw\n")
    assert f"Searched: {letters} (" in answer_of(here)
    assert f"Searched: {index} (" in answer_of(elsewhere)


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_message_is_answered_at_once_or_as_a_stream_and_followed_up(server: DevServer, streaming: bool) -> None:
    async with agent(server.url, streaming) as client:
        events = await send(client, "Who is the inventor of the ballpoint pen?")
        status = events[-1].status_update.status if streaming else events[-1].task.status
        assert status.state == TaskState.TASK_STATE_COMPLETED
        follow_up = await send(client, "In which city was he born?", context_id=events[0].task.context_id)
    assert answer_of(events).startswith("László Bíró")
    assert answer_of(follow_up).startswith("Budapest")


async def test_a_task_is_cancelled_half_way(server: DevServer, ollama_port: int) -> None:
    address = f"{server.url}/a2a/{assistant_id('my-index')}"
    message = {"role": "user", "messageId": "1", "parts": [{"kind": "text", "text": CURIE}]}
    with serving(ollama_port) as ollama:
        ollama.when("", Hang())
        context = {"model": "ollama:llama3.1:8b", "base_url": ollama.address}  # LangGraph's own field: A2A has none for settings
        async with (
            httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False, headers={"accept": "application/json, text/event-stream"}) as http,
            http.stream("POST", address, json=call("message/stream", message=message, context=context)) as response,
        ):
            first = await anext(line async for line in response.aiter_lines() if line.startswith("data: "))
            await asyncio.to_thread(ollama.wait_for_calls)
            task = json.loads(first.removeprefix("data: "))["result"]["id"]
            cancelled = (await http.post(address, json=call("tasks/cancel", id=task))).json()
    assert cancelled["result"]["status"]["state"] == "canceled"


def call(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


async def test_what_cannot_be_asked_is_a_failed_task(server: DevServer) -> None:
    async with agent(server.url) as client:
        [told] = await send(client, " ")
    assert told.task.status.state == TaskState.TASK_STATE_FAILED


async def test_the_documented_program_of_the_agent_protocol_is_answered(server: DevServer) -> None:
    told = await run_documented("agents.md", "get_sync_client", server)
    assert told["found"]["answer"] == "Budapest"
    assert told["found"]["citations"]
    assert 0 < told["found"]["confidence"] <= 1
