"""An agent killed by SIGKILL while its tool, or its subagent, is at work; another process goes on where it was."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.faults import fault
from tests.graphs.agents import Caller, tools_said
from tests.graphs.test_killed import CONFIG, ROME, Dying, Hanging, two_halves
from tests.graphs.test_subagent import Delegator
from tests.river import FIRST, QUESTION, river

CHILD = "import asyncio, sys; from tests.graphs.test_tool_killed import run_until_killed; asyncio.run(run_until_killed(*sys.argv[1:]))"


def agent(kind: str, chat: FakeModel, saver: AsyncSqliteSaver) -> Any:
    options = {"strategy": "tor", "model": chat, "index": river(), "max_depth": 1}
    if kind == "tool":
        return create_agent(Caller(), [graphs.research_tool(**options)], checkpointer=saver)
    return create_deep_agent(Delegator(), subagents=[graphs.research_subagent(**options)], checkpointer=saver)


async def run_until_killed(kind: str, file: str) -> None:
    """Run the agent, and be killed on the way; run in a process of its own."""
    async with Dying.from_conn_string(file) as saver:
        await agent(kind, Hanging(replies=two_halves, logprobs=True), saver).ainvoke({"messages": [("human", QUESTION)]}, CONFIG)


@fault(
    "processes",
    "killed while an agent's tool runs",
    sees="the resumed agent gives the answer",
    kept="with a checkpointer, every finished branch",
    code="killed",
)
@pytest.mark.parametrize("kind", ["tool", "subagent"])
async def test_only_what_was_under_way_is_asked_again(kind: str, tmp_path: Path) -> None:
    file = str(tmp_path / "checkpoints.sqlite")
    root = Path(__file__).parents[2]
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", CHILD, kind, file], cwd=root, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    chat = FakeModel(replies=two_halves, logprobs=True)
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        state = await agent(kind, chat, saver).ainvoke(None, CONFIG)
    asked = [(name, slots["question"]) for name, slots in chat.calls]
    assert asked[0] == ("answer", ROME)
    assert not {("answer", FIRST), ("decompose", QUESTION)} & set(asked)
    [said] = tools_said(state["messages"])
    assert "Seine" in said.text
