"""What a step is made of.

A step is a verb over what its edges hand it, an async function in a file of its own:

* `@branch_step`: of one branch and a `Context`; a LangGraph task a branch, side by side, retried and checkpointed one by one. It returns
  the branches that it changed or made
* `@level_step`: of all branches handed to it, in one go (a search for all of them)
* `@state_step`: of the whole state; like a level step, it returns the state's update

Where branches go next is said by edges alone (`graphs/`). `call_model` is for a step that asks the model about the whole question.

Beside it: `findings` (what is shown of branches), `text` (the answer in sentences), `support` (which passage says a sentence), `review`
(what a person is asked before it counts), `reasons` (why there is no answer), `conflicts` (which of several answers counts), `likelihood`
(how likely an answer is right), `final_step` (how a question ends, and which answers are withheld), `langgraph` (what is used of
LangGraph's insides).
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
from ramify.nodes.asking.budget import CALL_CONTEXT, call_context
from ramify.nodes.settings import NEVER, Settings
from ramify.nodes.state import State, Usage, merge_max
from ramify.nodes.tree import ROOT, Branch, ConfidenceSource, FrozenModel, Passage, Tree, ancestors, latest_parts
from ramify.nodes.tree.answers import copy_answer, find_duplicate, is_awaited
from ramify.prompts.lenient_types import with_text
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError, BudgetLimit, MalformedError, ModelError, RamifyError, ReplyError
from ramify.tools.scrub import scrub

__all__ = ["UNSPLIT", "Context", "Step", "Update", "branch_step", "call_model", "level_step", "state_step", "with_warning"]

S = TypeVar("S", bound=Settings)
G = TypeVar("G")
R = TypeVar("R", bound="Outcome")
T = TypeVar("T", bound=BaseModel)

Update = dict[str, Any]
UNSPLIT = "searched unchanged, not split"
_PROGRAMMING = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Context(Generic[S]):
    """What a step receives: the state, the settings, and where its edges lead."""

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
    """Whether the answer of a branch is accepted, as the edges say."""
    strategy: str = ""
    """The name of the strategy whose graph it is; empty where it is no registered one."""

    def pair(self, branch: Branch) -> list[Branch]:
        """List the children that count: those of the last split."""
        return latest_parts(self.tree, branch)

    def passages(self, *branches: Branch) -> tuple[Passage, ...]:
        """List the passages that were found for branches, each once."""
        known = self.state["passages"]
        return tuple(known[key] for key in dict.fromkeys(key for branch in branches for key in branch.evidence) if key in known)

    def part_of(self, branch: Branch) -> str:
        """Return the question that it is part of, which disambiguates names; empty for the root, and if both are the same.

        That is the question that was split into it; in a chain, whose links were not split from each other, the main question.
        """
        above = ancestors(self.tree, branch.path)
        if not above or branch.kind != "question":
            return ""
        whole = next((ancestor for ancestor in reversed(above) if ancestor.attempts), above[0])
        return "" if whole.question == branch.question else whole.question

    def is_awaited(self, branch: Branch) -> bool:
        """Return whether another branch waits for its answer."""
        return is_awaited(self.tree, branch)


Confirm = Callable[[Sequence[Branch], list[list[Branch]], Any], Awaitable[list[list[Branch]]]]
"""Takes the branches of a step, its results for each, and the context; returns the reviewed results."""


@dataclass(frozen=True)
class Step:
    """A step of a graph; callable like the function it was made from."""

    name: str
    act: Callable[..., Awaitable[Any]]
    kind: Literal["branch", "level", "state"]
    deduplicate: bool = False
    """Whether identical questions are asked once."""
    final: bool = False
    """Whether it makes the question's final call, which budgets reserve."""
    confirm: Confirm | None = None
    """Asks a person to review its results before they are used."""

    async def __call__(self, *given: Any) -> Any:
        """Do what it does: with a branch and a context, with branches and a context, or with a context."""
        return await self.act(*given)

    async def run(self, branches: Sequence[Branch], context: Context[Any]) -> Update:
        """Run the step on these branches; return the state's update."""
        if self.kind == "state":
            return dict(await self.act(context))
        if not branches:
            return {}
        if self.kind == "level":
            return dict(await self.act(list(branches), context))
        return await self._run_each(branches, context)

    async def _run_each(self, branches: Sequence[Branch], context: Context[Any]) -> Update:
        """Run each branch in a task; one whose question is already being asked waits for that answer and copies it."""
        originals = {b.path: original for b in branches if self.deduplicate and (original := find_duplicate(context.tree, b))}
        asked = [branch for branch in branches if branch.path not in originals]

        async def act(branch: Branch) -> StepResult:
            return StepResult(branches=tuple(await self.act(branch, context)))

        results = await _run_tasks(self.name, act, asked, StepResult)
        results_of_each = [
            [_mark_failed(branch, result.failure)] if result.failure and not result.branches else list(result.branches)
            for branch, result in zip(asked, results, strict=True)
        ]
        if self.confirm is not None and context.settings.reviewed != NEVER:
            results_of_each = await self.confirm(asked, results_of_each, context)
        changed = {branch.path: branch for group in results_of_each for branch in group}
        for branch in branches:
            if (original := originals.get(branch.path)) is None:
                continue
            if original.path in changed or original.answer is not None or not original.next:  # else the answer is waited for
                changed[branch.path] = copy_answer(branch, changed.get(original.path, original))
        return {"tree": changed, **_usage_update(results)}


def branch_step(
    deduplicate: bool = False, confirm: Confirm | None = None
) -> Callable[[Callable[[Branch, Any], Awaitable[list[Branch]]]], Step]:
    """Make a step of an async function of a branch and a context; `deduplicate` asks identical questions of different branches once.

    `confirm` asks a person about all that was found, in one go, before it counts.
    """
    return lambda act: Step(act.__name__, act, "branch", deduplicate, confirm=confirm)


def level_step(act: Callable[[list[Branch], Any], Awaitable[Update]]) -> Step:
    """Make a step of an async function of all branches handed over and a context; it returns the state's update."""
    return Step(act.__name__, act, "level")


def state_step(act: Callable[[Any], Awaitable[Update]]) -> Step:
    """Make a step of an async function of a context; it returns the state's update."""
    return Step(act.__name__, act, "state")


class Outcome(FrozenModel):
    """The result of a task: its usage, what the model was shown, and why it failed, if it did."""

    usage: Usage = Field(default_factory=Usage)
    shown: dict[str, int] = Field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    notices: tuple[str, ...] = ()
    """Notices for the result."""
    failure: str = ""
    malformed: bool = False
    """Whether it failed because the reply was malformed twice."""
    limit: BudgetLimit | None = None
    model_unavailable: bool = False
    """Whether the model is not available: then no further call is made for the question."""


class StepResult(Outcome):
    """The result of a branch's task; branches returned with a failure are processed further."""

    branches: tuple[Branch, ...] = ()


class CallResult(Outcome):
    """The result of a call's task: the reply as JSON values."""

    value: dict[str, Any] = Field(default_factory=dict)
    confidence: float = 0.0
    confidence_source: ConfidenceSource = "stated"


def with_warning(error: ReplyError, branch: Branch, consequence: str) -> Branch:
    """Return the branch with a note of the error and its consequence; for the root, the question's result has the note, too."""
    note = f"{consequence}: {error}"
    context = CALL_CONTEXT.get()
    context.failed = error
    if branch.path == ROOT:
        context.notices.append(note)
    return branch.with_status(branch.status, note=branch.with_note(note))


def _mark_failed(branch: Branch, why: str) -> Branch:
    """Return the branch of a failed task, settled, with the reason; an answer that it had stays."""
    return branch.with_status("failed" if branch.answer is None else "leaf", note=branch.with_note(why))


def _usage_update(results: Sequence[StepResult]) -> Update:
    """Return the state update with the tasks' usage, shown passages and notices, and what stops the question."""
    update: Update = {"shown": {}, "usage": Usage(critical_path_calls=max((result.usage.llm_calls for result in results), default=0))}
    notices: list[str] = []
    for result in results:
        update["shown"] = merge_max(update["shown"], result.shown)
        update["usage"] += result.usage
        notices += result.notices
    if limits := [result.limit for result in results if result.limit]:
        update["stopped_by"] = limits[0]
    if lost := [result.failure for result in results if result.model_unavailable]:
        notices.append(lost[0])
        update |= {"stopped_by": "error", "error": lost[0]}
    return {**update, "notices": notices} if notices else update


async def call_model(
    state: State,
    prompt: Prompt[T],
    passages: tuple[Passage, ...] | None = None,
    field: str = "answer",
    fallback: str = "",
    on_text: OnText | None = None,
    **slots: Any,
) -> tuple[Reply[T] | None, Update]:
    """Make one model call for the whole question; return its reply and the update with its usage.

    Without a reply, the update says why the call failed. `fallback`: what is done without a reply; if empty, the failure is what
    the question was stopped by. `on_text` receives the reply's text as it is generated.
    """

    async def call(given: dict[str, Any]) -> CallResult:
        reply = await ask(prompt, field=field, on_text=on_text, **given)
        value = reply.value.model_dump(mode="json")
        return CallResult(value=value, confidence=reply.confidence, confidence_source=reply.confidence_source)

    given = slots if passages is None else {"passages": passages, **slots}
    [said] = await _run_tasks(prompt.name, call, [given], CallResult)
    update: Update = {"shown": said.shown, "usage": said.usage + Usage(critical_path_calls=said.usage.llm_calls)}
    if said.failure:
        update["notices"] = list(dict.fromkeys([*state["notices"], f"{fallback}: {said.failure}" if fallback else said.failure]))
        if stopped := said.limit or ("error" if said.model_unavailable or not fallback else ""):
            update["stopped_by"] = stopped
        if said.model_unavailable:
            update["error"] = said.failure
        return None, update
    shown = tuple(passage for passage in passages or () if passage.id in said.shown)
    kind = with_text(prompt.reply) if prompt.concludes else prompt.reply
    return Reply(kind.model_validate(said.value), said.confidence, said.confidence_source, shown), update


async def _run_tasks(name: str, act: Callable[[G], Awaitable[R]], given: Sequence[G], kind: type[R]) -> list[R]:
    """Run `act` on each item concurrently, each in a LangGraph task: checkpointed, retried, visible in the stream, failing alone.

    ModelError if the model is not available and has not replied to the question before.
    """

    async def perform(item: G) -> dict[str, Any]:
        """Run once; the usage is part of the result, also of a failure."""
        outer = CALL_CONTEXT.get()
        outcome = kind()
        with call_context(outer.settings, outer.budget) as work:
            try:
                outcome = await act(item)
            except (ReplyError, BudgetError) as error:
                work.failed = error
            except Exception:
                outer.spent += work.spent
                raise
        record: dict[str, Any] = {"usage": work.spent, "shown": work.shown, "notices": tuple(work.notices)}
        if isinstance(work.failed, BudgetError):
            record |= {"failure": work.failed.what, "limit": work.failed.limit}
        elif work.failed is not None:
            record |= {"failure": str(work.failed), "malformed": isinstance(work.failed, MalformedError)}
        return outcome.model_copy(update=record).model_dump(mode="json")

    performed: Any = task(name=name, retry_policy=RetryPolicy(max_attempts=2, retry_on=_is_transient))(cast(Any, perform))

    async def attempt(item: G) -> R:
        """Run in a task; the usage is recorded also if it ends in an error."""
        outer = CALL_CONTEXT.get()
        with call_context(outer.settings, outer.budget) as work:
            try:
                return kind.model_validate(await performed(item))
            except ModelError as error:
                outer.budget.model_error = error
                return kind(usage=work.spent, failure=str(error), model_unavailable=True)
            except Exception as error:
                if not _is_transient(error):
                    raise
                return kind(usage=work.spent, failure=scrub(f"{type(error).__name__}: {error}"))

    outcomes = []
    for result in await asyncio.gather(*map(attempt, given), return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        outcomes.append(result)
    budget = CALL_CONTEXT.get().budget
    if budget.model_error is not None and not (budget.has_replied or any(outcome.usage.replies for outcome in outcomes)):
        raise budget.model_error
    return outcomes


def _is_transient(error: BaseException) -> bool:
    """Return whether an error may be transient: its task is retried, and if that fails, its branch alone fails."""
    return isinstance(error, Exception) and not isinstance(error, (RamifyError, GraphBubbleUp, *_PROGRAMMING))
