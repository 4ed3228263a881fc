"""The tool inside real agents: what is the caller's stays the caller's, and reaches down to our calls."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import ramify.graphs as graphs
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel, library
from tests.graphs.agents import Caller, Ears, thinker, tools_said
from tests.river import FINAL, FIRST, QUESTION, but, river

ALONE = {"messages": [HumanMessage(QUESTION)]}
TWICE = {"messages": [HumanMessage(f"{QUESTION}\n{FIRST}")]}


def agent(model: FakeModel | None = None, caller: Caller | None = None, saver: Any = None, **options: Any) -> Any:
    """Make an agent with the tool."""
    tool = graphs.research_tool(model=model or thinker(), index=river(), **options)
    return create_agent(caller or Caller(), [tool], checkpointer=saver)


def heard(ears: Ears) -> dict[str, Any]:
    """Give the config of a caller who listens."""
    return {"configurable": {"thread_id": "mine"}, "callbacks": [ears], "tags": ["outer"]}


@pytest.mark.parametrize("sync", [True, False])
async def test_an_agent_calls_it_several_times_in_one_turn(sync: bool) -> None:
    made = agent()
    state = made.invoke(TWICE) if sync else await made.ainvoke(TWICE)
    first, second = tools_said(state["messages"])
    assert first.content.startswith("Answer: Seine\n")
    assert second.content.startswith("Answer: Paris\n")
    assert (first.artifact["question"], second.artifact["question"]) == (QUESTION, FIRST)


async def test_a_tool_node_calls_it() -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([graphs.research_tool(model=thinker(), index=river()), graphs.search_tool(river())]))
    graph.add_edge(START, "tools")
    names = [("research_documents", {"question": QUESTION}), ("search_documents", {"query": "Seine"})]
    calls = [{"name": name, "id": name, "args": arguments} for name, arguments in names]
    for state in (
        graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]}),
        await graph.compile().ainvoke({"messages": [AIMessage("", tool_calls=calls)]}),
    ):
        research, search = tools_said(state["messages"])
        assert research.artifact["answer"] == "Seine"
        assert "The river Seine runs through Paris." in search.content


@pytest.mark.parametrize("sync", [True, False])
async def test_the_caller_s_handlers_tags_and_thread_reach_our_calls(sync: bool) -> None:
    ears = Ears()
    made = agent(**FINAL)
    _ = made.invoke(ALONE, heard(ears)) if sync else await made.ainvoke(ALONE, heard(ears))
    assert ears.prompts == ["decide", "decide", "decide", "finalize"]
    assert all("outer" in tags for tags in ears.tags)
    assert ears.threads == {"mine"}


@pytest.mark.parametrize("sync", [True, False])
async def test_the_caller_s_history_holds_its_own_steps_only(sync: bool, caplog: pytest.LogCaptureFixture) -> None:
    saver = InMemorySaver()
    made = agent(saver=saver)
    config = heard(Ears())
    _ = made.invoke(TWICE, config) if sync else await made.ainvoke(TWICE, config)
    history = list(made.get_state_history(config))
    assert [snapshot.metadata["step"] for snapshot in history] == [3, 2, 1, 0, -1]  # model, tools, model
    assert all(snapshot.values.keys() <= {"messages"} for snapshot in history)
    below = {name.partition(":")[0] for name in saver.storage["mine"] if name}
    assert below == {"tools"}, "what a run keeps lies in a namespace below the call"
    again = tools_said(made.get_state(config).values["messages"])
    assert again[0].artifact["tree"][0]["question"] == QUESTION
    assert "msgpack" not in caplog.text


async def test_the_caller_s_stream_shows_our_branches() -> None:
    seen: dict[str, list[Any]] = {}
    async for namespace, kind, event in agent(**FINAL).astream(ALONE, subgraphs=True, stream_mode=["tasks", "custom", "updates"]):
        if namespace:
            assert namespace[0].startswith("tools:")
            seen.setdefault(kind, []).append(event)
    asked = [
        event["input"][0][0].question for event in seen["tasks"] if event["name"] == "decide" and isinstance(event.get("input"), tuple)
    ]
    assert asked == [QUESTION, FIRST, "Which river runs through Paris?"]
    assert {"init_tree", "retrieve", "decide", "prune", "fill", "finalize"} <= {name for event in seen["updates"] for name in event}


def test_a_synchronous_stream_shows_them_too() -> None:
    names = {event["name"] for namespace, event in agent().stream(ALONE, subgraphs=True, stream_mode="tasks") if namespace}
    assert {"init_tree", "decide", "finalize"} <= names


async def test_our_calls_do_not_speak_in_the_caller_s_chat() -> None:
    spoken = [message.content async for message, _ in agent().astream(ALONE, stream_mode="messages")]
    assert not [text for text in spoken if text.startswith("{")]
    assert any(text.startswith("Answer: Seine") for text in spoken)


async def test_cancelling_the_caller_stops_the_branches() -> None:
    model = thinker(latency=30.0)
    begun = asyncio.Event()

    class Heard(Ears):
        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            super().on_chat_model_start(*args, **kwargs)
            if self.prompts:
                begun.set()

    run = asyncio.create_task(agent(model).ainvoke(ALONE, {"callbacks": [Heard()]}))
    await asyncio.wait_for(begun.wait(), 20)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert model.calls == []  # the one under way was broken off
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_limit_that_the_caller_has_set_counts() -> None:
    model = thinker()
    said = tools_said(agent(model).invoke(ALONE, {"recursion_limit": 4})["messages"])[0]
    assert said.status == "error"
    assert "4 steps" in said.content
    assert "recursion_limit" in said.content
    assert "\n" not in said.content


async def test_a_limit_that_nobody_chose_does_not_cut_a_long_run() -> None:
    """Outside a graph LangChain fills in 25; passages read one by one take more steps than that."""
    never = but(filter={"is_sufficient": False, "facts": []})
    options = {"model": never, "index": library(*(f"Fact {n} is a fact." for n in range(40))), "top_k": 40, "batch": 1, "rounds": 30}
    tool = graphs.research_tool("iterative", **options)
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}}
    assert tool.invoke(call).status == "success"
    assert "12 steps" in tool.invoke(call, {"recursion_limit": 12}).content
    with pytest.raises(UsageError, match="25 steps"):
        await graphs.ask_async(QUESTION, "iterative", config={"recursion_limit": 25}, **options)


async def test_a_lower_limit_given_to_ask_counts() -> None:
    with pytest.raises(UsageError, match=r"more than the 3 steps.*raise it"):
        await graphs.ask_async(QUESTION, config={"recursion_limit": 3}, model=thinker(), index=river())


async def test_a_context_of_the_agent_s_own_is_none_of_ours() -> None:
    tool = graphs.research_tool(model=thinker(), index=river())
    made = create_agent(Caller(), [tool], context_schema=Trip)
    state = await made.ainvoke(ALONE, context=Trip(model="parrot"))
    assert tools_said(state["messages"])[0].artifact["answer"] == "Seine"


@dataclass
class Trip:
    """What an agent may know of its user."""

    model: str


def test_the_limit_still_ends_a_caller_that_goes_round_in_circles() -> None:
    with pytest.raises(GraphRecursionError):
        agent(caller=Caller(endless=True)).invoke(ALONE, {"recursion_limit": 15})


async def test_an_error_comes_back_to_the_calling_model() -> None:
    said = tools_said((await agent(max_depth=1).ainvoke({"messages": [HumanMessage("   ")]}))["messages"])[0]
    assert said.status == "error"
    assert said.content.startswith("error: the question is empty")
