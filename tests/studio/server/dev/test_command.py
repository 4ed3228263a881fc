"""ramify studio: what the command starts, says and refuses."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

import ramify.graphs as graphs
from ramify.studio.server import app
from ramify.studio.server.langgraph_json import configuration, graph_variable
from tests.studio.conftest import Ramify
from tests.studio.dev_server import DevServer, complaints, dev_server, free_port
from tests.studio.server.dev.conftest import AMBIGUOUS, CONTEXT, QUESTION, SIMPLE, new_thread, run_documented, values

ROOT = Path(__file__).parents[4]
OURS = f"{graphs.__path__[0]}/run.py"
THEIRS = "/home/me/ramify/.venv/lib/python3.11/site-packages/structlog/dev.py"


@pytest.mark.parametrize(
    ("line", "concerns_us"),
    [
        (f"{OURS}:12: DeprecationWarning: asyncio.get_event_loop is deprecated", True),
        (f"2026-11-01 [warning  ] {OURS}:12: UserWarning: so [py.warnings]", True),
        (f"{OURS}:12: RuntimeWarning: coroutine 'ask_async' was never awaited", True),
        ("Deserializing unregistered type ramify.nodes.tree.Branch from checkpoint.", True),
        (f"{THEIRS}:711: UserWarning: Remove `format_exc_info` from your processor chain if you want pretty exceptions.", False),
        (f"{THEIRS}:711: UserWarning: look at {OURS}", False),
        (f"{OURS} was loaded", False),
    ],
)
def test_only_log_lines_on_our_code_are_complaints(line: str, concerns_us: bool) -> None:
    assert complaints(f"before\n{line}\nafter") == ([line] if concerns_us else [])


async def test_the_strategies_are_tools_of_its_mcp_server(server: DevServer, index: Path) -> None:
    async with streamable_http_client(f"{server.url}/mcp") as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        offered = {tool.name: tool for tool in (await session.list_tools()).tools}
        told = {name: tool.description for name, tool in offered.items()}
        assert told.items() >= {name: strategy.description for name, strategy in graphs.STRATEGIES.items()}.items()
        assert "question" in offered["naive"].input_schema["properties"]
        result: Any = await session.call_tool("naive", {"question": SIMPLE})
    assert not result.is_error
    assert "'answer': 'Budapest'" in result.content[0].text
    assert str(index) in result.content[0].text


def test_the_server_has_every_graph_of_its_file() -> None:
    for name in configuration()["graphs"]:
        built = getattr(app, graph_variable(name)).builder
        assert set(built.nodes) > set(graphs.build(name).steps)


async def test_the_command_prints_the_address(server: DevServer) -> None:
    assert f"https://smith.langchain.com/studio/?baseUrl={server.url}" in server.log()
    assert f"API: {server.url}" in server.log()


async def test_the_documented_fork_by_code_runs(server: DevServer) -> None:
    told = await run_documented("studio.md", "get_sync_client", server)
    assert (told["moment"]["values"]["question"], told["after"]["answer"]) == (AMBIGUOUS, "1932")


async def test_an_interrupted_thread_resumes_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    with dev_server(tmp_path, port) as first:
        async with get_client(url=first.url) as studio:
            thread = await new_thread(studio)
            halt = ["answer"]
            await studio.runs.wait(thread, "closed-book", input={"question": QUESTION}, context=CONTEXT, interrupt_before=halt)
    with dev_server(tmp_path, port) as second:
        async with get_client(url=second.url) as studio:
            assert (await studio.threads.get_state(thread))["next"] == ["answer"]
            await studio.runs.wait(thread, "closed-book", input=None, context=CONTEXT)
            state = await values(studio, thread)
    assert (state["question"], state["tree"]["0"]["status"]) == (QUESTION, "leaf")
    assert second.complaints() == []


def test_the_error_on_a_missing_extra_names_what_to_install(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph_cli", None)
    outcome = ramify("studio")
    assert outcome.code == 1
    assert outcome.err.strip().splitlines() == [
        "error: the development server of LangGraph is not installed — run `pip install 'ramify-rag[studio]'`"
    ]


def test_a_port_in_use_is_one_line(ramify: Ramify) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        outcome = ramify("studio", "--port", taken.getsockname()[1])
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "Address already in use" in outcome.err
    assert "choose another" in outcome.err
