"""Run a strategy on a question, from asynchronous and from synchronous code, and track a run by its events."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.graph.state import CompiledStateGraph

from ramify.graphs.result import Result
from ramify.graphs.strategies import DEFAULT, configure
from ramify.nodes.init_tree import checked
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Branch, Passage, Tree, merge_branches
from ramify.tools.errors import UsageError

T = TypeVar("T")
Watch = Callable[[str, Any], None]
"""Called with each event of the run: its kind (`tasks`, `values` or `custom`) and what LangGraph says of it."""
_AWAKE = 0.5
"""Seconds within which Ctrl-C is seen."""
WARNING = "warning: "
"""Before a notice that comes with a failure."""
VERBS = {
    "init_tree": "getting ready",
    "contextualize": "understanding the follow-up",
    "retrieve": "searching",
    "answer": "answering",
    "decide": "deciding",
    "decompose": "splitting",
    "score_pair": "checking the pair",
    "extract_entities": "naming entities",
    "judge": "judging",
    "aggregate": "joining answers",
    "next_question": "asking on",
    "plan": "planning",
    "filter": "reading",
    "search_suggested": "searching anew",
    "retrieve_reports": "looking up reports",
    "map_report": "reading reports",
    "reduce": "joining answers",
    "finalize": "concluding",
    "compress": "concluding",
}
"""What the steps that take time do, in words for users."""


async def ask_async(
    question: str, strategy: str = DEFAULT, watch: Watch | None = None, config: RunnableConfig | None = None, **options: Any
) -> Result:
    """Answer a question; options are settings or arguments of the strategy's wiring, `config` is LangChain's (callbacks, tags, …).

    UsageError, IndexingError or ModelError where nothing can be asked at all; a weak or failed branch is told in the tree instead, and a
    model that was lost after its first reply in the result's `error`.
    """
    wiring, settings = configure(strategy, options)
    result, _ = await run_graph(wiring.ready, {"question": checked(question)}, strategy, settings, watch, config)
    return result


def ask(question: str, strategy: str = DEFAULT, watch: Watch | None = None, **options: Any) -> Result:
    """Answer a question from synchronous code, also where an event loop is already running."""
    return blocking(ask_async(question, strategy, watch, **options))


async def run_graph(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    given: Any,
    strategy: str,
    settings: Settings,
    watch: Watch | None = None,
    config: RunnableConfig | None = None,
) -> tuple[Result, dict[str, Any]]:
    """Run a strategy's graph to its end; return the result and the last state.

    A `recursion_limit` in the config counts where it is lower than the run's own: UsageError where the run would exceed it.
    """
    began = time.perf_counter()
    bound = _recursion_limit(settings)
    allowed = min(bound, (config or {}).get("recursion_limit", bound))
    stream: Any = graph.astream(
        given,
        {**(config or {}), "recursion_limit": allowed},
        context=settings,
        stream_mode=["tasks", "values", "custom"],  # with `custom`, LangGraph tells of a task when it starts, not when the next one ends
        output_keys=list(graph.builder.channels),
    )
    state: dict[str, Any] = {}
    try:
        async for kind, event in stream:
            if kind == "values":
                state = event
            if watch is not None:
                watch(kind, event)
    except GraphRecursionError:
        if allowed == bound:
            raise
        remedy = f"raise it (to {bound} at most), or let the tree grow less: `ramify settings` lists what bounds it"
        raise UsageError(f"the question takes more than the {allowed} steps that the caller's recursion_limit allows", remedy) from None
    return Result.from_state(state, strategy, time.perf_counter() - began), state


def _recursion_limit(settings: Settings) -> int:
    """Bound the supersteps of a run by its depth: more than any wiring needs."""
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
    """Run a coroutine while the loop wakes twice a second: else a signal that comes as it falls asleep is seen at its next event only."""

    async def wake() -> None:
        while True:  # noqa: ASYNC110  # nothing is waited for but that the loop wakes
            await asyncio.sleep(_AWAKE)

    waking = asyncio.ensure_future(wake())
    try:
        return await work
    finally:
        waking.cancel()


class RunTracker:
    """The state of a run as far as it has come: its tree, notices, and what is being done; call it with each event of the run."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.tree: Tree = {}
        self.passages: dict[str, Passage] = {}
        self.question = ""
        self.doing = VERBS["init_tree"]
        self.notices: list[str] = []
        self._tell = tell
        self._tasks: dict[str, tuple[str, str]] = {}
        """By a task's id: the path of its branch, and what it does."""

    @property
    def busy(self) -> dict[str, str]:
        """Return what is being done to each branch that is being worked on, by path."""
        return dict(self._tasks.values())

    def __call__(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take in an event of the run."""
        if kind == "values":
            self._update(event)
        elif kind == "tasks" and "input" in event:
            self._begin(event)
        elif kind == "tasks":
            self._end(event)

    def _update(self, state: Mapping[str, Any]) -> None:
        self.tree = dict(state.get("tree") or self.tree)
        self.passages = dict(state.get("passages") or self.passages)
        self.question = state.get("question") or self.question
        new = [notice for notice in state.get("notices") or () if notice not in self.notices]
        self.notices += new
        if self._tell is not None:
            before = WARNING if state.get("stopped_by", "finished") != "finished" else ""
            for notice in new:
                self._tell(before + notice)

    def _begin(self, event: Mapping[str, Any]) -> None:
        """A step begins with the whole state, the task of a branch with its arguments."""
        name, given = event["name"], event["input"]
        if isinstance(given, Mapping):
            self.doing = VERBS.get(name, self.doing)
            if name == "retrieve":  # one search for all branches
                wanted = [path for path, branch in self.tree.items() if branch.next == name]
                self._tasks |= {f"{event['id']} {path}": (path, VERBS[name]) for path in wanted}
        elif (branch := branch_of(given)) is not None:
            self._tasks[event["id"]] = (branch.path, VERBS.get(name, name))

    def _end(self, event: Mapping[str, Any]) -> None:
        self._tasks = {key: doing for key, doing in self._tasks.items() if key.split()[0] != event["id"]}
        update = event.get("result")
        result = update.get("__return__") if isinstance(update, Mapping) else None
        if isinstance(result, Mapping):
            self.tree = merge_branches(self.tree, {branch["path"]: branch for branch in result.get("branches", ())})


def branch_of(given: Any) -> Branch | None:
    """Return the branch among the arguments of a task, None where there is none."""
    arguments = given[0] if isinstance(given, tuple) and given else ()
    return next((branch for item in arguments if isinstance(branch := getattr(item, "branch", item), Branch)), None)
