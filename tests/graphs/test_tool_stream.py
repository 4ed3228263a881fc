"""The progress of the tool, as whoever streams the agent that calls it sees it."""

import asyncio
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import ramify.graphs as graphs
from ramify.nodes.tree.citation import without_marks
from tests.graphs.agents import Caller, thinker
from tests.graphs.test_text import TEXT, writing
from tests.river import FINAL, FIRST, QUESTION, river

ALONE = {"messages": [("human", QUESTION)]}


async def streamed(agent: Any, sync: bool, mode: Any = "custom", asked: Any = ALONE) -> list[Any]:
    """List the events of a stream, also of a synchronous one inside a running event loop."""
    if sync:
        return list(agent.stream(asked, stream_mode=mode))
    return [event async for event in agent.astream(asked, stream_mode=mode)]


def agent(**options: Any) -> Any:
    return create_agent(Caller(), [graphs.research_tool(**{"model": thinker(), "index": river(), **options})])


@pytest.mark.parametrize("sync", [True, False])
async def test_steps_and_branches_are_streamed_as_custom_events(sync: bool) -> None:
    events = await streamed(agent(**FINAL), sync)
    assert all((event["tool"], event["question"]) == ("research_documents", QUESTION) for event in events)
    doing = [event["doing"] for event in events if "doing" in event]
    assert [doing[0], doing[-1]] == ["getting ready", "concluding"]
    assert f"0.0 deciding: {FIRST}" in doing
    rows = [event["branch"] for event in events if "branch" in event]
    last = {row["path"]: row for row in rows}
    assert [(row["question"], row["answer"]) for row in last.values() if row["path"] != "0"] == [
        (FIRST, "Paris"),
        ("Which river runs through Paris?", "Seine"),
    ]
    assert all(one != following for one, following in pairwise(rows)), "nothing is told twice"


@pytest.mark.parametrize("sync", [True, False])
async def test_the_text_is_streamed_while_it_is_written(sync: bool) -> None:
    events = await streamed(agent(strategy="naive", model=writing()), sync)
    texts = [event["text"] for event in events if "text" in event]
    assert texts[-1] == without_marks(TEXT)
    assert all(following.startswith(text) for text, following in pairwise(texts))


@pytest.mark.parametrize("sync", [True, False])
async def test_the_same_events_are_the_tool_s_output_deltas(sync: bool) -> None:
    events = await streamed(agent(), sync, ["custom", "tools"])
    tools = [event for kind, event in events if kind == "tools"]
    assert [tools[0]["event"], tools[-1]["event"]] == ["tool-started", "tool-finished"]
    deltas = [event["delta"] for event in tools if event["event"] == "tool-output-delta"]
    assert deltas == [event for kind, event in events if kind == "custom"] != []


async def test_calls_side_by_side_are_distinguished_by_their_questions() -> None:
    events = await streamed(agent(), False, asked={"messages": [("human", f"{QUESTION}\n{FIRST}")]})
    assert {event["question"] for event in events} == {QUESTION, FIRST}


def test_a_watch_of_the_maker_s_sees_the_run_as_well() -> None:
    seen: list[str] = []
    made = agent(watch=lambda kind, event: seen.append(kind))
    assert list(made.stream(ALONE, stream_mode="custom"))
    assert {"tasks", "values"} <= set(seen)


async def test_a_tool_that_a_node_calls_streams_from_the_node_s_graph() -> None:
    tool = graphs.research_tool(model=thinker(), index=river())

    async def node(state: MessagesState) -> MessagesState:
        return {"messages": [AIMessage(await tool.ainvoke({"question": str(state["messages"][-1].content)}))]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    assert [event["doing"] for event in await streamed(graph.compile(), False) if "doing" in event][-1] == "concluding"


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_the_text_is_a_message_of_the_subgraph_and_none_in_the_caller_s_chat(subgraphs: bool) -> None:
    made = agent(strategy="naive", model=writing())
    stream = made.astream(ALONE, stream_mode="messages", subgraphs=True) if subgraphs else made.astream(ALONE, stream_mode="messages")
    chunks = [event[1][0] if subgraphs else event[0] async for event in stream]
    written = "".join(chunk.text for chunk in chunks if (chunk.id or "").endswith("-text-0"))
    assert written == (without_marks(TEXT) if subgraphs else "")


async def test_cancelling_a_stream_half_way_stops_the_branches() -> None:
    model = thinker(latency=30.0)
    async with aclosing(agent(model=model).astream(ALONE, stream_mode="custom")) as stream:
        async for event in stream:
            if "deciding" in event.get("doing", ""):
                break
    await asyncio.sleep(0)
    assert model.calls == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
