"""The three kinds of step: of one branch, of all branches handed to it, of the whole state."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ramify.nodes.state import Usage, merge_max
from ramify.nodes.step.context import Context
from ramify.nodes.step.shared_answers import copy_answer, find_duplicate
from ramify.nodes.step.task import StepResult, in_tasks
from ramify.nodes.tree import Branch

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
        changed = {branch.path: branch for found in settled for branch in found.branches}
        for branch in branches:
            if (original := originals.get(branch.path)) is None:
                continue
            if original.path in changed or original.answer is not None or not original.next:  # else the answer is waited for
                changed[branch.path] = copy_answer(branch, changed.get(original.path, original))
        return _update(changed, settled)


def branch_step(once: bool = False) -> Callable[[Callable[[Branch, Any], Awaitable[StepResult]]], Step]:
    """Make a step of an async function of a branch and a context; `once` asks identical questions of different branches once."""
    return lambda act: Step(act.__name__, act, "branch", once)


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
