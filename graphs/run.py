"""Run one question through a strategy's graph; and its result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, Interrupt
from pydantic import Field

from ramify.graphs.choice import choose_strategy
from ramify.graphs.strategies import configure
from ramify.graphs.wiring import Wiring
from ramify.nodes.init_tree import init_tree, validate_question
from ramify.nodes.settings import NEVER, Settings
from ramify.nodes.state import Search, StoppedBy, Usage, pending_message
from ramify.nodes.step.langgraph import INTERRUPT, AsyncGraph, task_result
from ramify.nodes.step.text import STREAM_TEXT
from ramify.nodes.tree import Branch, FrozenModel, Passage, Tree, is_unknown, merge_branches, to_row
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line
from ramify.tools.scrub import mask_known

ANSWER_FORMAT = "ramify-answer/1"
"""The format of an answer in JSON; it has another number when a field changes its meaning or is gone."""


class ResultUsage(Usage):
    """Usage of a question, with the seconds it took."""

    wall_s: float = 0.0
    loading_s: float = 0.0
    """Seconds of these spent loading encoder, index and reader, which do not count against the budget."""


class Result(FrozenModel):
    """The result of a question."""

    question: str
    strategy: str
    model: str
    tau: float | None = None
    """The confidence above which an answer was accepted; None if the strategy has no such threshold."""
    index: str = ""
    """Description of the index that was searched; empty if none was."""
    answer: str
    """The short, exact answer; Unknown where there is none."""
    text: str = ""
    """The answer in sentences, each with the numbers of its citations; empty with `style=short`."""
    sentences: list[Sentence] = Field(default_factory=list)
    quoted: bool = False
    """Whether the text is quoted from the passages word for word."""
    confidence: float | None = None
    """How likely the answer is right; None beside Unknown."""
    confidence_source: str | None = None
    citations: list[Citation] = Field(default_factory=list)
    tree: Tree
    usage: ResultUsage
    stopped_by: StoppedBy
    asked_back: str = ""
    """A clarifying question instead of an answer, which is Unknown then: whom a pronoun means."""
    error: str = ""
    """Why the model became unavailable, with what to do; empty if it did not."""
    explanation: str = ""
    """Why the answer is Unknown, in words; beside an answer, how it follows, where a model says so."""
    withheld: str = ""
    """Which answer a profile withheld, and why; the answer is Unknown then. Empty if none was."""
    settled_by: str = ""
    notices: list[str] = Field(default_factory=list)
    passages: dict[str, Passage] = Field(default_factory=dict, repr=False)
    shown: dict[str, int] = Field(default_factory=dict, repr=False)
    """The passages that the model was shown, by id, and how many characters of each."""
    search: Search | None = Field(default=None, repr=False)
    """The memory of Iterative RAG's filter loop."""

    @classmethod
    def from_state(cls, state: dict[str, Any], strategy: str, seconds: float) -> "Result":
        """Return the result of a graph's final state."""
        names = cls.model_fields.keys() & state.keys() - {"usage"}
        cost = ResultUsage(**state["usage"].model_dump(), wall_s=round(seconds, 3), loading_s=round(state.get("loading_s", 0.0), 3))
        return cls(**{name: state[name] for name in names}, strategy=strategy, usage=cost)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `ramify ask --json` prints, without known secrets."""
        values = self.model_dump(exclude={"tree", "passages", "shown", "search"})
        shown: dict[str, Any] = mask_known({"format": ANSWER_FORMAT, **values, "tree": [to_row(branch) for branch in self.tree.values()]})
        return shown


def failure_reason(result: Result) -> str:
    """Return why a run failed, empty if it did not, even if its answer is Unknown."""
    if result.error:
        return result.error
    if result.stopped_by != "error" or not is_unknown(result.answer) or any(branch.known for branch in result.tree.values()):
        return ""
    reasons = (*reversed(result.notices), result.explanation, *(branch.note for branch in result.tree.values()))
    return next(filter(None, reasons), "the model gave no usable reply")


T = TypeVar("T")
Reviewer = Callable[[list[dict[str, Any]]], Awaitable[list[dict[str, Any]]]]
"""Shows a person actions (name, args, description) and returns a decision for each: `{"type": "approve"}`, or edit or reject."""
Watch = Callable[[str, Any], None]
"""Called with each event of the run: its kind (`tasks`, `values` or `custom`) and LangGraph's data."""
_SIGNAL_POLL_S = 0.5
"""Seconds within which Ctrl-C is noticed."""
WARNING = "warning: "
"""Prefix of a notice of a failure."""
STEP_VERBS = {
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
    **dict.fromkeys(("next_question", "follow_up"), "asking on"),
    **dict.fromkeys(("next_thought", "search_or_answer"), "thinking on"),
    "condense": "condensing",
    "plan": "planning",
    "filter": "reading",
    "search_suggested": "searching anew",
    "retrieve_reports": "looking up reports",
    "map_report": "reading reports",
    "reduce": "joining answers",
    "finalize": "concluding",
    "compress": "concluding",
}
"""Descriptions of the longer steps for users."""


async def ask_async(
    question: str,
    strategy: str | None = None,
    watch: Watch | None = None,
    config: RunnableConfig | None = None,
    reviewer: Reviewer | None = None,
    **options: Any,
) -> Result:
    """Answer a question; options are settings or arguments of the strategy's wiring, `config` is LangChain's (callbacks, tags, …).

    Without a strategy, it is chosen by the model: `choose_strategy`.

    With the option `ask_first`, the `reviewer` decides on proposals; UsageError without one.

    UsageError, IndexingError or ModelError if the question cannot be asked at all. Weak and failed branches are reported in the tree,
    and a model that became unavailable after its first reply in the result's `error`.
    """
    if strategy is None:
        strategy = await asyncio.to_thread(choose_strategy, options)
    wiring, settings = configure(strategy, options)
    graph, config = with_review_memory(wiring, settings, config, reviewer)
    result, _ = await run_graph(graph, {"question": validate_question(question)}, strategy, settings, watch, config, reviewer)
    return result


def ask(question: str, strategy: str | None = None, watch: Watch | None = None, reviewer: Reviewer | None = None, **options: Any) -> Result:
    """Answer a question from synchronous code, also where an event loop is already running."""
    return blocking(ask_async(question, strategy, watch, reviewer=reviewer, **options))


def with_review_memory(
    wiring: Wiring[Any], settings: Settings, config: RunnableConfig | None, reviewer: Reviewer | None
) -> tuple[AsyncGraph, RunnableConfig | None]:
    """Return the graph and config of a run that is not stored; if a person reviews it, with checkpoints in memory."""
    if settings.reviewed == NEVER:
        return wiring.ready, config
    check_reviewer(settings, reviewer)
    given = config or {}
    threaded: RunnableConfig = {**given, "configurable": {**given.get("configurable", {}), "thread_id": str(uuid4())}}
    return wiring.compile(checkpointer=InMemorySaver()), threaded


def check_reviewer(settings: Settings, reviewer: Reviewer | None) -> None:
    """Raise UsageError if a person is to review, and the caller has given no reviewer."""
    if settings.reviewed != NEVER and reviewer is None:
        where = "use `ramify ask`, `ramify chat`, the notebook's chat, or a conversation (`thread`) of `ramify serve`"
        remedy = f"{where}; pass a `reviewer` in Python; or set ask_first=never"
        raise UsageError(f"ask_first={settings.reviewed} needs a person's review, and there is no reviewer here", remedy)


async def run_graph(
    graph: AsyncGraph,
    given: Any,
    strategy: str,
    settings: Settings,
    watch: Watch | None,
    config: RunnableConfig | None,
    reviewer: Reviewer | None = None,
) -> tuple[Result, dict[str, Any]]:
    """Run a strategy's graph to its end; return the result and the last state. If it stops for a review, the reviewer decides.

    The answer's text is streamed to a `watch` with a true attribute `reads_text`, as custom events `{"text": all of it so far}`.
    A `recursion_limit` in the config counts if it is lower than the run's own: UsageError if the run exceeds it.
    """
    began = time.perf_counter()
    levels: int = getattr(settings, "max_depth", 1) + getattr(settings, "rounds", 0) + 1
    attempts: int = getattr(settings, "redecompositions", 0) + 1
    bound = int(20 + 12 * levels * attempts * 2 ** min(levels, 4))  # more supersteps than any wiring of this depth needs
    given_config: RunnableConfig = {"run_name": f"ramify {strategy}", **(config or {})}  # what a trace calls it
    allowed = min(bound, given_config.get("recursion_limit", bound))
    listens = bool(getattr(watch, "reads_text", False))
    configurable = {**given_config.get("configurable", {}), STREAM_TEXT: listens}
    running: RunnableConfig = {**given_config, "recursion_limit": allowed, "configurable": configurable}
    waited = 0.0
    try:
        state, stops = await _stream(graph, given, settings, watch, running)
        while stops and reviewer is not None:
            asked = time.perf_counter()
            decisions = {stop.id: {"decisions": await reviewer(stop.value["action_requests"])} for stop in stops}
            waited += time.perf_counter() - asked
            state, stops = await _stream(graph, Command(resume=decisions), settings, watch, running)
        if stops:
            raise UsageError("the question waits for a person's review", "resume it with a reviewer or on a terminal, or ask it again")
    except GraphRecursionError:
        if allowed == bound:
            raise
        remedy = f"raise it (to {bound} at most), or limit the tree: `ramify settings` lists its settings"
        raise UsageError(f"the question takes more than the {allowed} steps that the caller's recursion_limit allows", remedy) from None
    tau = state["tau"] if graph.accepts_above_tau else None
    return Result.from_state({**state, "tau": tau}, strategy, time.perf_counter() - began - waited), state


async def _stream(
    graph: AsyncGraph, given: Any, settings: Settings, watch: Watch | None, config: RunnableConfig
) -> tuple[dict[str, Any], tuple[Interrupt, ...]]:
    """Run a graph until it ends or stops for a review; return its state and the interrupts."""
    stream: Any = graph.astream(
        given,
        config,
        context=settings,
        stream_mode=["tasks", "values", "custom"],  # with `custom`, LangGraph reports tasks when they start
        output_keys=graph.channel_names,
    )  # not as version="v2", which takes the interrupts out of events that the caller's own stream shares
    state: dict[str, Any] = {}
    async for kind, event in stream:
        if kind == "values":
            state = event
        if watch is not None:
            watch(kind, event)
    return state, state.get(INTERRUPT, ())


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code and return its result; in a separate thread if an event loop is running.

    Ctrl-C ends it at once, without waiting for threads that are loading or computing.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(copy_context().run, asyncio.run, work).result()
    with asyncio.Runner() as runner:
        waking = runner.get_loop().create_task(_wake_regularly())
        try:
            return runner.run(work)
        except KeyboardInterrupt:
            runner.get_loop().set_default_executor(ThreadPoolExecutor(1))  # closing a loop waits for the threads of the one it has
            raise
        finally:
            waking.cancel()


async def _wake_regularly() -> None:
    """Wake the loop twice a second: otherwise a signal may be noticed only at the next event."""
    while True:  # noqa: ASYNC110  # nothing is waited for but that the loop wakes
        await asyncio.sleep(_SIGNAL_POLL_S)


class RunTracker:
    """The current state of a run: tree, notices, and running steps; call it with each event of the run."""

    reads_text = True

    def __init__(self, notify: Callable[[str], None] | None = None) -> None:
        self.tree: Tree = {}
        self.passages: dict[str, Passage] = {}
        self.question = ""
        self.doing = STEP_VERBS["init_tree"]
        self.text = ""
        """The answer's text as far as the model has generated it."""
        self.notices: list[str] = []
        self._notify = notify
        self._is_starting = False  # whether the state is still that of the conversation's last question
        self._tasks: dict[str, tuple[str, str]] = {}
        """By task id: the path of its branch, and what it does."""

    @property
    def busy(self) -> dict[str, str]:
        """Return what is being done to each branch in progress, by path."""
        return dict(self._tasks.values())

    def __call__(self, kind: str, event: Mapping[str, Any]) -> None:
        """Process an event of the run."""
        if kind == "values":
            self._update(event)
        elif kind == "custom":
            self.text = str(event.get("text") or self.text) if isinstance(event, Mapping) else self.text
        elif kind == "tasks" and "input" in event:
            self._begin(event)
        elif kind == "tasks":
            self._end(event)

    def _update(self, state: Mapping[str, Any]) -> None:
        self._is_starting |= pending_message(state.get("messages") or ()) is not None
        if self._is_starting:
            return
        self.tree = dict(state.get("tree") or self.tree)
        self.passages = dict(state.get("passages") or self.passages)
        self.question = state.get("question") or self.question
        new = [notice for notice in state.get("notices") or () if notice not in self.notices]
        self.notices += new
        if self._notify is not None:
            before = WARNING if state.get("stopped_by", "finished") != "finished" else ""
            for notice in new:
                self._notify(before + notice)

    def _begin(self, event: Mapping[str, Any]) -> None:
        """Record a started step, whose input is the state, or a branch's task, whose input are its arguments."""
        name, given = event["name"], event["input"]
        if isinstance(given, Mapping):
            self.doing = STEP_VERBS.get(name, self.doing)
            if name == "retrieve":  # one search for all branches
                wanted = [path for path, branch in self.tree.items() if branch.next == name]
                self._tasks |= {f"{event['id']} {path}": (path, STEP_VERBS[name]) for path in wanted}
        elif (branch := branch_of(given)) is not None:
            self._tasks[event["id"]] = (branch.path, STEP_VERBS.get(name, name))

    def _end(self, event: Mapping[str, Any]) -> None:
        self._is_starting &= event["name"] != init_tree.name
        self._tasks = {key: doing for key, doing in self._tasks.items() if key.split()[0] != event["id"]}
        result = task_result(event)
        if isinstance(result, Mapping):
            self.tree = merge_branches(self.tree, {branch["path"]: branch for branch in result.get("branches", ())})


def describe_start(kind: str, event: Any) -> str:
    """Return a description of the step or branch that an event starts; empty for other events."""
    if kind != "tasks" or "input" not in event or event["name"] not in STEP_VERBS:
        return ""
    doing, branch = STEP_VERBS[event["name"]], branch_of(event["input"])
    return doing if branch is None else one_line(f"{branch.path} {doing}: {branch.question}")


def branch_of(given: Any) -> Branch | None:
    """Return the branch among the arguments of a task, None if there is none."""
    arguments = given[0] if isinstance(given, tuple) and given else ()
    return next((branch for item in arguments if isinstance(branch := getattr(item, "branch", item), Branch)), None)
