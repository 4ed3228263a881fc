"""A strategy as a node and as a subgraph of somebody's own graph."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import ramify.graphs as graphs
from ramify.nodes.settings import PruneSettings
from ramify.nodes.tree import Branch
from ramify.nodes.tree.citation import Citation
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel
from tests.graphs.agents import Ears, thinker
from tests.river import FINAL, QUESTION, river

ASKED = {"question": QUESTION}
CONFIG: RunnableConfig = {"configurable": {"thread_id": "mine"}}


class Own(TypedDict, total=False):
    """Somebody's own state."""

    question: str
    answer: str
    citations: list[Citation]
    letter: str


def write(state: Own) -> Own:
    """Go on with the answer."""
    return {"letter": f"Dear reader, it is the {state['answer']}."}


def parent(node: Any, context: type[Any] | None = None, saver: Any = None) -> Any:
    """Make a graph of which our node is the first."""
    graph = StateGraph(Own, context_schema=context)
    graph.add_node("research", node)
    graph.add_node("write", write)
    graph.add_edge(START, "research")
    graph.add_edge("research", "write")
    graph.add_edge("write", END)
    return graph.compile(checkpointer=saver)


def settings(model: FakeModel | None = None, **options: Any) -> PruneSettings:
    """Make the settings that the parent's context gives."""
    return PruneSettings(model=model or thinker(), index=river(), **options)


@dataclass
class Trip:
    """A context of somebody's own, in which some names are settings of ours."""

    traveller: str = "Ada"
    model: Any = field(default_factory=thinker)
    index: InMemoryVectorStore = field(default_factory=river)


@pytest.mark.parametrize(
    "context", [settings(), Trip(), {"model": thinker(), "index": river(), "traveller": "Ada"}], ids=["settings", "dataclass", "dict"]
)
async def test_a_subgraph_takes_its_settings_from_the_parent_s_context(context: Any) -> None:
    state = await parent(graphs.build("prune").compile(), type(context)).ainvoke(ASKED, context=context)
    assert state["letter"] == "Dear reader, it is the Seine."
    assert state["citations"][0].source == "1.txt"


async def test_settings_of_another_strategy_count_as_far_as_they_are_shared() -> None:
    _, others = graphs.configure("tor", {"model": thinker(), "index": river(), "theta": 0.9})
    state = await parent(graphs.build("prune").compile(), type(others)).ainvoke(ASKED, context=others)
    assert state["answer"] == "Seine"


@pytest.mark.parametrize("schema", [None, PruneSettings], ids=["as it is", "made into settings by LangGraph"])
async def test_a_wrong_setting_in_a_context_is_reported_in_one_line(schema: type[Any] | None) -> None:
    with pytest.raises(UsageError) as caught:
        await parent(graphs.build("prune").compile(), schema).ainvoke(ASKED, context={"tau": 5})
    said = str(caught.value)
    assert "\n" not in said
    assert all(words in said for words in ("tau=5 is not valid", "less than or equal to 1", "ramify settings"))


async def test_a_subgraph_keeps_its_checkpoints_in_a_namespace_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    saver = InMemorySaver()
    graph = parent(graphs.build("prune").compile(), PruneSettings, saver)
    await graph.ainvoke(ASKED, CONFIG, context=settings())
    history = [snapshot async for snapshot in graph.aget_state_history(CONFIG)]
    assert [snapshot.next for snapshot in history] == [(), ("write",), ("research",), ("__start__",)]
    assert history[0].values["citations"][0].source == "1.txt"
    assert "msgpack" not in caplog.text


async def test_without_a_checkpointer_of_the_parent_s_it_keeps_none() -> None:
    saver = InMemorySaver()
    graph = parent(graphs.build("prune").compile(checkpointer=False), PruneSettings, saver)
    await graph.ainvoke(ASKED, CONFIG, context=settings())
    assert {kept.config["configurable"]["checkpoint_ns"] for kept in saver.list(None)} == {""}


async def test_a_subgraph_that_was_stopped_is_resumed(caplog: pytest.LogCaptureFixture) -> None:
    graph = parent(graphs.build("prune").compile(interrupt_before=["finalize"]), PruneSettings, InMemorySaver())
    model = thinker()
    await graph.ainvoke(ASKED, CONFIG, context=settings(model, **FINAL))
    inner = (await graph.aget_state(CONFIG, subgraphs=True)).tasks[0].state.values
    assert all(isinstance(branch, Branch) for branch in inner["tree"].values())
    asked = len(model.calls)
    state = await graph.ainvoke(None, CONFIG, context=settings(model, **FINAL))
    assert state["letter"] == "Dear reader, it is the Seine."
    assert [name for name, _ in model.calls[asked:]] == ["finalize"]
    assert "msgpack" not in caplog.text


async def test_the_parent_s_stream_shows_the_branches_of_a_subgraph() -> None:
    graph = parent(graphs.build("prune").compile(), PruneSettings)
    seen: dict[str, set[str]] = {"tasks": set(), "updates": set()}
    modes = ["tasks", "custom", "updates"]
    async for namespace, kind, event in graph.astream(ASKED, context=settings(**FINAL), subgraphs=True, stream_mode=modes):
        if namespace:
            assert namespace[0].startswith("research:")
            seen[kind] |= {event["name"]} if kind == "tasks" else event.keys()
    assert {"init_tree", "retrieve", "decide", "prune", "fill", "finalize"} <= seen["tasks"] & seen["updates"]


async def test_a_subgraph_does_not_speak_in_the_parent_s_chat() -> None:
    graph = parent(graphs.build("prune").compile(), PruneSettings)
    assert [message async for message in graph.astream(ASKED, context=settings(), stream_mode="messages")] == []


async def test_a_node_that_asks_hands_its_config_on() -> None:
    ears, saver = Ears(), InMemorySaver()

    async def node(state: Own, config: RunnableConfig) -> Own:
        result = await graphs.ask_async(state["question"], config=config, model=thinker(), index=river(), **FINAL)
        return {"answer": result.answer, "citations": result.citations}

    config: RunnableConfig = {**CONFIG, "callbacks": [ears], "tags": ["outer"]}
    state = await parent(node, saver=saver).ainvoke(ASKED, config)
    assert state["answer"] == "Seine"
    assert ears.prompts[-1] == "finalize"
    assert all("outer" in tags for tags in ears.tags)
    assert {kept.config["configurable"]["checkpoint_ns"] for kept in saver.list(None)} == {""}


@pytest.mark.parametrize("looping", [True, False])
def test_a_synchronous_parent_uses_the_tool(looping: bool) -> None:
    """Also where an event loop is running, as in a notebook."""
    tool, ears = graphs.research_tool(model=thinker(), index=river(), **FINAL), Ears()

    def node(state: Own) -> Own:
        said = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": state["question"]}})
        return {"answer": said.artifact["answer"]}

    def run() -> Any:
        return parent(node).invoke(ASKED, {"callbacks": [ears], "tags": ["outer"]})

    async def notebook() -> Any:
        return run()

    state = asyncio.run(notebook()) if looping else run()
    assert state["letter"] == "Dear reader, it is the Seine."
    assert ears.prompts == ["decide", "decide", "decide", "finalize"]
    assert all("outer" in tags for tags in ears.tags)


async def test_cancelling_the_parent_stops_the_branches_of_a_subgraph() -> None:
    model = thinker(latency=30.0)
    graph = parent(graphs.build("prune").compile(), PruneSettings)
    begun = asyncio.Event()

    async def run() -> None:
        async for _, event in graph.astream(ASKED, context=settings(model), subgraphs=True, stream_mode="tasks"):
            if event["name"] == "decide":
                begun.set()

    running = asyncio.create_task(run())
    await asyncio.wait_for(begun.wait(), 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert model.calls == []


async def test_the_parent_s_limit_counts_for_a_subgraph() -> None:
    with pytest.raises(GraphRecursionError):
        await parent(graphs.build("prune").compile(), PruneSettings).ainvoke(ASKED, {"recursion_limit": 4}, context=settings())


@pytest.mark.parametrize(
    "graph", [graphs.build("naive"), graphs.with_conversation(graphs.build("naive"))], ids=["alone", "in a conversation"]
)
@pytest.mark.parametrize("method", ["invoke", "stream", "batch", "invoke the parent"])
def test_synchronous_code_is_shown_what_to_call_before_anything_is_written(graph: Any, method: str) -> None:
    saver = InMemorySaver()
    compiled = graph.compile(checkpointer=saver)
    calls = {
        "invoke": lambda: compiled.invoke(ASKED, CONFIG),
        "stream": lambda: list(compiled.stream(ASKED, CONFIG)),
        "batch": lambda: compiled.batch([ASKED, ASKED], CONFIG),
        "invoke the parent": lambda: parent(graph.compile()).invoke(ASKED),
    }
    with pytest.raises(UsageError, match=r"ainvoke.* ramify\.graphs\.ask"):
        calls[method]()
    assert list(saver.list(CONFIG)) == []
