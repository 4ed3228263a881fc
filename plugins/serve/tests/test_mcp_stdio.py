"""ramify mcp: driven by the official client in a subprocess, given lines in this process, and without the command for a fake model."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, CallToolResult

from ramify.graphs import tool
from ramify.serve.commands import mcp as mcp_command
from ramify.serve.mcp import create_server
from ramify.studio.cli import run
from tests import processes
from tests.fakes import FakeModel
from tests.faults import fault
from tests.river import QUESTION, replies, river
from tests.studio.conftest import Ramify
from tests.tools.fakes import WordEncoder
from tests.tools.questions import NOWHERE

RAMIFY = str(Path(sys.executable).parent / "ramify")
CURIE = "Where was Marie Curie born?"


def fake_model(**changes: Any) -> FakeModel:
    return FakeModel(**{"replies": replies, "logprobs": True, **changes})


def text(result: CallToolResult) -> str:
    """Give what a tool said, as text."""
    return "\n".join(part.text for part in result.content if part.type == "text")


def refused(result: CallToolResult, *words: str) -> bool:
    """Tell whether a call failed with one line that has these words."""
    said = text(result)
    return result.is_error and said.startswith("error: ") and "\n" not in said and all(word in said for word in words)


@asynccontextmanager
async def started(errors: Path, *arguments: str) -> AsyncIterator[ClientSession]:
    """Start the command as a client does; what it says beside the protocol goes to a file."""
    parameters = StdioServerParameters(command=RAMIFY, args=["mcp", "--model", "extractive", *arguments])
    with errors.open("w", encoding="utf-8") as log:
        async with stdio_client(parameters, errlog=log) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


async def test_a_client_asks_searches_and_gets_errors(built: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(built, index)
    updates: list[tuple[float, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        updates.append((progress, message))

    async with started(tmp_path / "stderr", "--index", str(index), "--set", "k=1") as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"research_documents", "search_documents", "grep_documents"}
        assert all(tool.output_schema and tool.description for tool in tools.values())
        assert tools["research_documents"].input_schema["required"] == ["question"]

        answer = await session.call_tool("research_documents", {"question": CURIE}, progress_callback=tell)
        assert text(answer).startswith("Answer: Warsaw\n")
        assert answer.structured_content["answer"] == "Warsaw"
        assert answer.structured_content["tree"][0]["path"] == "0"
        assert [progress for progress, _ in updates] == sorted(progress for progress, _ in updates)
        assert f"0 deciding: {CURIE}" in [message for _, message in updates]
        assert updates[-1][1] == "concluding"

        places = await session.call_tool("grep_documents", {"pattern": "vistula"})
        assert places.structured_content is not None
        assert places.structured_content["total"] == len(places.structured_content["citations"]) > 0
        assert "Vistula" in places.structured_content["citations"][0]["quote"]
        assert refused(await session.call_tool("grep_documents", {"pattern": "(", "regex": True}), "RE2")
        passages = await session.call_tool("search_documents", {"query": "river Vistula"})
        assert [passage["metadata"]["title"] for passage in passages.structured_content["passages"]] == ["Warsaw"]

        assert refused(await session.call_tool("research_documents", {"question": " "}), "empty")
        assert refused(await session.call_tool("research_documents", {}), "question", "required")
        japanese = await session.call_tool("research_documents", {"question": "マリー・キュリーはどこで生まれましたか？"})
        assert "English only" in text(japanese)
        with pytest.raises(MCPError, match="'parrot'"):
            await session.call_tool("parrot", {})

        shutil.rmtree(index)
        assert refused(await session.call_tool("search_documents", {"query": "river"}), "no index")
        assert refused(await session.call_tool("research_documents", {"question": CURIE}), "no index")
    assert (tmp_path / "stderr").read_text(encoding="utf-8").count("\n") == 1


def told_by(given: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> list[dict[str, Any]]:
    """Run the command in this process on lines of a client, who then closes, and return its replies."""
    (folder / "given").write_text(given, encoding="utf-8")
    ears = signal.getsignal(signal.SIGINT)
    with (
        (folder / "given").open(encoding="utf-8") as asked,
        (folder / "told").open("w", encoding="utf-8") as output,
        monkeypatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", asked)
        patch.setattr(sys, "stdout", output)
        assert run(["mcp", *map(str, arguments)]) == 0
    signal.signal(signal.SIGINT, ears)
    return [json.loads(line) for line in (folder / "told").read_text(encoding="utf-8").splitlines()]


OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
FIRST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OPENING})


def call(number: object, arguments: object, name: str = "search_documents") -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})


def test_stdout_carries_the_protocol_only_and_after_eof_what_was_asked_is_answered(built: Path) -> None:
    command = [RAMIFY, "mcp", "--model", "extractive", "--index", str(built)]
    cancelled = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    asked = [call(2, {"query": "river"}), call(3, {"query": "bridge"}), cancelled, call("4", {"question": CURIE}, "research_documents")]
    given = "\n".join(["no protocol at all", FIRST, *asked, ""])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0
    responses = {response["id"]: response for response in map(json.loads, done.stdout.splitlines())}
    assert all(response["jsonrpc"] == "2.0" for response in responses.values())
    assert responses[1]["result"]["serverInfo"]["name"] == "ramify"
    assert responses[2]["result"]["structuredContent"]["passages"]
    assert responses["4"]["result"]["structuredContent"]["answer"] == "Warsaw"
    assert "Traceback" not in done.stderr


def test_a_missing_language_model_is_reported_at_the_start_and_not_in_results(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", NOWHERE)
    monkeypatch.setenv("COLUMNS", "400")
    given = "\n".join([FIRST, *(call(number, {"question": CURIE}, "research_documents") for number in (2, 3)), ""])
    replies_of = told_by(given, tmp_path, monkeypatch, "--index", built)
    results = {response["id"]: response["result"] for response in replies_of}
    assert [results[number]["structuredContent"]["answer"] for number in (2, 3)] == ["Warsaw", "Warsaw"]
    assert "llama" not in json.dumps(replies_of)
    assert capsys.readouterr().err.count(f"no Ollama server answers at {NOWHERE}") == 1


def test_a_client_that_goes_away_ends_it_quietly(built: Path) -> None:
    command = [RAMIFY, "mcp", "--model", "extractive", "--index", str(built)]
    with processes.started(command, stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(f"{FIRST}\n{call(2, {'query': 'river'})}\n")
        process.stdin.close()
        assert process.wait(120) == 0
        assert process.stderr.read().count("\n") == 1


@fault(
    "interfaces",
    "MCP lines that are not JSON, or with invalid types, ids or methods",
    sees="an error of the protocol for each",
    kept="the server continues",
    code=0,
)
def test_every_line_of_a_client_is_answered(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        FIRST,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(2, {"query": "half \ud800"}),
        call("3", {"query": "river", "filter": {"a": "\ud800"}}),
        call(4, {"query": "river", "filter": {"a": 2**63}}),
        call(5, {"question": "river?", "filter": {"a": 2**63}}, "research_documents"),
        call(6, {"query": "river", "filter": {f"field{number}": number for number in range(2000)}}),
        call(7, {"query": "river", "filter": {"source": ["warsaw.md", *range(5000)]}}),
        call("\ud800", {"query": "river"}),
        '{"jsonrpc": "2.0", "id": 9, "method": ' + "[" * 100_000,
        call(10, {"query": "river"}, "x" * 100_000),
    ]
    responses = told_by("".join(f"{line}\n" for line in lines), tmp_path, monkeypatch, "--model", "extractive", "--index", built)
    assert len(responses) == len(lines) - 1
    results = {response["id"]: response["result"] for response in responses if "result" in response}
    for number in (2, "3", 4, 5):
        said = results[number]["content"][0]["text"]
        assert (results[number]["isError"], said.startswith("error: "), " — " in said, "\n" in said) == (True, True, True, False)
    assert len(results[6]["content"][0]["text"]) < 2000
    assert [passage["source"] for passage in results[7]["structuredContent"]["passages"]] == ["warsaw.md"]
    errors = [(response["id"], response["error"]["code"]) for response in responses if "error" in response]
    assert sorted(errors, key=str) == [(10, INVALID_PARAMS), (None, INVALID_REQUEST), (None, PARSE_ERROR)]
    assert all(len(response["error"]["message"]) < 1000 for response in responses if "error" in response)


def test_odd_lines_end_nothing_and_each_call_is_answered(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = [
        *(
            "{",
            "[]",
            f"[{call(2, {})}]",
            "null",
            "5",
            "\x00",
            "\ufeff{}",
            "",
            "   ",
            '{"a":',
            call(2, {"query": "river"}) * 2,
            "x" * 3_000_000,
        ),
        *(call(2, {}).replace('"2.0"', version) for version in ('"1.0"', "2", "null")),
        '{"jsonrpc": "2.0", "id": 2, "method": 5}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": []}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ' + '{"a":' * 3000 + "1" + "}" * 3001,
    ]
    ignored = [
        '{"jsonrpc": "2.0", "method": "notifications/none"}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 55}}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}',
        '{"jsonrpc": "2.0", "id": 77, "result": {}}',
        '{"jsonrpc": "2.0", "id": 77, "error": {"code": 1, "message": "x"}}',
    ]
    refused = [
        json.dumps({"jsonrpc": "2.0", "id": f"m{number}", "method": method}) for number, method in enumerate(("", "none", "prompts/list"))
    ]
    refused += [
        json.dumps({"jsonrpc": "2.0", "id": f"p{number}", "method": "tools/call", "params": params})
        for number, params in enumerate((None, {}, {"name": 1}, {"name": "search_documents", "arguments": []}))
    ]
    twice = [call(3, {"query": "river"}), call(3, {"query": "Warsaw"}), call("3", {"query": "Vistula"})]
    lines = [FIRST, *rejected, *ignored, *refused, *twice, call(9, {"query": "river"})]
    responses = told_by("\n".join(lines), tmp_path, monkeypatch, "--model", "extractive", "--index", built)  # the last line has no end
    answered = [response["id"] for response in responses if "result" in response and not response["result"].get("isError")]
    assert sorted(map(str, answered)) == ["1", "3", "3", "3", "9"]
    assert {response["id"] for response in responses if str(response.get("id"))[0] in "mp"} == {json.loads(line)["id"] for line in refused}
    assert all(len(json.dumps(response)) < 2000 for response in responses if "error" in response)


async def test_a_fault_of_ramify_has_its_code_and_half_a_surrogate_pair_in_a_passage_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*given: Any, **options: Any) -> Any:
        raise ZeroDivisionError("a fault of ramify")

    index = InMemoryVectorStore(WordEncoder())
    index.add_documents([Document("The Seine runs through Paris.", metadata={"source": "half \udcff"})])
    async with Client(create_server("naive", {"model": fake_model(), "index": index})) as client:
        passages = await client.call_tool("search_documents", {"query": "Seine"})
        assert passages.structured_content["passages"][0]["source"] == "half ?"
        monkeypatch.setattr(tool, "find_passages", broken)
        with pytest.raises(MCPError, match="search_documents failed with ZeroDivisionError") as error:
            await client.call_tool("search_documents", {"query": "Seine"})
    assert error.value.error.code == INTERNAL_ERROR


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--strategy", "oak"), 2, ("oak",)),
        (("--set", "leaves=3"), 2, ("leaves",)),
        (("--set", "k=1", "--set", "k=2"), 2, ("twice",)),
        (("--name", "my letters"), 2, ("my letters", "letters, digits")),
        (("--index", "nowhere"), 1, ("nowhere", "ramify index")),
    ],
)
def test_invalid_options_are_rejected_before_serving(ramify: Ramify, arguments: tuple[str, ...], code: int, words: tuple[str]) -> None:
    done = ramify("mcp", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert all(word in done.err for word in words)


def test_the_error_on_a_missing_extra_names_the_command_to_install_it(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_command, "find_spec", lambda name: None)
    done = ramify("mcp")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert done.err.endswith(" — run `pip install 'ramify-rag[mcp]'`\n")
    assert done.err.count("\n") == 1


@fault("interfaces", "MCP client that cancels a call", sees="nothing: the branches are cancelled", kept="the server continues", code=0)
async def test_a_call_that_the_client_gives_up_stops_the_branches() -> None:
    model = fake_model(latency=60.0)
    begun = asyncio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        if message and message.startswith("0 deciding"):
            begun.set()

    async with Client(create_server("prune", {"model": model, "index": river()})) as client:
        asking = asyncio.create_task(client.call_tool("research_documents", {"question": QUESTION}, progress_callback=tell))
        await asyncio.wait_for(begun.wait(), 20)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        passages = await client.call_tool("search_documents", {"query": "Seine"})  # it serves on
        assert "Seine" in text(passages)
    assert model.calls == []


async def test_calls_run_side_by_side_each_with_its_own_progress() -> None:
    updates: dict[str, list[str]] = {"river": [], "capital": []}

    def teller(name: str) -> Any:
        async def tell(progress: float, total: float | None, message: str | None) -> None:
            updates[name].append(message or "")

        return tell

    asked = {"river": QUESTION, "capital": "What is the capital of France?"}
    async with Client(create_server("prune", {"model": fake_model(latency=0.01), "index": river()})) as client:
        results = await asyncio.gather(
            *(client.call_tool("research_documents", {"question": asked[name]}, progress_callback=teller(name)) for name in asked)
        )
    assert [result.structured_content["answer"] for result in results] == ["Seine", "Paris"]
    steps = {name: [message.partition(":")[0] for message in messages if message.startswith("0")] for name, messages in updates.items()}
    assert steps["capital"] == ["0 deciding"]
    assert steps["river"] == ["0 deciding", "0 splitting", "0.0 deciding", "0.1 deciding", "0 joining answers"]


async def test_the_client_gets_the_description_of_the_documents() -> None:
    made = create_server("naive", {"model": fake_model(), "index": river()}, about="the letters of Ada Lovelace", name="letters")
    async with Client(made) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["research_letters", "search_letters"]
        assert all("the letters of Ada Lovelace" in (tool.description or "") for tool in tools)
        assert all(words in (client.instructions or "") for words in ("research_letters", "search_letters", "the letters of Ada Lovelace"))
        assert "Seine" in text(await client.call_tool("search_letters", {"query": "Seine"}))
    async with Client(create_server("naive", {"model": fake_model()})) as client:
        assert all("demonstration corpus" in (tool.description or "") for tool in (await client.list_tools()).tools)


async def test_figures_have_four_digits() -> None:
    async with Client(create_server("naive", {"model": "extractive", "index": river()})) as client:
        answer = (await client.call_tool("research_documents", {"question": "What is the capital of France?"})).structured_content
    confidences = [answer["confidence"], *(branch["confidence"] for branch in answer["tree"])]
    assert answer["answer"] == "Paris"
    assert all(len(str(confidence)) <= len("0.1234") for confidence in confidences)


@fault("interfaces", "model that hangs during an MCP call", sees="an error of the call", kept="the server continues", code=0)
async def test_a_model_that_hangs_is_an_error_of_the_call() -> None:
    async with Client(create_server("prune", {"model": fake_model(latency=60.0), "index": river(), "timeout": 0.05})) as client:
        assert refused(await client.call_tool("research_documents", {"question": QUESTION}), "no reply within 0.05 s")


def test_the_configuration_in_the_documents_starts_it(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
    [written] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    [client] = json.loads(written)["mcpServers"].values()
    assert (Path(client["command"]).name, client["args"][0]) == ("ramify", "mcp")
    arguments = [str(built) if word == "/path/to/my-index" else word for word in client["args"][1:]]
    listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    _, listed = told_by(f"{FIRST}\n{listing}\n", tmp_path, monkeypatch, *arguments)
    assert len(listed["result"]["tools"]) == 3
