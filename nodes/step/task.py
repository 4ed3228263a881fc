"""One piece of work as a LangGraph task: retried where its failure may pass; and whose answer serves a branch that asks the same."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.func import task
from langgraph.types import RetryPolicy
from pydantic import BaseModel, Field

from ramify.nodes.asking.answerer import OnText
from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.asking.budget import CURRENT, working
from ramify.nodes.state import State, Usage
from ramify.nodes.tree import DROPPED, ROOT, Branch, ConfidenceSource, FrozenModel, Passage, Tree, children, normalized_key, position
from ramify.prompts.lenient_types import writing
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError, Limit, MalformedError, ModelError, RamifyError, ReplyError
from ramify.tools.scrub import scrub

G = TypeVar("G")
R = TypeVar("R", bound="Outcome")
T = TypeVar("T", bound=BaseModel)

PROGRAMMING = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, RuntimeError, TypeError, ValueError)
UNSPLIT = "searched as it is, not split"


class Outcome(FrozenModel):
    """What a task brings back: what it spent, what it showed the model, and why it failed if it did."""

    usage: Usage = Field(default_factory=Usage)
    shown: dict[str, int] = Field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    failure: str = ""
    malformed: bool = False
    """Whether it failed by a reply that was malformed, also when asked for again."""
    limit: Limit | None = None
    lost: bool = False
    """Whether it failed because the model cannot be asked: then nothing more is asked for the question."""


class StepResult(Outcome):
    """What a step brings back for a branch; with branches beside a failure, they go on in spite of it."""

    branches: tuple[Branch, ...] = ()
    passages: tuple[Passage, ...] = ()
    notices: tuple[str, ...] = ()
    """What the result has to say of it."""


def result(*branches: Branch) -> StepResult:
    """Return the result of a step: branches that it changed or made."""
    return StepResult(branches=branches)


def with_warning(error: ReplyError, branch: Branch, told: str) -> StepResult:
    """Return a branch that goes on as told in spite of an error; of the root's the question's result says so, too."""
    note = f"{told}: {error}"
    return StepResult(
        branches=(branch.to(branch.status, note=branch.noted(note)),),
        failure=str(error),
        malformed=isinstance(error, MalformedError),
        notices=(note,) if branch.path == ROOT else (),
    )


def transient(error: BaseException) -> bool:
    """Tell whether a failure may pass: then its task is tried again, and at last its branch fails alone."""
    return isinstance(error, Exception) and not isinstance(error, (RamifyError, GraphBubbleUp, *PROGRAMMING))


async def in_tasks(name: str, act: Callable[[G], Awaitable[R]], given: Sequence[G], kind: type[R]) -> list[R]:
    """Act on each of what is given, side by side, each in a task of its own: checkpointed, seen in the stream, failing alone.

    ModelError where the model cannot be asked and has not replied to the question before.
    """

    async def perform(item: G) -> dict[str, Any]:
        """Act once; what it spent is part of the result, also when it fails."""
        outer = CURRENT.get()
        why: dict[str, Any] = {}
        outcome = kind()
        with working(outer.settings, outer.budget) as work:
            try:
                outcome = await act(item)
            except ReplyError as error:
                why = {"failure": str(error), "malformed": isinstance(error, MalformedError)}
            except BudgetError as error:
                why = {"failure": error.what, "limit": error.limit}
            except Exception:
                outer.spent += work.spent
                raise
        told = outcome.model_copy(update={"usage": work.spent, "shown": work.shown, **why})
        return told.model_dump(mode="json")

    performed: Any = task(name=name, retry_policy=RetryPolicy(max_attempts=2, retry_on=transient))(cast(Any, perform))

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
                if not transient(error):
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


class CallResult(Outcome):
    """What the task of a call brings back: the reply as plain values."""

    value: dict[str, Any] = Field(default_factory=dict)
    confidence: float = 0.0
    confidence_source: ConfidenceSource = "stated"


async def call_model(
    state: State,
    prompt: Prompt[T],
    passages: tuple[Passage, ...] | None = None,
    field: str = "answer",
    instead: str = "",
    on_text: OnText | None = None,
    **slots: Any,
) -> tuple[Reply[T] | None, dict[str, Any]]:
    """Ask the model one thing for the whole question; return its reply and the update that books it.

    No reply means that it failed: the update says why. `instead` is what is done without a reply; where there is nothing, the failure is
    what the question was stopped by. `on_text` gets the reply's text as it comes.
    """

    async def call(given: dict[str, Any]) -> CallResult:
        reply = await ask(prompt, field=field, on_text=on_text, **given)
        value = reply.value.model_dump(mode="json")
        return CallResult(value=value, confidence=reply.confidence, confidence_source=reply.confidence_source)

    given = slots if passages is None else {"passages": passages, **slots}
    [said] = await in_tasks(prompt.name, call, [given], CallResult)
    update: dict[str, Any] = {"shown": said.shown, "usage": said.usage + Usage(critical_path_calls=said.usage.llm_calls)}
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


def find_duplicate(tree: Tree, branch: Branch) -> Branch | None:
    """Find another branch that asks the same: one that has its answer, or one before it that will or that is divided.

    An ancestor never counts. A branch that another waits for is asked itself where nothing else would come of it.
    """
    for other in tree.values():
        related = f"{other.path}.".startswith(f"{branch.path}.") or branch.path.startswith(f"{other.path}.")
        if related or normalized_key(other) != normalized_key(branch):
            continue
        before = other.status not in DROPPED and position(other.path) < position(branch.path)
        if other.answer is not None or (before and (other.next or not awaited(tree, branch))):
            return other
    return None


def copy_answer(branch: Branch, original: Branch) -> Branch:
    """Copy what came of the original."""
    note = f"same question as {original.path}"
    if original.answer is None:
        return branch.to("failed" if original.status == "failed" else "leaf", note=f"{note}: see there")
    copied = original.model_dump(include={"answer", "confidence", "confidence_source", "evidence", "cited"})
    return branch.to("leaf" if branch.kind == "entity" else "answered", note=note, **copied)


def accepted_answer(tree: Tree, branch: Branch) -> Branch | None:
    """Find the branch whose answer counts for this one's question: the last that nothing was objected to; else the last that is known."""
    answers = _answers(tree, branch)
    accepted = [answer for answer in answers if not answer.objection] or answers
    return accepted[-1] if accepted else None


def answers_parent(child: Branch, parent: Branch) -> bool:
    """Tell whether a child's answer is its parent's: it asks the same once more, or is the last hop of a bridge.

    The half of a comparison asks for something else, and what is said of an entity answers no question.
    """
    return child.kind == parent.kind == "question" and (child.awaits is not None or normalized_key(child) == normalized_key(parent))


def awaited(tree: Tree, branch: Branch) -> bool:
    """Tell whether another branch waits for this one's answer, or for one that is brought together from it."""
    lines = [branch, *(other for other in tree.values() if branch.path.startswith(f"{other.path}."))]
    wanted = {sibling_of(tree, other).path for other in tree.values() if other.status == "waiting"}
    return any(line.path in wanted for line in lines)


def sibling_of(tree: Tree, branch: Branch) -> Branch:
    """Find the sibling that a waiting branch refers to; where it does not say, the one just before it."""
    head, _, last = branch.path.rpartition(".")
    return tree[branch.awaits or f"{head}.{int(last) - 1}"]


def confidence_note(settled: Branch) -> str:
    """Say how sure an answer is, and that it was taken for want of a surer one."""
    if settled.confidence is None:
        return ""
    return f"{'nothing surer, ' if settled.objection else ''}confidence {settled.confidence:.3f}"


def _answers(tree: Tree, branch: Branch) -> list[Branch]:
    """List the answers to a branch's question, its own first; the answer of an inner branch is already that of all below it."""
    own = [branch] if branch.known and branch.kind == "question" else []
    if branch.aggregated:
        return own
    below = [child for child in children(tree, branch.path) if child.status != "pruned" and answers_parent(child, branch)]
    return own + (_answers(tree, below[-1]) if below else [])
