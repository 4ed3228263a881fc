"""A person in the loop of an agent: the tool stops the agent's graph, which goes on by the person's decisions."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.graphs.agents import Caller, thinker, tools_said
from tests.river import FIRST, QUESTION, river

CONFIG: Any = {"configurable": {"thread_id": "mine"}}
ROME = "What is the capital of Italy?"
ANOTHER = "Which river runs through the capital of France today?"
APPROVE: Any = {"type": "approve"}
REJECT: Any = {"type": "reject"}
OTHER: Any = {"type": "edit", "edited_action": {"name": "split_question", "args": {"first": ROME}}}


def agent(model: FakeModel, saver: Any = None) -> Any:
    """Make an agent with the tool, as each life of a process does."""
    tool = graphs.research_tool("tor", model=model, index=river(), ask_first="splits", max_depth=1)
    return create_agent(Caller(), [tool], checkpointer=saver)


def splitter() -> FakeModel:
    """Make a model that splits two questions."""
    split = {"simple": False, "first": FIRST, "second": "Which river runs through {1}?"}
    from tests.river import replies

    return thinker(
        replies=lambda prompt, slots: (
            split if prompt == "decompose" and slots["question"] in (QUESTION, ANOTHER) else replies(prompt, slots)
        )
    )


def ask(*questions: str) -> Any:
    return {"messages": [("human", "\n".join(questions))]}


def tree_of(state: Any, call: int = 0) -> dict[str, str]:
    return {branch["path"]: branch["question"] for branch in tools_said(state["messages"])[call].artifact["tree"]}


async def test_the_tool_stops_the_agent_which_a_decision_resumes() -> None:
    model = splitter()
    made = agent(model, InMemorySaver())
    state = await made.ainvoke(ask(QUESTION), CONFIG)
    [stop] = state["__interrupt__"]
    assert stop.value["action_requests"][0]["args"] == {"first": FIRST, "second": "Which river runs through {1}?"}
    state = await made.ainvoke(Command(resume={"decisions": [OTHER]}), CONFIG)
    assert tree_of(state)["0.0"] == ROME
    assert [prompt for prompt, _ in model.calls].count("decompose") == 1


async def test_a_caller_that_streams_our_values_sees_there_what_is_asked() -> None:
    asked = []
    async for namespace, values in agent(splitter(), InMemorySaver()).astream(ask(QUESTION), CONFIG, stream_mode="values", subgraphs=True):
        asked += [len(namespace) for _ in values.get("__interrupt__", ())]
    assert asked == [2, 0], "in the tool's run, and in the agent"


async def test_two_calls_stop_at_once_and_each_decision_reaches_its_own() -> None:
    made = agent(splitter(), InMemorySaver())
    state = await made.ainvoke(ask(QUESTION, ANOTHER), CONFIG)
    stops = {stop.value["action_requests"][0]["description"]: stop.id for stop in state["__interrupt__"]}
    [first], [second] = ([key for told, key in stops.items() if f"`{question}`" in told] for question in (QUESTION, ANOTHER))
    decided = {first: {"decisions": [REJECT]}, second: {"decisions": [OTHER]}}
    state = await made.ainvoke(Command(resume=decided), CONFIG)
    assert list(tree_of(state, 0)) == ["0"]
    assert tree_of(state, 1)["0.0"] == ROME


async def test_one_of_two_is_decided_on_later() -> None:
    made = agent(splitter(), InMemorySaver())
    state = await made.ainvoke(ask(QUESTION, ANOTHER), CONFIG)
    first, second = state["__interrupt__"]
    state = await made.ainvoke(Command(resume={first.id: {"decisions": [APPROVE]}}), CONFIG)
    assert [stop.id for stop in state["__interrupt__"]] == [second.id]
    state = await made.ainvoke(Command(resume={"decisions": [APPROVE]}), CONFIG)
    assert [said.artifact["answer"] for said in tools_said(state["messages"])] == ["Seine", "Seine"]


@pytest.mark.parametrize("sync", [True, False])
async def test_another_process_resumes_where_the_first_has_asked(sync: bool, tmp_path: Path) -> None:
    model, file = splitter(), str(tmp_path / "kept.sqlite")
    for given in (ask(QUESTION), Command(resume={"decisions": [APPROVE]})):
        if sync:
            with SqliteSaver.from_conn_string(file) as saver:
                state = await asyncio.to_thread(agent(model, saver).invoke, given, CONFIG)
        else:
            async with AsyncSqliteSaver.from_conn_string(file) as later:
                state = await agent(model, later).ainvoke(given, CONFIG)
    assert tools_said(state["messages"])[0].artifact["answer"] == "Seine"
    assert [prompt for prompt, _ in model.calls].count("decompose") == 1


@pytest.mark.parametrize("sync", [True, False])
async def test_where_the_agent_keeps_nothing_the_tool_says_so(sync: bool) -> None:
    model = splitter()
    state = agent(model).invoke(ask(QUESTION)) if sync else await agent(model).ainvoke(ask(QUESTION))
    [said] = tools_said(state["messages"])
    assert said.status == "error"
    assert str(said.content).startswith("error: ask_first ")
    assert not model.calls
