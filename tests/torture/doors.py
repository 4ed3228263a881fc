"""The doors from outside: a question of the plan put to the command line, to `ramify serve` and over MCP, each a real process."""

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

from tests.torture.asker import of_tool
from tests.torture.outcome import Outcome, said
from tests.torture.plan import Case
from tests.torture.processes import PATIENCE_S, ROOT
from tests.torture.questions import question

RAMIFY = str(Path(sys.executable).parent / "ramify")
MODELS = {"ollama": "ollama:llama3.1:8b", "openai": "openai:local"}
LEFT_AFTER = 3
"""Lines of a stream that are read before it is left."""


def model_options(protocol: str, address: str) -> list[str]:
    """Return the options of a command that name the model and its server."""
    return ["--model", MODELS[protocol], "--base-url", address if protocol == "ollama" else f"{address}/v1"]


class Places(NamedTuple):
    """Where the doors are."""

    index: str
    serve: str
    http: Any
    stdio: Any
    """Sessions of MCP."""
    servers: dict[str, str]
    environment: dict[str, str]
    few: asyncio.Semaphore
    """So many commands at once: each takes seconds of the processor to start."""
    client: httpx.AsyncClient


async def through(told: Case, places: Places) -> list[Outcome]:
    """Put a question to its door and wait for what comes of it."""
    if told.door == "command":
        return [await by_command(told, places)]
    if told.door == "serve":
        return [await by_thread(told, turn, places) for turn in range(told.turns)]
    if told.door in ("mcp http", "mcp stdio"):
        return [await by_mcp(told, places.http if told.door == "mcp http" else places.stdio)]
    return [await by_openai(told, places)]


async def by_command(told: Case, places: Places) -> Outcome:
    """Run `ramify ask`."""
    options = [f"--set={name}={value}" for name, value in {"timeout": 3, "check": "none", **told.options}.items()]
    server = model_options(told.protocol, places.servers[f"command {told.protocol}"])
    asked = [RAMIFY, "ask", question(told), "--json", "--strategy", told.strategy, "--index", places.index, *server, *options]
    async with places.few:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*asked, cwd=ROOT, env={**os.environ, **places.environment}, stdout=pipe, stderr=pipe)
        out, err = (part.decode() for part in await process.communicate())
    last = (err.strip().splitlines() or [""])[-1]
    if process.returncode == 0 and "Traceback" not in err:
        answer = json.loads(out)["answer"]
        return said("unknown" if answer == "Unknown" else "answer", answer)
    clear = process.returncode == 1 and last.startswith("error: ") and "Traceback" not in err
    return said("error", last) if clear else said("broken", f"exit code {process.returncode}: {err}")


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """Read server-sent events."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, line.removeprefix("data: ")


async def by_thread(told: Case, turn: int, places: Places) -> Outcome:
    """Ask in a conversation that `ramify serve` keeps."""
    settings = {name: value for name, value in told.options.items() if name != "style"}
    body = {"question": question(told, turn), "strategy": told.strategy, "thread": f"talk-{told.number}", "settings": settings}
    found: dict[str, Any] = {}
    async with places.client.stream("POST", f"{places.serve}/ramify/v1/ask", json=body) as response:
        if response.status_code != 200:
            return said("error", json.loads(await response.aread())["error"]["message"])
        async for name, data in events(response):
            found[name] = json.loads(data)
    if "error" in found:
        return said("error", found["error"]["message"], kept="result" in found)
    if "result" not in found:
        return said("broken", f"the stream ended without result or error: {[*found]}")
    return said("unknown" if found["result"]["answer"] == "Unknown" else "answer", found["result"]["answer"], kept=True)


async def by_openai(told: Case, places: Places) -> Outcome:
    """Ask in OpenAI's protocol: whole, as a stream, or as a stream that is left."""
    model = f"{Path(places.index).name}/{told.strategy}"
    body = {"model": model, "messages": [{"role": "user", "content": question(told)}], "stream": told.door != "openai"}
    text, ended = "", False
    async with places.client.stream("POST", f"{places.serve}/v1/chat/completions", json=body) as response:
        if told.door == "openai" or response.status_code != 200:
            whole = json.loads(await response.aread())
            return _completed(whole)
        number = 0
        async for _, data in events(response):
            number += 1
            if told.door == "leave" and number == LEFT_AFTER:
                return said("left", "")
            ended = data == "[DONE]"
            part = {} if ended else json.loads(data)
            if "error" in part:
                return said("error", part["error"]["message"])
            text += "".join(choice["delta"].get("content") or "" for choice in part.get("choices", ()))
    return (
        said("unknown" if "Unknown" in text else "answer", text) if ended and text else said("broken", f"a stream that broke off: {text}")
    )


def _completed(whole: dict[str, Any]) -> Outcome:
    if "error" in whole:
        return said("error", whole["error"]["message"])
    text = whole["choices"][0]["message"]["content"]
    return said("unknown" if "Unknown" in text else "answer", text)


async def by_mcp(told: Case, session: Any) -> Outcome:
    """Call the tool over MCP."""
    try:
        result: CallToolResult = await session.call_tool("research_documents", {"question": question(told)})
    except MCPError as error:
        return said("broken", f"{error}")
    return of_tool("\n".join(part.text for part in result.content if part.type == "text"), bool(result.is_error))


async def served_turns(places: Places) -> dict[str, int]:
    """Return the conversations that `ramify serve` lists, with their turns."""
    listed = (await places.client.get(f"{places.serve}/ramify/v1/threads", timeout=PATIENCE_S)).json()["threads"]
    return {one["id"]: one["turns"] for one in listed}
