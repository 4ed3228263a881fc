"""The tool in an agent that keeps checkpoints: after a crash a run goes on at what is unfinished, and asks nothing twice."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.graphs.agents import Caller, thinker, tools_said
from tests.river import FINAL, FINAL_TOR, FIRST, QUESTION, replies, river

CONFIG: Any = {"configurable": {"thread_id": "mine"}}
ALONE = {"messages": [("human", QUESTION)]}
TWICE = {"messages": [("human", f"{QUESTION}\n{FIRST}")]}
WITH_A_FINAL_CALL = {"prune": FINAL, "tor": FINAL_TOR}


def mortal(prompt: str, question: str = QUESTION, by: type[Exception] = ValueError) -> FakeModel:
    """Make a model at whose call of a prompt the process ends, once."""
    ended: list[str] = []

    def answer(asked: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if (asked, slots["question"]) == (prompt, question) and not ended:
            ended.append(asked)
            raise by("power cut")
        return replies(asked, slots)

    return thinker(replies=answer)


def agent(model: FakeModel, saver: Any, strategy: str = "tor") -> Any:
    """Make an agent with the tool, as each life of a process does."""
    tool = graphs.research_tool(strategy, model=model, index=river(), **WITH_A_FINAL_CALL.get(strategy, {}))
    return create_agent(Caller(), [tool], checkpointer=saver)


def node(model: FakeModel, saver: Any) -> Any:
    """Make a graph that has one node call all tools of a message."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([graphs.research_tool("tor", model=model, index=river(), **FINAL_TOR)]))
    graph.add_edge(START, "tools")
    return graph.compile(checkpointer=saver)


def calls(*questions: str) -> Any:
    """Make the message that calls the tool once for each question."""
    asked = [{"name": "research_documents", "id": str(n), "args": {"question": question}} for n, question in enumerate(questions)]
    return {"messages": [AIMessage("", tool_calls=asked)]}


def undisturbed(asked: Any, strategy: str = "tor") -> int:
    """Count the calls of a run that nothing happens to."""
    model = thinker()
    agent(model, None, strategy).invoke(asked)
    return len(model.calls)


@asynccontextmanager
async def saver_of(path: Path, sync: bool) -> AsyncIterator[Any]:
    """Open a checkpointer of the kind that a synchronous or an asynchronous agent takes."""
    if sync:
        with SqliteSaver.from_conn_string(str(path)) as saver:
            yield saver
    else:
        async with AsyncSqliteSaver.from_conn_string(str(path)) as later:
            yield later


async def run(graph: Any, given: Any, sync: bool) -> Any:
    """Run a graph from synchronous or from asynchronous code."""
    return await asyncio.to_thread(graph.invoke, given, CONFIG) if sync else await graph.ainvoke(given, CONFIG)


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize(("strategy", "prompt"), [("tor", "judge"), ("tor", "finalize"), ("prune", "finalize"), ("iterative", "compress")])
async def test_after_a_crash_it_is_resumed(strategy: str, prompt: str, sync: bool, tmp_path: Path) -> None:
    model = mortal(prompt)
    for given in (ALONE, None):
        async with saver_of(tmp_path / "kept.sqlite", sync) as saver:
            if given:
                with pytest.raises(ValueError, match="power cut"):
                    await run(agent(model, saver, strategy), given, sync)
            else:
                state = await run(agent(model, saver, strategy), given, sync)
    told = tools_said(state["messages"])[0].artifact
    assert told["answer"] == "Seine"
    assert len(model.calls) == undisturbed(ALONE, strategy) + 1, "the call that died is made again, no other"
    assert told["usage"]["llm_calls"] == undisturbed(ALONE, strategy), "what the first life spent is counted"


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("make", [agent, node])
async def test_calls_side_by_side_go_on_each_for_itself(make: Any, sync: bool, tmp_path: Path) -> None:
    model = mortal("finalize")
    given = TWICE if make is agent else calls(QUESTION, FIRST)
    async with saver_of(tmp_path / "kept.sqlite", sync) as saver:
        with pytest.raises(ValueError, match="power cut"):
            await run(make(model, saver), given, sync)
        state = await run(make(model, saver), None, sync)
    assert [said.artifact["answer"] for said in tools_said(state["messages"])] == ["Seine", "Paris"]
    assert len(model.calls) <= undisturbed(TWICE) + 2, "at most the calls under way are made again"


async def test_the_same_question_in_a_later_turn_is_asked_anew() -> None:
    model = thinker()
    made = agent(model, InMemorySaver())
    for turn in (1, 2):
        state = await made.ainvoke(ALONE, CONFIG)
        assert len(model.calls) == turn * undisturbed(ALONE)
    assert [said.artifact["usage"]["llm_calls"] for said in tools_said(state["messages"])] == [undisturbed(ALONE)] * 2


async def test_another_message_after_a_crash_does_not_take_up_the_old_run() -> None:
    model = mortal("finalize")
    made = agent(model, InMemorySaver())
    with pytest.raises(ValueError, match="power cut"):
        await made.ainvoke(ALONE, CONFIG)
    before = len(model.calls)
    state = await made.ainvoke({"messages": [("human", FIRST)]}, CONFIG)
    assert tools_said(state["messages"])[-1].artifact["question"] == FIRST
    assert QUESTION not in [slots["question"] for _, slots in model.calls[before:]]


async def test_a_synchronous_call_inside_the_caller_s_own_loop_waits_for_nobody(tmp_path: Path) -> None:
    """The checkpointer's loop is blocked by the call, so nothing can be kept, and nothing hangs."""
    tool = graphs.research_tool(model=thinker(), index=river())

    async def research(state: MessagesState) -> MessagesState:
        return {"messages": [AIMessage(tool.invoke({"question": str(state["messages"][-1].content)}))]}

    graph = StateGraph(MessagesState)
    graph.add_node("research", research)
    graph.add_edge(START, "research")
    async with saver_of(tmp_path / "kept.sqlite", sync=False) as saver:
        state = await asyncio.wait_for(graph.compile(checkpointer=saver).ainvoke(ALONE, CONFIG), 20)
    assert str(state["messages"][-1].content).startswith("Answer: Seine")


async def test_what_was_kept_is_read_back_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    model, saver = mortal("finalize"), InMemorySaver()
    with pytest.raises(ValueError, match="power cut"):
        await agent(model, saver).ainvoke(ALONE, CONFIG)
    await agent(model, saver).ainvoke(None, CONFIG)
    assert "msgpack" not in caplog.text


def test_checkpoints_go_with_the_thread(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "kept.sqlite")) as saver:
        agent(thinker(), saver).invoke(ALONE, CONFIG)
        saver.delete_thread("mine")
    rows = sqlite3.connect(tmp_path / "kept.sqlite")
    assert [rows.execute(f"select count(*) from {table}").fetchone()[0] for table in ("checkpoints", "writes")] == [0, 0]
