"""Ask questions of the plan through the interfaces of separate processes: the command line, `ramify serve` and MCP."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from mcp import MCPError
from mcp.types import CallToolResult

from tests.torture.asker import make_tool_outcome
from tests.torture.outcome import Outcome, make_outcome
from tests.torture.plan import Case
from tests.torture.processes import ROOT, TIMEOUT_S
from tests.torture.questions import question_text

RAMIFY = str(Path(sys.executable).parent / "ramify")
MODELS = {"ollama": "ollama:llama3.1:8b", "openai": "openai:local"}
MAX_EVENTS_READ = 3
"""Number of events read from a stream before it is left."""


def model_options(protocol: str, address: str) -> list[str]:
    """Return the options of a command that name the model and its server."""
    return ["--model", MODELS[protocol], "--base-url", address if protocol == "ollama" else f"{address}/v1"]


class Endpoints(NamedTuple):
    """Addresses and sessions of the interfaces."""

    index: str
    serve: str
    http: Any
    stdio: Any
    """MCP sessions."""
    servers: dict[str, str]
    environment: dict[str, str]
    few: asyncio.Semaphore
    """Limits concurrent commands, each of which takes seconds of processor time to start."""
    client: httpx.AsyncClient


async def ask_by_interface(case: Case, endpoints: Endpoints) -> list[Outcome]:
    """Ask a question through its interface and return the outcomes."""
    if case.interface == "command":
        return [await ask_by_command(case, endpoints)]
    if case.interface == "serve":
        return [await ask_by_thread(case, turn, endpoints) for turn in range(case.turns)]
    if case.interface in ("mcp http", "mcp stdio"):
        return [await ask_by_mcp(case, endpoints.http if case.interface == "mcp http" else endpoints.stdio)]
    return [await ask_by_openai(case, endpoints)]


async def ask_by_command(case: Case, endpoints: Endpoints) -> Outcome:
    """Run `ramify ask`."""
    options = [f"--set={name}={value}" for name, value in {"timeout": 3, "check": "none", **case.options}.items()]
    server = model_options(case.protocol, endpoints.servers[f"command {case.protocol}"])
    command = [RAMIFY, "ask", question_text(case), "--json", "--strategy", case.strategy, "--index", endpoints.index, *server, *options]
    async with endpoints.few:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env={**os.environ, **endpoints.environment}, stdout=pipe, stderr=pipe
        )
        out, err = (part.decode() for part in await process.communicate())
    last = (err.strip().splitlines() or [""])[-1]
    if process.returncode == 0 and "Traceback" not in err:
        answer = json.loads(out)["answer"]
        return make_outcome("unknown" if answer == "Unknown" else "answer", answer)
    clear = process.returncode == 1 and last.startswith("error: ") and "Traceback" not in err
    return make_outcome("error", last) if clear else make_outcome("broken", f"exit code {process.returncode}: {err}")


async def read_events(response: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """Read server-sent events."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, line.removeprefix("data: ")


async def ask_by_thread(case: Case, turn: int, endpoints: Endpoints) -> Outcome:
    """Ask in a conversation that `ramify serve` keeps."""
    settings = {name: value for name, value in case.options.items() if name != "style"}
    body = {"question": question_text(case, turn), "strategy": case.strategy, "thread": f"talk-{case.number}", "settings": settings}
    by_event: dict[str, Any] = {}
    async with endpoints.client.stream("POST", f"{endpoints.serve}/ramify/v1/ask", json=body) as response:
        if response.status_code != 200:
            return make_outcome("error", json.loads(await response.aread())["error"]["message"])
        async for name, data in read_events(response):
            by_event[name] = json.loads(data)
    if "error" in by_event:
        return make_outcome("error", by_event["error"]["message"], stored="result" in by_event)
    if "result" not in by_event:
        return make_outcome("broken", f"the stream ended without result or error: {[*by_event]}")
    return make_outcome("unknown" if by_event["result"]["answer"] == "Unknown" else "answer", by_event["result"]["answer"], stored=True)


async def ask_by_openai(case: Case, endpoints: Endpoints) -> Outcome:
    """Ask in OpenAI's protocol: without streaming, with streaming, or leaving the stream."""
    model = f"{Path(endpoints.index).name}/{case.strategy}"
    body = {"model": model, "messages": [{"role": "user", "content": question_text(case)}], "stream": case.interface != "openai"}
    text, ended = "", False
    async with endpoints.client.stream("POST", f"{endpoints.serve}/v1/chat/completions", json=body) as response:
        if case.interface == "openai" or response.status_code != 200:
            whole = json.loads(await response.aread())
            return _completed(whole)
        number = 0
        async for _, data in read_events(response):
            number += 1
            if case.interface == "leave" and number == MAX_EVENTS_READ:
                return make_outcome("left", "")
            ended = data == "[DONE]"
            part = {} if ended else json.loads(data)
            if "error" in part:
                return make_outcome("error", part["error"]["message"])
            text += "".join(choice["delta"].get("content") or "" for choice in part.get("choices", ()))
    return (
        make_outcome("unknown" if "Unknown" in text else "answer", text)
        if ended and text
        else make_outcome("broken", f"a stream that broke off: {text}")
    )


def _completed(whole: dict[str, Any]) -> Outcome:
    if "error" in whole:
        return make_outcome("error", whole["error"]["message"])
    text = whole["choices"][0]["message"]["content"]
    return make_outcome("unknown" if "Unknown" in text else "answer", text)


async def ask_by_mcp(case: Case, session: Any) -> Outcome:
    """Call the tool over MCP."""
    try:
        result: CallToolResult = await session.call_tool("research_documents", {"question": question_text(case)})
    except MCPError as error:
        return make_outcome("broken", f"{error}")
    return make_tool_outcome("\n".join(part.text for part in result.content if part.type == "text"), bool(result.is_error))


async def list_turns(endpoints: Endpoints) -> dict[str, int]:
    """Return the conversations that `ramify serve` lists, with their turns."""
    listed = (await endpoints.client.get(f"{endpoints.serve}/ramify/v1/threads", timeout=TIMEOUT_S)).json()["threads"]
    return {one["id"]: one["turns"] for one in listed}
