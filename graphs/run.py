"""Run a strategy on a question, from asynchronous and from synchronous code."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.graph.state import CompiledStateGraph

from ramify.graphs.result import Result
from ramify.graphs.strategies import DEFAULT, configure
from ramify.nodes.plant import checked
from ramify.nodes.settings import Settings
from ramify.tools.errors import UsageError

T = TypeVar("T")
_AWAKE = 0.5
"""Seconds within which Ctrl-C is seen."""
Watch = Callable[[str, Any], None]
"""Called with each event of the run: its kind (`tasks`, `values` or `custom`) and what LangGraph says of it."""


async def ask_async(
    question: str, strategy: str = DEFAULT, watch: Watch | None = None, config: RunnableConfig | None = None, **options: Any
) -> Result:
    """Answer a question; options are settings or arguments of the strategy's wiring, `config` is LangChain's (callbacks, tags, …).

    UsageError, IndexingError or ModelError where nothing can be asked at all; a weak or failed branch is told in the tree instead, and a
    model that was lost after its first reply in the result's `error`.
    """
    wiring, settings = configure(strategy, options)
    return await answered_by(wiring.ready, strategy, question, settings, watch, config)


async def answered_by(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    strategy: str,
    question: str,
    settings: Settings,
    watch: Watch | None = None,
    config: RunnableConfig | None = None,
) -> Result:
    """Answer a question by a strategy's graph."""
    began = time.perf_counter()
    state = await watched(graph, {"question": checked(question)}, settings, watch, config)
    return Result.from_state(state, strategy, time.perf_counter() - began)


def ask(question: str, strategy: str = DEFAULT, watch: Watch | None = None, **options: Any) -> Result:
    """Answer a question from synchronous code, also where an event loop is already running."""
    return blocking(ask_async(question, strategy, watch, **options))


async def watched(
    graph: CompiledStateGraph[Any, Any, Any, Any], given: Any, settings: Settings, watch: Watch | None, config: RunnableConfig | None = None
) -> dict[str, Any]:
    """Run a graph to its end, showing each event to `watch`; give its last state."""
    state: dict[str, Any] = {}
    async for kind, event in events(graph, given, settings, config):
        if kind == "values":
            state = event
        if watch is not None:
            watch(kind, event)
    return state


async def events(
    graph: CompiledStateGraph[Any, Any, Any, Any], given: Any, settings: Settings, config: RunnableConfig | None = None
) -> AsyncIterator[tuple[str, Any]]:
    """Stream a run: `tasks` as they start and end, and the whole state as `values` after each step.

    `custom` is asked for because LangGraph then tells of a task when it starts, not when the next one ends. A `recursion_limit` in the
    config counts where it is lower than the run's own: UsageError where the run would go beyond it.
    """
    bound = recursion_limit(settings)
    allowed = min(bound, (config or {}).get("recursion_limit", bound))
    stream = graph.astream(
        given,
        {**(config or {}), "recursion_limit": allowed},
        context=settings,
        stream_mode=["tasks", "values", "custom"],
        output_keys=list(graph.builder.channels),
    )
    try:
        async for kind, event in stream:
            yield str(kind), event
    except GraphRecursionError:
        if allowed == bound:
            raise
        remedy = f"raise it (to {bound} at most), or let the tree grow less: `ramify settings` lists what bounds it"
        raise UsageError(f"the question takes more than the {allowed} steps that the caller's recursion_limit allows", remedy) from None


def recursion_limit(settings: Settings) -> int:
    """Bound the steps of a run by its depth: more than any wiring needs, less than for ever."""
    levels: int = getattr(settings, "max_depth", 1) + getattr(settings, "rounds", 0) + 1
    attempts: int = getattr(settings, "redecompositions", 0) + 1
    return int(20 + 12 * levels * attempts * 2 ** min(levels, 4))


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code; in a thread of its own where an event loop is running.

    Ctrl-C ends it at once: threads that are loading or computing then are not waited for.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, work).result()
    with asyncio.Runner() as runner:
        try:
            return runner.run(_awake(work))
        except KeyboardInterrupt:
            runner.get_loop().set_default_executor(ThreadPoolExecutor(1))  # closing a loop waits for the threads of the one it has
            raise


async def _awake(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine while the loop wakes twice a second: a signal that comes as it falls asleep would be seen at its next event only."""

    async def wake() -> None:
        while True:  # noqa: ASYNC110  # nothing is waited for but that the loop wakes
            await asyncio.sleep(_AWAKE)

    waking = asyncio.ensure_future(wake())
    try:
        return await work
    finally:
        waking.cancel()
