"""ramify mcp --http as a command: what it refuses before anything is served, what it says, and how a signal ends it."""

import asyncio
import os
import re
import signal
from pathlib import Path

import pytest
from mcp import Client

from tests.faults import fault
from tests.processes import started
from tests.studio.conftest import Ramify
from tests.studio.dev_server import RAMIFY, free_port


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("--port", "8485"), 2, "--port is for MCP over HTTP"),
        (("--host", "127.0.0.1"), 2, "--host is for MCP over HTTP"),
        (("--base-url", "http://a:1/v1", "--base-url", "http://b:1/v1"), 2, "put a proxy before them"),
        (("--http", "--host", "0.0.0.0"), 2, "and there is no token — set RAMIFY_MCP_TOKEN, or give --token"),
        (("--http", "--token", "ada:short"), 2, "the token of 'ada', of 5 characters"),
        (("--http", "--allow-origin", "nowhere"), 2, "--allow-origin 'nowhere' is not a valid origin"),
        (("--http", "--index", "nowhere"), 1, "nowhere"),
    ],
)
def test_invalid_options_are_rejected_before_serving(
    ramify: Ramify, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], code: int, expected: str
) -> None:
    monkeypatch.delenv("RAMIFY_MCP_TOKEN", raising=False)
    port = () if "--port" in options or "--http" not in options else ("--port", free_port())
    done = ramify("mcp", *options, *port)
    assert (done.code, done.out, done.err.count("error: ")) == (code, "", 1)
    assert expected in done.err


@fault("processes", "SIGTERM to an MCP server", sees="the server has stopped", kept="it stores nothing")
def test_it_prints_its_address_and_a_signal_stops_it(built: Path) -> None:
    command = [RAMIFY, "mcp", "--http", "--port", str(free_port()), "--index", str(built), "--model", "extractive", "--name", "papers"]
    with started(command, env={**os.environ, "COLUMNS": "400"}) as process:
        assert process.stderr
        said = process.stderr.readline()
        address = re.search(r"research_papers, search_papers, grep_papers to MCP clients at (http://127.0.0.1:\d+/mcp);", said)
        assert address, said
        passages = asyncio.run(search(address[1], "Vistula"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr.read() == "the server has stopped\n"
    assert "river Vistula" in passages


async def search(address: str, query: str) -> str:
    async with Client(address) as client:
        [content] = (await client.call_tool("search_papers", {"query": query})).content
    assert content.type == "text"
    return content.text
