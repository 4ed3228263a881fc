"""What this project uses of LangGraph beyond its documented interface; all of it is here.

Keys of a run's config and stream, the class of a compiled graph, the config of a graph that runs in a tool, and the lock, task and
migrations of its SQLite checkpointer and store.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import partial
from itertools import count
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import DEFAULT_RECURSION_LIMIT
from langchain_core.runnables.graph import Graph
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER, START
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore, Op

from ramify.tools.errors import UsageError

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

INTERRUPT = "__interrupt__"
"""Key of the interrupts in the last values of a run."""
RETURN = "__return__"
"""Key of what a task returned, in the event of its end."""
NAMESPACE = "checkpoint_ns"
SCRATCHPAD = "__pregel_scratchpad"
"""Key of a task's scratchpad, which numbers its subgraphs in the order of their starts; that varies with parallel calls."""
SUPERSTEP, NODE = "langgraph_step", "langgraph_node"
"""Keys in a config's metadata: the number of the superstep, and the name of the running node."""


def superstep_of(config: Mapping[str, Any]) -> int:
    """Return the number of the superstep that a step runs in; -1 outside of a run."""
    return int(config.get("metadata", {}).get(SUPERSTEP, -1))


def checkpointer_of(config: Mapping[str, Any]) -> BaseCheckpointSaver[Any] | None:
    """Return the checkpointer of a run; None if it has none."""
    saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    return saver if isinstance(saver, BaseCheckpointSaver) else None


def has_checkpointer() -> bool:
    """Return whether the running graph has a checkpointer, also one of LangGraph's server."""
    return bool(get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER))


def with_checkpointer(config: RunnableConfig, saver: BaseCheckpointSaver[Any] | None) -> RunnableConfig:
    """Return a config with another checkpointer, or with none."""
    return {**config, "configurable": {**config["configurable"], CONFIG_KEY_CHECKPOINTER: saver}}


def without_default_limit(config: RunnableConfig) -> RunnableConfig:
    """Return a config without the recursion limit that LangChain fills in outside of a graph."""
    copy = config.copy()
    if copy.get("recursion_limit") == DEFAULT_RECURSION_LIMIT and NODE not in copy.get("metadata", {}):
        del copy["recursion_limit"]
    return copy


def in_namespace(config: RunnableConfig, name: str, saver: BaseCheckpointSaver[Any]) -> RunnableConfig:
    """Return the config of a graph that runs inside a task, with its checkpoints under a name below the task's.

    The scratchpad numbers subgraphs from 0, and keeps the decisions in it.
    """
    configurable = config["configurable"]
    scratchpad = configurable.get(SCRATCHPAD)
    is_known = is_dataclass(scratchpad) and not isinstance(scratchpad, type)
    renumbered: Any = replace(scratchpad, subgraph_counter=count().__next__) if is_known else None  # type: ignore[type-var]
    below = {NAMESPACE: f"{configurable[NAMESPACE]}|{name}", SCRATCHPAD: renumbered, CONFIG_KEY_CHECKPOINTER: saver}
    return {**config, "configurable": {**configurable, **below}}


def unread_messages(checkpoint: Mapping[str, Any]) -> list[AnyMessage]:
    """Return the messages of an input that no step has read."""
    return list(checkpoint["channel_values"][START]["messages"])


def task_result(event: Mapping[str, Any]) -> Any:
    """Return what a task returned, from the event of its end; None if it returned nothing."""
    update = event.get("result")
    return update.get(RETURN) if isinstance(update, Mapping) else None


class AsyncGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph of asynchronous steps; its synchronous methods raise an error that names the alternatives."""

    edges: Mapping[tuple[str, str], bool] = MappingProxyType({})
    """Edges from steps, and whether each has a condition."""
    channel_names: Sequence[str] = ()
    """The names of all values of the state, also of those that are no output."""
    accepts_above_tau: bool = False
    """Whether an edge accepts an answer because its confidence is above tau."""

    @classmethod
    def compile(
        cls, graph: "StateGraph[Any, Any, Any, Any]", edges: Mapping[tuple[str, str], bool], accepts_above_tau: bool = False, **options: Any
    ) -> "AsyncGraph":
        """Return a graph compiled with the options of `StateGraph.compile`, which makes its own class and no other."""
        compiled = graph.compile(**options)
        compiled.__class__ = cls
        made: AsyncGraph = compiled  # type: ignore[assignment]
        made.edges, made.channel_names, made.accepts_above_tau = edges, list(graph.channels), accepts_above_tau
        return made

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Return a copy, such as LangGraph's server makes, with the same drawing."""
        made = super().copy(update)
        made.edges, made.channel_names, made.accepts_above_tau = self.edges, self.channel_names, self.accepts_above_tau
        return made

    def stream(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UsageError; `invoke` and `batch` come here, too, and so does the `invoke` of a graph that has this one as a node."""
        what = "this graph's steps are asynchronous: it cannot be run by invoke, stream or batch"
        remedy = "await ainvoke or astream of the outermost graph; from synchronous code call ramify.graphs.ask or Conversation().ask"
        raise UsageError(what, remedy)

    def get_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the drawing."""
        return self._clean_drawing(super().get_graph(*args, **kwargs))

    async def aget_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the drawing."""
        return self._clean_drawing(await super().aget_graph(*args, **kwargs))

    def _clean_drawing(self, graph: Graph) -> Graph:
        """Return the drawing with the graph's own edges, the unconditional ones unmarked, and without steps that none of them reaches."""
        steps = {START, *(target for _, target in self.edges)} | {source for source, _ in self.edges}
        own = [edge for edge in graph.edges if edge.source == START or (edge.source, edge.target) in self.edges]
        graph.nodes = {name: node for name, node in graph.nodes.items() if name in steps}
        graph.edges = [
            edge if self.edges.get((edge.source, edge.target), True) else edge._replace(data=None, conditional=False) for edge in own
        ]
        return graph


class RollbackLock(asyncio.Lock):
    """The lock of a SQLite checkpointer: an unfinished transaction is rolled back before it is released, because others would commit it."""

    def __init__(self, saver: "AsyncSqliteSaver") -> None:
        super().__init__()
        self._connection = saver.conn
        saver.lock = self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is not None:
                await self._connection.rollback()
        finally:
            self.release()


def commit_one_by_one(store: "AsyncSqliteStore") -> None:
    """Make a store run each operation in its own transaction: one that reads before it writes fails at once while others write.

    It raises SQLite's error instead of its own, which wraps it or fails to end a transaction that SQLite has ended.
    """
    store.abatch = partial(_one_by_one, store.abatch)  # type: ignore[method-assign]


async def _one_by_one(batch: Callable[[Iterable[Op]], Awaitable[list[Any]]], operations: Iterable[Op]) -> list[Any]:
    try:
        return [result for operation in operations for result in await batch([operation])]
    except (ValueError, sqlite3.Error) as error:
        raise error.__cause__ or error.__context__ or error from None


def is_migrated(version: int | None) -> bool:
    """Return whether a SQLite store with this latest migration has all tables."""
    from langgraph.store.sqlite import SqliteStore

    return version is not None and version + 1 >= len(SqliteStore.MIGRATIONS)


async def end_batching(store: BaseStore) -> None:
    """Cancel the task in which a store batches operations; otherwise asyncio warns of a pending task."""
    task = getattr(store, "_task", None)
    if task is not None:
        task.cancel()
        await asyncio.wait([task])
