"""What is used of LangGraph beyond its documented interface is there, and means what `nodes/step/langgraph.py` says."""

import asyncio
import operator
from pathlib import Path
from typing import Annotated, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from langgraph.types import interrupt
from typing_extensions import TypedDict

from ramify.nodes.step import langgraph
from ramify.nodes.step.langgraph import AsyncGraph, checkpointer_of, in_namespace, superstep_of, task_result, unread_messages

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Messages(TypedDict):
    messages: Annotated[list[str], operator.add]


def compiled(step: Any, edges: dict[tuple[str, str], bool] | None = None) -> AsyncGraph:
    """Compile a graph of one step."""
    graph = StateGraph(Messages)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_edge("step", END)
    return AsyncGraph.compile(graph, edges or {}, checkpointer=InMemorySaver())


async def events(graph: AsyncGraph, given: Any) -> list[tuple[str, Any]]:
    return [event async for event in graph.astream(given, CONFIG, stream_mode=["tasks", "values"])]


async def test_a_compiled_graph_takes_another_class() -> None:
    async def step(state: Messages) -> Messages:
        return {"messages": ["b"]}

    graph = compiled(step, {("step", END): False})
    assert (await graph.ainvoke({"messages": ["a"]}, CONFIG))["messages"] == ["a", "b"]
    assert {"messages"} <= set(graph.channel_names)
    for same in (graph, graph.copy()):
        assert [edge.conditional for edge in same.get_graph().edges if edge.source == "step"] == [False]


async def test_a_step_finds_its_superstep_and_its_checkpointer_in_its_config() -> None:
    seen: list[Any] = []

    async def step(state: Messages, config: RunnableConfig) -> Messages:
        seen.extend([superstep_of(config), checkpointer_of(config), config["metadata"][langgraph.NODE]])
        below = in_namespace(config, "inner", cast(Any, checkpointer_of(config)))["configurable"]
        seen.extend([below[langgraph.NAMESPACE].endswith("|inner"), below[langgraph.SCRATCHPAD].subgraph_counter()])
        return {"messages": []}

    graph = compiled(step)
    await graph.ainvoke({"messages": ["a"]}, CONFIG)
    assert seen == [1, graph.checkpointer, "step", True, 0]
    assert superstep_of({}) == -1


async def test_the_end_of_a_task_says_what_it_returned() -> None:
    @task(name="part")
    async def part(number: int) -> dict[str, int]:
        return {"twice": 2 * number}

    async def step(state: Messages) -> Messages:
        await part(3)
        return {"messages": []}

    results = [task_result(event) for kind, event in await events(compiled(step), {"messages": []}) if kind == "tasks"]
    assert {"twice": 6} in results


async def test_interrupts_are_in_the_last_values_and_input_that_no_step_read_in_the_checkpoint() -> None:
    async def step(state: Messages) -> Messages:
        return {"messages": [interrupt("well?")]}

    graph = compiled(step)
    stops = [
        stop.value
        for kind, event in await events(graph, {"messages": ["a"]})
        if kind == "values"
        for stop in event.get(langgraph.INTERRUPT, ())
    ]
    assert stops == ["well?"]
    kept = [entry async for entry in cast(InMemorySaver, graph.checkpointer).alist(CONFIG)]
    assert unread_messages(kept[-1].checkpoint) == ["a"]


async def test_the_sqlite_checkpointer_takes_another_lock_and_the_store_another_batch(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "a.sqlite")) as saver:
        assert isinstance(saver.lock, asyncio.Lock)
        lock = langgraph.RollbackLock(saver)
        await saver.setup()
        await saver.conn.execute("CREATE TABLE kept (id)")
        await saver.conn.commit()
        try:
            async with lock:
                await saver.conn.execute("INSERT INTO kept VALUES (1)")
                raise ValueError
        except ValueError:
            pass
        [count] = await (await saver.conn.execute("SELECT count(*) FROM kept")).fetchone() or ()
        assert (saver.lock, count) == (lock, 0)
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "b.sqlite")) as store:
        langgraph.commit_one_by_one(store)
        await store.setup()
        await store.aput(("a",), "b", {"c": 1})
        found = await store.aget(("a",), "b")
        assert found is not None
        assert found.value == {"c": 1}
        assert asyncio.isfuture(store._task)
        await langgraph.end_batching(store)
        assert store._task.done()
    assert langgraph.is_migrated(len(SqliteStore.MIGRATIONS) - 1)
    assert not langgraph.is_migrated(None)
