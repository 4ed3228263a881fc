"""MCP over HTTP: the official client against the server of `ramify mcp --http` and that of `ramify serve`, on loopback."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from plugins.serve.tests.conftest import BORN, TIMEOUT_S, Serve, wait_until
from ramify.serve.mcp import create_mcp_app, create_server, shared_queue
from ramify.serve.questions import QuestionQueue
from ramify.serve.transport import WebServer, parse_tokens
from tests.fakes import FakeModel
from tests.faults import fault
from tests.river import QUESTION, replies, river
from tests.tools.ollama_server import Hang, Ollama

ADA = "ada:ada-has-a-secret"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_documents", "arguments": {"query": "Seine"}}}
MODES = ("auto", "legacy")
"""The specification of 2026-07-28, and the one before, with a handshake."""


def fake_model(**changes: Any) -> FakeModel:
    return FakeModel(**{"replies": replies, "logprobs": True, **changes})


@contextmanager
def running_server(
    model: Any, tokens: Sequence[str] = (), at_once: int = 4, strategy: str = "prune"
) -> Iterator[tuple[str, QuestionQueue, WebServer]]:
    """Run `ramify mcp --http` in a thread, with a fake model; give its address, what is asked there, and the server."""
    questions = QuestionQueue(at_once)
    made = create_server(strategy, {"model": model, "index": river()}, queue=shared_queue(questions))
    web = WebServer(create_mcp_app(made, parse_tokens(tokens)), questions)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: web.started)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", questions, web
        finally:
            web.should_exit = True
            thread.join()


@asynccontextmanager
async def connect(address: str, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """Connect the official client, with these headers."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


def text(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def post(address: str, body: Any, **headers: str) -> httpx.Response:
    """Send a message without a client."""
    given = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return httpx.post(address, content=json.dumps(body), headers=given, timeout=TIMEOUT_S, trust_env=False)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_lists_the_tools_and_gets_text_structure_and_progress(mode: str) -> None:
    updates: list[tuple[float, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        updates.append((progress, message))

    with running_server(fake_model()) as (address, *_):
        async with connect(address, mode) as client:
            research, search = (await client.list_tools()).tools
            assert (research.title, search.title) == ("Research documents", "Search documents")
            assert all(tool.output_schema and tool.annotations and tool.annotations.read_only_hint for tool in (research, search))
            answer = await client.call_tool(research.name, {"question": QUESTION}, progress_callback=tell)
            assert text(answer).startswith("Answer: Seine\nConfidence: ")
            assert answer.structured_content["answer"] == "Seine"
            assert answer.structured_content["citations"]
            assert answer.structured_content["checked"]["total"] >= 1
            assert answer.structured_content["checked"]["fail"] == 0
            assert [progress for progress, _ in updates] == sorted(progress for progress, _ in updates) != []
            assert {"0 splitting", "0.1 deciding"} <= {str(message).partition(":")[0] for _, message in updates}
            passages = await client.call_tool(search.name, {"query": "Seine"})
            assert passages.structured_content["passages"][0]["text"] in text(passages)
            empty = await client.call_tool(research.name, {"question": " "})
            assert (empty.is_error, text(empty).startswith("error: "), "\n" in text(empty)) == (True, True, False)


async def test_who_reads_the_text_alone_can_cite_and_tell_sure_from_unsure_and_from_unknown() -> None:
    given = {"sure?": {"confidence": 0.97}, "unsure?": {"confidence": 0.3}, "unknown?": {"answer": "Unknown", "confidence": 0.9}}

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        usual = replies(prompt, slots)
        return {**usual, **given[slots["question"]]} if prompt == "answer" else usual

    with running_server(fake_model(replies=reply), strategy="naive") as (address, *_):
        async with connect(address) as client:
            answers = {asked: await client.call_tool("research_documents", {"question": asked}) for asked in given}
    figures = {}
    for asked in ("sure?", "unsure?"):
        content = answers[asked].structured_content
        [figures[asked]] = [float(figure) for figure in re.findall(r"^Confidence: (\S+) of 1\b", text(answers[asked]), re.MULTILINE)]
        assert ("check this" in text(answers[asked])) == (asked == "unsure?")
        assert figures[asked] == pytest.approx(content["confidence"], abs=0.01)
        quoted = dict(re.findall(r"^\[(\d+)\] (.+)$", text(answers[asked]), re.MULTILINE))
        cited = [number for number, citation in enumerate(content["citations"], 1) if citation["cited"]]
        assert cited
        assert all(content["citations"][number - 1]["quote"] in quoted[str(number)] for number in cited)
        assert {int(number) for sentence in content["sentences"] for number in sentence["citations"]} <= set(map(int, quoted))
    assert figures["unsure?"] < 0.5 < figures["sure?"]
    assert text(answers["unknown?"]).startswith("Answer: Unknown\nNo answer was found.")
    assert "Do not guess" in text(answers["unknown?"])
    assert "Confidence: " not in text(answers["unknown?"])


async def test_a_question_that_the_client_gives_up_is_stopped() -> None:
    model = fake_model(latency=60.0)
    begun = asyncio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    with running_server(model) as (address, questions, _):
        async with connect(address) as client:
            asking = asyncio.create_task(client.call_tool("research_documents", {"question": QUESTION}, progress_callback=tell))
            await asyncio.wait_for(begun.wait(), TIMEOUT_S)
            assert questions.count == 1
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await asyncio.to_thread(wait_until, lambda: questions.count == 0)
            assert "Seine" in text(await client.call_tool("search_documents", {"query": "Seine"}))
    assert model.calls == []


async def test_a_client_of_before_stops_its_question_by_closing_the_connection() -> None:
    ask = {**CALL, "params": {"name": "research_documents", "arguments": {"question": QUESTION}}}
    with running_server(fake_model(latency=60.0)) as (address, questions, _):
        headers = {"accept": "application/json, text/event-stream"}
        async with (
            httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client,
            client.stream("POST", address, json=ask, headers=headers),
        ):
            await asyncio.to_thread(wait_until, lambda: questions.count == 1)
        await asyncio.to_thread(wait_until, lambda: questions.count == 0)


async def test_questions_are_stopped_with_the_server() -> None:
    with running_server(fake_model(latency=60.0), at_once=1) as (address, questions, web):
        async with connect(address) as client:
            ask = {"question": QUESTION}
            asked = [asyncio.create_task(client.call_tool("research_documents", ask)) for _ in range(2)]
            await asyncio.to_thread(wait_until, lambda: questions.count == 2)
            web.should_exit = True
            results = await asyncio.gather(*asked)
    why = "error: the question was not answered: the server is being stopped — ask it again"
    assert [(result.is_error, text(result)) for result in results] == [(True, why)] * 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("headers", "why"),
    [({}, "this server requires a token"), ({"authorization": "Bearer not-the-secret"}, "the token is unknown")],
)
@fault("servers", "MCP client without a known token", sees="refused, with the header to send", kept="nothing is listed", code="401")
async def test_without_a_known_token_nothing_is_listed(mode: str, headers: dict[str, str], why: str) -> None:
    with running_server(fake_model(), tokens=[ADA]) as (address, *_):
        with pytest.raises(ExceptionGroup) as error:
            async with connect(address, mode, **headers):
                pass
        assert error.group_contains(MCPError, match=f"{why}: send the header")
        refused = post(address, CALL, **headers)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        async with connect(address, mode, authorization="Bearer ada-has-a-secret") as client:
            assert len((await client.list_tools()).tools) == 2


@fault(
    "servers",
    "foreign page, name or method, at MCP over HTTP",
    sees="refused, with the option that allows it",
    kept="nothing runs",
    code="403, 405, 413, 415",
)
def test_unknown_hosts_foreign_pages_and_other_methods_are_refused() -> None:
    with running_server(fake_model()) as (address, *_):
        for headers, why in (
            ({"host": "evil.example"}, "host name 'http://evil.example'"),
            ({"origin": "http://evil.example"}, "pages of 'http://evil.example'"),
        ):
            refused = post(address, CALL, **headers)
            assert refused.status_code == 403
            assert why in refused.json()["detail"]
            assert "`ramify mcp --http --allow-origin http://evil.example`" in refused.json()["detail"]
        assert post(address, CALL, content_type="text/plain").status_code == 415
        assert httpx.post(address, content=iter([b" " * 2**20] * 17), headers={"content-type": "application/json"}).status_code == 413
        refused = httpx.get(address, trust_env=False)
        assert (refused.status_code, refused.json()["error"]["message"]) == (405, "Method Not Allowed")


def test_what_no_client_sends_is_answered() -> None:
    with running_server(fake_model()) as (address, *_):
        half = {**CALL, "params": {"name": "search_documents", "arguments": {"query": "half \ud800"}}}
        for body in (half, [CALL], {"jsonrpc": "2.0", "id": 1}, {**CALL, "params": {"name": "x" * 100_000}}, "no message"):
            answered = post(address, body)
            assert answered.status_code in (200, 400)
            assert len(answered.text) < 2000
            assert "Traceback" not in answered.text


class TestServe:
    """The same at `/mcp` of `ramify serve`."""

    async def test_the_tools_search_its_collections_with_its_tokens(self, serve: Serve, built: Path) -> None:
        running = await asyncio.to_thread(serve, "demo", built, tokens=[ADA])
        async with connect(f"{running.url}/mcp", authorization="Bearer ada-has-a-secret") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                f"{name}_documents" for name in ("research", "search", "grep")
            ]
            for question, answer in ((BORN, "Budapest"), ("Where was Marie Curie born?", "Warsaw")):
                result = await client.call_tool("research_documents", {"question": question})
                assert result.structured_content["answer"] == answer
        refused = post(f"{running.url}/mcp", CALL)
        assert (refused.status_code, refused.json()["jsonrpc"]) == (401, "2.0")

    async def test_a_question_has_its_turn_among_the_others(self, serve: Serve, ollama: Ollama) -> None:
        ollama.when("", Hang())
        running = await asyncio.to_thread(serve, model="ollama:llama3.1:8b")
        async with connect(f"{running.url}/mcp") as client:
            asking = asyncio.create_task(client.call_tool("research_documents", {"question": BORN}))
            await asyncio.to_thread(ollama.wait_for_calls)
            assert running.service.questions.count == 1
            asking.cancel()
            await asyncio.to_thread(wait_until, lambda: running.service.questions.count == 0)

    def test_the_documented_client_gets_an_answer(self, serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
        page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
        [code] = [code for code in re.findall(r"```py\n(.*?)```", page, re.DOTALL) if "from mcp import" in code]
        exec(code.replace("http://127.0.0.1:8485", serve("demo").url), {})  # the project's own document
        output = capsys.readouterr().out
        assert "deciding: In which city was the inventor of the ballpoint pen born?\n" in output
        assert "\nBudapest 0." in output
        assert "\nAnswer: Budapest\nConfidence: 0." in output
