"""The three kinds of step (of one branch, of all branches handed to it, of the whole state), their context, and how a question ends."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.settings import Settings
from ramify.nodes.state import State, Usage, merge_max
from ramify.nodes.step.profiled import by_profile
from ramify.nodes.step.review import confirm_answer
from ramify.nodes.step.task import StepResult, awaited, copy_answer, find_duplicate, in_tasks
from ramify.nodes.step.text import complete
from ramify.nodes.tree import DROPPED, ROOT, WORKING, Branch, Passage, Tree, ancestors, branches_below, children, is_unknown
from ramify.nodes.tree.notes import NOTHING
from ramify.tools.errors import ModelError, UsageError

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Context(Generic[S]):
    """The state and the settings, as a step sees them; the wiring says where the step's edges lead."""

    state: Any
    """The state; that of Iterative RAG has more than others."""
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

    @property
    def tree(self) -> Tree:
        """The tree."""
        tree: Tree = self.state["tree"]
        return tree

    def parent(self, branch: Branch) -> Branch | None:
        """Return the branch that it hangs from; None for the root."""
        return self.tree.get(branch.parent or "")

    def children(self, branch: Branch) -> list[Branch]:
        """List the branches that hang from it, in order."""
        return children(self.tree, branch.path)

    def pair(self, branch: Branch) -> list[Branch]:
        """List the children that count: the last two."""
        return self.children(branch)[-2:]

    def above(self, branch: Branch) -> list[str]:
        """List the questions above it, the root's first."""
        return [ancestor.question for ancestor in ancestors(self.tree, branch.path)]

    def passages(self, *branches: Branch) -> tuple[Passage, ...]:
        """List the passages that were found for branches, each once."""
        known = self.state["passages"]
        return tuple(known[key] for key in dict.fromkeys(key for branch in branches for key in branch.evidence) if key in known)

    def part_of(self, branch: Branch) -> str:
        """Say which question it is a part of; empty for the root, and where it asks the same: it tells apart what bears one name."""
        parent = self.parent(branch)
        return "" if parent is None or branch.kind != "question" or parent.question == branch.question else parent.question

    def awaited(self, branch: Branch) -> bool:
        """Tell whether another branch waits for its answer."""
        return awaited(self.tree, branch)


Update = dict[str, Any]
Kind = Literal["branch", "level", "state"]
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


@dataclass(frozen=True)
class Step:
    """A step as a graph runs it; call it as the function that it is made of."""

    name: str
    act: Callable[..., Awaitable[Any]]
    kind: Kind
    once: bool = False
    """Whether branches that ask the same are asked for once."""
    final: bool = False
    """Whether it makes the question's last call, which budgets keep back."""
    confirm: "Confirm | None" = None
    """Asks a person about what it found for the branches, before that counts; returns what counts."""

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
        tree = context.tree
        originals = {b.path: original for b in branches if self.once and (original := find_duplicate(tree, b))}
        asked = [branch for branch in branches if branch.path not in originals]
        results = await in_tasks(self.name, lambda branch: self.act(branch, context), asked, StepResult)
        settled = [_settled(branch, found) for branch, found in zip(asked, results, strict=True)]
        if self.confirm is not None:
            settled = await self.confirm(asked, settled, context)
        changed = {branch.path: branch for found in settled for branch in found.branches}
        for branch in branches:
            if (original := originals.get(branch.path)) is None:
                continue
            if original.path in changed or original.answer is not None or not original.next:  # else the answer is waited for
                changed[branch.path] = copy_answer(branch, changed.get(original.path, original))
        return _update(changed, settled)


Confirm = Callable[[Sequence[Branch], list[StepResult], Any], Awaitable[list[StepResult]]]
"""Takes the branches of a step, what was found for each, and the context."""


def branch_step(once: bool = False, confirm: Confirm | None = None) -> Callable[[Callable[[Branch, Any], Awaitable[StepResult]]], Step]:
    """Make a step of an async function of a branch and a context; `once` asks identical questions of different branches once.

    `confirm` asks a person about all that was found, in one go, before it counts.
    """
    return lambda act: Step(act.__name__, act, "branch", once, confirm=confirm)


def level_step(act: Callable[[list[Branch], Any], Awaitable[Update]]) -> Step:
    """Make a step of an async function of all branches handed over and a context; it returns the state's update."""
    return Step(act.__name__, act, "level")


def state_step(final: bool = False) -> Callable[[Callable[[Any], Awaitable[Update]]], Step]:
    """Make a step of an async function of a context; it returns the state's update. `final`: it makes the question's last call."""
    return lambda act: Step(act.__name__, act, "state", final=final)


def _settled(branch: Branch, found: StepResult) -> StepResult:
    """Settle the branch of a failed task, with the reason; an answer that it had is kept."""
    if not found.failure or found.branches:
        return found
    failed = branch.to("failed" if branch.answer is None else "leaf", note=branch.noted(found.failure))
    return found.model_copy(update={"branches": (failed,)})


def _update(changed: Mapping[str, Branch], results: Sequence[StepResult]) -> Update:
    spent = [found.usage for found in results]
    shown: Mapping[str, int] = {}
    for found in results:
        shown = merge_max(shown, found.shown)
    update: Update = {
        "tree": dict(changed),
        "passages": {passage.id: passage for found in results for passage in found.passages},
        "shown": shown,
        "usage": sum(spent, Usage(critical_path_calls=max((usage.llm_calls for usage in spent), default=0))),
    }
    notices = [notice for found in results for notice in found.notices]
    if limits := [found.limit for found in results if found.limit]:
        update["stopped_by"] = limits[0]
    if lost := [found.failure for found in results if found.lost]:
        notices.append(lost[0])
        update |= {"stopped_by": "error", "error": lost[0]}
    if notices:
        update["notices"] = notices
    return update


def final_step(act: Callable[[Any], Awaitable[Update]]) -> Callable[[Any], Awaitable[Update]]:
    """Let a last step begin when all is settled; then say how sure the answer is, and add its text (`style=full`)."""

    async def close(context: Context[Any]) -> Update:
        state = context.state
        check_settled(state)
        update = {"answer": state["answer"], **await act(context)}
        model = await _model()
        if is_unknown(str(update["answer"])):
            update |= {"confidence": None, "confidence_source": None}
            if _all_failed(state["tree"]) or (model is not None and model.objection(state["question"])):
                stopped = update.get("stopped_by", state["stopped_by"]) != "finished"
                return update if stopped else {**update, "stopped_by": "error"}
        elif update.get("confidence_source") != "reader":  # of the embedded model, it is already that of all hops together
            update["confidence"] = min(update["confidence"], _weakest(state["tree"], update))
        found = update if model is None else await complete(state, context.settings, model, update)
        return await by_profile(context, found, confirm_answer)

    close.__name__, close.__doc__ = act.__name__, act.__doc__
    return close


def _weakest(tree: Tree, update: Update) -> float:
    """Return the lowest confidence of the branches that an answer rests on, 1 where there are none: it is not surer than that."""
    cited = {citation.id for citation in update.get("citations", []) if citation.cited}
    known = [branch for branch in tree.values() if branch.known and branch.kind == "question" and branch.status not in DROPPED]
    hops = [branch for branch in known if branch.path != ROOT and cited.intersection(branch.cited)]
    return min((branch.confidence for branch in hops if branch.confidence is not None), default=1.0)


def check_settled(state: State) -> None:
    """Raise UsageError where a branch still wants work that no edge of this graph leads to."""
    left = [branch for branch in state["tree"].values() if branch.status in WORKING]
    if left:
        what = f"branch {left[0].path!r} is {left[0].status!r} and no step of this graph takes it"
        raise UsageError(what, "edit its status: open is searched and answered again, leaf or pruned is settled")


async def _model() -> Answerer | None:
    """Find the model; none where it has gone meanwhile: the question has its result without it."""
    try:
        return await asyncio.to_thread(current_model, CURRENT.get().settings)
    except ModelError:
        return None


def _all_failed(tree: Tree) -> bool:
    """Tell whether errors are all that came of a question: then it was not answered Unknown, it was not asked."""
    below = branches_below(tree)
    ends = [branch for branch in tree.values() if not below[branch.path]]
    return ROOT in tree and all(end.status == "failed" and end.answer is None and not end.note.endswith(NOTHING) for end in ends)
