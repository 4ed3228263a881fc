"""The progress of the tool, as whoever streams the agent that calls it sees it."""

from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent

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


async def test_calls_side_by_side_are_told_apart_by_their_questions() -> None:
    events = await streamed(agent(), False, asked={"messages": [("human", f"{QUESTION}\n{FIRST}")]})
    assert {event["question"] for event in events} == {QUESTION, FIRST}


def test_a_watch_of_the_maker_s_sees_the_run_as_well() -> None:
    seen: list[str] = []
    made = agent(watch=lambda kind, event: seen.append(kind))
    assert list(made.stream(ALONE, stream_mode="custom"))
    assert {"tasks", "values"} <= set(seen)
