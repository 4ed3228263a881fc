"""A step over single branches: a task each, side by side."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from ramify.nodes.settings import Settings
from ramify.nodes.state import State, Usage, furthest
from ramify.nodes.step.attempt import Attempt
from ramify.nodes.step.growth import Growth
from ramify.nodes.step.selection import Selection
from ramify.nodes.step.step import Update
from ramify.nodes.step.twins import echo, twin
from ramify.nodes.tree import Branch

G = TypeVar("G")
S = TypeVar("S", bound=Settings)


class Each(Generic[G, S]):
    """A step over single branches."""

    final = False

    def __init__(self, selection: Selection[G], act: Callable[[G, S], Any], gives: Sequence[str], once: bool, name: str) -> None:
        self.__name__, self.__doc__ = name, act.__doc__
        self.selection, self.act, self.once = selection, act, once
        self.takes = selection.takes
        self.gives = frozenset(gives) | ({"leaf", "failed"} if inspect.iscoroutinefunction(act) else frozenset())
        self.attempt = Attempt[G, Growth](name, act, Growth)

    def wanted(self, state: State, settings: Settings) -> bool:
        """Tell whether any branch is to be taken."""
        return bool(self.selection.choose(state, settings))

    async def run(self, state: State, settings: Settings) -> Update:
        """Act on every chosen branch; identical questions are asked once."""
        chosen = self.selection.choose(state, settings)
        echoes = {b.path: original for b, _ in chosen if self.once and (original := twin(state["tree"], b))}
        asked = [(branch, given) for branch, given in chosen if branch.path not in echoes]
        growths = await self._all([given for _, given in asked], settings)
        grown = [_settle(branch, growth) for (branch, _), growth in zip(asked, growths, strict=True)]
        tree = {branch.path: branch for growth in grown for branch in growth.branches}
        for branch, _ in chosen:
            if (original := echoes.get(branch.path)) is not None:
                tree[branch.path] = echo(branch, tree.get(original.path, original))
        return _update(state, tree, grown)

    async def _all(self, given: list[G], settings: Settings) -> list[Growth]:
        if not inspect.iscoroutinefunction(self.act):
            return [self.act(item, cast(S, settings)) for item in given]
        return await self.attempt.all(given)


def each(
    selection: Selection[G], gives: Sequence[str], once: bool = False, name: str = ""
) -> Callable[[Callable[[G, S], Awaitable[Growth]] | Callable[[G, S], Growth]], Each[G, S]]:
    """Make a step of a function over one selected branch; `once` asks identical questions of different branches once."""
    return lambda act: Each(selection, act, gives, once, name or act.__name__)


def _settle(branch: Branch, growth: Growth) -> Growth:
    """Settle the branch of a failed task, with the reason; an answer that it had is kept."""
    if not growth.failure or growth.branches:
        return growth
    settled = branch.to("failed" if branch.answer is None else "leaf", note=branch.noted(growth.failure))
    return growth.model_copy(update={"branches": (settled,)})


def _update(state: State, tree: Mapping[str, Branch], growths: Sequence[Growth]) -> Update:
    spent = [growth.usage for growth in growths]
    shown: Mapping[str, int] = {}
    for growth in growths:
        shown = furthest(shown, growth.shown)
    path = Usage(critical_path_calls=max((usage.llm_calls for usage in spent), default=0))
    update: Update = {
        "tree": dict(tree),
        "passages": {passage.id: passage for growth in growths for passage in growth.passages},
        "shown": shown,
        "usage": sum(spent, path),
    }
    if notices := [notice for growth in growths for notice in growth.notices]:
        update["notices"] = [*state.get("notices", ()), *notices]
    if limits := [growth.limit for growth in growths if growth.limit]:
        update["stopped_by"] = limits[0]
    return update
