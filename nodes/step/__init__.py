"""What a step is made of.

A step is a verb over what its edges hand it, an async function in a file of its own:

* `@branch_step`: of one branch and a `Context`; a LangGraph task a branch, side by side, retried and checkpointed one by one. It returns
  the branches that it changed or made
* `@level_step`: of all branches handed to it, in one go (a search for all of them)
* `@state_step`: of the whole state; like a level step, it returns the state's update

Where branches go next is said by edges alone (`graphs/`). `call_model` is for a step that asks the model about the whole question.

Beside it: `findings` (what is shown of branches), `text` (the answer in sentences, and whether they are supported), `review` (what a
person is asked before it counts), `closing` (`@final_step`: how a question ends, and which answers are withheld).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.func import task
from langgraph.types import RetryPolicy
from pydantic import BaseModel, Field

from ramify.nodes.asking.answerer import OnText
from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.asking.budget import CURRENT, working
from ramify.nodes.settings import NEVER, Settings
from ramify.nodes.state import State, Usage, merge_max
from ramify.nodes.tree import ROOT, Branch, ConfidenceSource, FrozenModel, Passage, Tree, children
from ramify.nodes.tree.answers import awaited, copy_answer, find_duplicate
from ramify.prompts.lenient_types import writing
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError, BudgetLimit, MalformedError, ModelError, RamifyError, ReplyError
from ramify.tools.scrub import scrub

__all__ = ["UNSPLIT", "Context", "Step", "Update", "branch_step", "call_model", "level_step", "state_step", "with_warning"]

S = TypeVar("S", bound=Settings)
G = TypeVar("G")
R = TypeVar("R", bound="Outcome")
T = TypeVar("T", bound=BaseModel)

Update = dict[str, Any]
UNSPLIT = "searched as it is, not split"
_PROGRAMMING = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Context(Generic[S]):
    """The state and the settings, as a step sees them; the wiring says where the step's edges lead."""

    state: Any
    """The state; that of Iterative RAG has more than others."""
    tree: Tree
    settings: S
    targets: frozenset[str] = field(default=frozenset())
    """The names of the steps that its edges lead to: what a decision may choose."""
    steps: frozenset[str] = field(default=frozenset())
    """The names of all steps of the graph."""
    final_call: bool = True
    """Whether the last step may ask the model; else the root's answer is the question's."""
    accepts: Callable[[Branch], bool] = field(default=lambda branch: True)
    """Tells whether the answer of a branch is accepted, as the edges say."""
    strategy: str = ""
    """The name of the strategy whose graph it is; empty where it is no registered one."""

    def pair(self, branch: Branch) -> list[Branch]:
        """List the children that count: the last two."""
        return children(self.tree, branch.path)[-2:]

    def passages(self, *branches: Branch) -> tuple[Passage, ...]:
        """List the passages that were found for branches, each once."""
        known = self.state["passages"]
        return tuple(known[key] for key in dict.fromkeys(key for branch in branches for key in branch.evidence) if key in known)

    def part_of(self, branch: Branch) -> str:
        """Say which question it is a part of; empty for the root, and where it asks the same: it tells apart what bears one name."""
        parent = self.tree.get(branch.parent or "")
        return "" if parent is None or branch.kind != "question" or parent.question == branch.question else parent.question

    def awaited(self, branch: Branch) -> bool:
        """Tell whether another branch waits for its answer."""
        return awaited(self.tree, branch)


Confirm = Callable[[Sequence[Branch], list[list[Branch]], Any], Awaitable[list[list[Branch]]]]
"""Takes the branches of a step, what it returned for each, and the context; returns what counts."""


@dataclass(frozen=True)
class Step:
    """A step as a graph runs it; call it as the function that it is made of."""

    name: str
    act: Callable[..., Awaitable[Any]]
    kind: Literal["branch", "level", "state"]
    once: bool = False
    """Whether branches that ask the same are asked for once."""
    final: bool = False
    """Whether it makes the question's last call, which budgets keep back."""
    confirm: Confirm | None = None
    """Asks a person about what it found for the branches, before that counts."""

    async def __call__(self, *given: Any) -> Any:
        """Do what it does: with a branch and a context, with branches and a context, or with a context."""
        return await self.act(*given)

    async def run(self, branches: Sequence[Branch], context: Context[Any]) -> Update:
        """Act on what was handed over; return the state's update."""
        if self.kind == "state":
            return dict(await self.act(context))
        if not branches:
            return {}
        if self.kind == "level":
            return dict(await self.act(list(branches), context))
        return await self._each(branches, context)

    async def _each(self, branches: Sequence[Branch], context: Context[Any]) -> Update:
        """Act on each branch in a task; one whose question is being asked elsewhere waits for the answer, and takes it over."""
        originals = {b.path: original for b in branches if self.once and (original := find_duplicate(context.tree, b))}
        asked = [branch for branch in branches if branch.path not in originals]

        async def act(branch: Branch) -> StepResult:
            return StepResult(branches=tuple(await self.act(branch, context)))

        results = await _in_tasks(self.name, act, asked, StepResult)
        found = [
            [_failed(branch, result.failure)] if result.failure and not result.branches else list(result.branches)
            for branch, result in zip(asked, results, strict=True)
        ]
        if self.confirm is not None and context.settings.reviewed != NEVER:
            found = await self.confirm(asked, found, context)
        changed = {branch.path: branch for group in found for branch in group}
        for branch in branches:
            if (original := originals.get(branch.path)) is None:
                continue
            if original.path in changed or original.answer is not None or not original.next:  # else the answer is waited for
                changed[branch.path] = copy_answer(branch, changed.get(original.path, original))
        return {"tree": changed, **_booked(results)}


def branch_step(once: bool = False, confirm: Confirm | None = None) -> Callable[[Callable[[Branch, Any], Awaitable[list[Branch]]]], Step]:
    """Make a step of an async function of a branch and a context; `once` asks identical questions of different branches once.

    `confirm` asks a person about all that was found, in one go, before it counts.
    """
    return lambda act: Step(act.__name__, act, "branch", once, confirm=confirm)


def level_step(act: Callable[[list[Branch], Any], Awaitable[Update]]) -> Step:
    """Make a step of an async function of all branches handed over and a context; it returns the state's update."""
    return Step(act.__name__, act, "level")


def state_step(act: Callable[[Any], Awaitable[Update]]) -> Step:
    """Make a step of an async function of a context; it returns the state's update."""
    return Step(act.__name__, act, "state")


class Outcome(FrozenModel):
    """What a task brings back: what it spent, what it showed the model, and why it failed if it did."""

    usage: Usage = Field(default_factory=Usage)
    shown: dict[str, int] = Field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    notices: tuple[str, ...] = ()
    """What the result has to say of it."""
    failure: str = ""
    malformed: bool = False
    """Whether it failed by a reply that was malformed, also when asked for again."""
    limit: BudgetLimit | None = None
    lost: bool = False
    """Whether it failed because the model cannot be asked: then nothing more is asked for the question."""


class StepResult(Outcome):
    """What the task of a branch brings back; with branches beside a failure, they go on in spite of it."""

    branches: tuple[Branch, ...] = ()


class CallResult(Outcome):
    """What the task of a call brings back: the reply as plain values."""

    value: dict[str, Any] = Field(default_factory=dict)
    confidence: float = 0.0
    confidence_source: ConfidenceSource = "stated"


def with_warning(error: ReplyError, branch: Branch, told: str) -> Branch:
    """Return a branch that goes on as told in spite of an error; of the root's the question's result says so, too."""
    note = f"{told}: {error}"
    context = CURRENT.get()
    context.failed = error
    if branch.path == ROOT:
        context.notices.append(note)
    return branch.to(branch.status, note=branch.noted(note))


def _failed(branch: Branch, why: str) -> Branch:
    """Return the branch of a task that failed, settled, with the reason: an answer that it had is kept."""
    return branch.to("failed" if branch.answer is None else "leaf", note=branch.noted(why))


def _booked(results: Sequence[StepResult]) -> Update:
    """Return the update that books what tasks spent and showed, and what stops the question."""
    update: Update = {"shown": {}, "usage": Usage(critical_path_calls=max((result.usage.llm_calls for result in results), default=0))}
    notices: list[str] = []
    for result in results:
        update["shown"] = merge_max(update["shown"], result.shown)
        update["usage"] += result.usage
        notices += result.notices
    if limits := [result.limit for result in results if result.limit]:
        update["stopped_by"] = limits[0]
    if lost := [result.failure for result in results if result.lost]:
        notices.append(lost[0])
        update |= {"stopped_by": "error", "error": lost[0]}
    return {**update, "notices": notices} if notices else update


async def call_model(
    state: State,
    prompt: Prompt[T],
    passages: tuple[Passage, ...] | None = None,
    field: str = "answer",
    instead: str = "",
    on_text: OnText | None = None,
    **slots: Any,
) -> tuple[Reply[T] | None, Update]:
    """Ask the model one thing for the whole question; return its reply and the update that books it.

    No reply means that it failed: the update says why. `instead` is what is done without a reply; where there is nothing, the failure is
    what the question was stopped by. `on_text` gets the reply's text as it comes.
    """

    async def call(given: dict[str, Any]) -> CallResult:
        reply = await ask(prompt, field=field, on_text=on_text, **given)
        value = reply.value.model_dump(mode="json")
        return CallResult(value=value, confidence=reply.confidence, confidence_source=reply.confidence_source)

    given = slots if passages is None else {"passages": passages, **slots}
    [said] = await _in_tasks(prompt.name, call, [given], CallResult)
    update: Update = {"shown": said.shown, "usage": said.usage + Usage(critical_path_calls=said.usage.llm_calls)}
    if said.failure:
        update["notices"] = list(dict.fromkeys([*state["notices"], f"{instead}: {said.failure}" if instead else said.failure]))
        if stopped := said.limit or ("error" if said.lost or not instead else ""):
            update["stopped_by"] = stopped
        if said.lost:
            update["error"] = said.failure
        return None, update
    shown = tuple(passage for passage in passages or () if passage.id in said.shown)
    kind = writing(prompt.reply) if prompt.concludes else prompt.reply
    return Reply(kind.model_validate(said.value), said.confidence, said.confidence_source, shown), update


async def _in_tasks(name: str, act: Callable[[G], Awaitable[R]], given: Sequence[G], kind: type[R]) -> list[R]:
    """Act on each of what is given, side by side, each in a LangGraph task: checkpointed, retried, seen in the stream, failing alone.

    ModelError where the model cannot be asked and has not replied to the question before.
    """

    async def perform(item: G) -> dict[str, Any]:
        """Act once; what it spent is part of the result, also when it fails."""
        outer = CURRENT.get()
        outcome = kind()
        with working(outer.settings, outer.budget) as work:
            try:
                outcome = await act(item)
            except (ReplyError, BudgetError) as error:
                work.failed = error
            except Exception:
                outer.spent += work.spent
                raise
        told: dict[str, Any] = {"usage": work.spent, "shown": work.shown, "notices": tuple(work.notices)}
        if isinstance(work.failed, BudgetError):
            told |= {"failure": work.failed.what, "limit": work.failed.limit}
        elif work.failed is not None:
            told |= {"failure": str(work.failed), "malformed": isinstance(work.failed, MalformedError)}
        return outcome.model_copy(update=told).model_dump(mode="json")

    performed: Any = task(name=name, retry_policy=RetryPolicy(max_attempts=2, retry_on=_transient))(cast(Any, perform))

    async def attempt(item: G) -> R:
        """Act in a task; what it spent is known also where it ends in an error."""
        outer = CURRENT.get()
        with working(outer.settings, outer.budget) as work:
            try:
                return kind.model_validate(await performed(item))
            except ModelError as error:
                outer.budget.lost = error
                return kind(usage=work.spent, failure=str(error), lost=True)
            except Exception as error:
                if not _transient(error):
                    raise
                return kind(usage=work.spent, failure=scrub(f"{type(error).__name__}: {error}"))

    outcomes = []
    for found in await asyncio.gather(*map(attempt, given), return_exceptions=True):
        if isinstance(found, BaseException):
            raise found
        outcomes.append(found)
    budget = CURRENT.get().budget
    if budget.lost is not None and not (budget.replied or any(outcome.usage.replies for outcome in outcomes)):
        raise budget.lost
    return outcomes


def _transient(error: BaseException) -> bool:
    """Tell whether a failure may pass: then its task is tried again, and at last its branch fails alone."""
    return isinstance(error, Exception) and not isinstance(error, (RamifyError, GraphBubbleUp, *_PROGRAMMING))
