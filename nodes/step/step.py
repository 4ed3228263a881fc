"""A step: a verb over the tree that declares which statuses it takes and gives, run over single branches or over the whole state."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from ramify.nodes.settings import Settings
from ramify.nodes.state import State, Usage, furthest
from ramify.nodes.step.selection import Selection
from ramify.nodes.step.shared_answers import echo, twin
from ramify.nodes.step.task import Attempt, Growth
from ramify.nodes.tree import Branch

G = TypeVar("G")
S = TypeVar("S", bound=Settings)
Update = dict[str, Any]


class Step(Protocol):
    """What a step is to the graph that it is wired into."""

    __name__: str
    takes: frozenset[str]
    gives: frozenset[str]
    final: bool
    """Whether it makes the question's last call, which budgets keep back."""

    def wanted(self, state: State, settings: Settings) -> bool:
        """Tell whether the step has anything to do."""
        ...

    async def run(self, state: State, settings: Settings) -> Update:
        """Do it and give the state's update."""
        ...


class Each(Generic[G, S]):
    """A step over single branches: a task each, side by side."""

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
        if inspect.iscoroutinefunction(self.act):
            growths = await self.attempt.all([given for _, given in asked])
        else:
            growths = [self.act(given, cast(S, settings)) for _, given in asked]
        grown = [_settle(branch, growth) for (branch, _), growth in zip(asked, growths, strict=True)]
        tree = {branch.path: branch for growth in grown for branch in growth.branches}
        for branch, _ in chosen:
            if (original := echoes.get(branch.path)) is not None:
                tree[branch.path] = echo(branch, tree.get(original.path, original))
        return _update(state, tree, grown)


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
    notices = [notice for growth in growths for notice in growth.notices]
    if limits := [growth.limit for growth in growths if growth.limit]:
        update["stopped_by"] = limits[0]
    if lost := [growth.failure for growth in growths if growth.lost]:
        notices.append(lost[0])
        update |= {"stopped_by": "error", "error": lost[0]}
    if notices:
        update["notices"] = list(dict.fromkeys([*state.get("notices", ()), *notices]))
    return update


class Whole(Generic[S]):
    """A step over the whole state."""

    def __init__(
        self,
        act: Callable[[Any, S], Awaitable[Update]],
        takes: Sequence[str] = (),
        gives: Sequence[str] = (),
        final: bool = False,
        name: str = "",
        when: Callable[[Any, S], bool] | None = None,
    ) -> None:
        self.__name__, self.__doc__ = name or act.__name__, act.__doc__
        self.act, self.final, self.when = act, final, when
        self.takes, self.gives = frozenset(takes), frozenset(gives)

    def wanted(self, state: State, settings: Settings) -> bool:
        """Tell whether its own condition is met, or any branch has a status that the step takes."""
        if self.when is not None:
            return self.when(state, cast(S, settings))
        return any(branch.status in self.takes for branch in state["tree"].values())

    async def run(self, state: State, settings: Settings) -> Update:
        """Act on the state."""
        return await self.act(state, cast(S, settings))


def whole(
    takes: Sequence[str] = (),
    gives: Sequence[str] = (),
    final: bool = False,
    name: str = "",
    when: Callable[[Any, S], bool] | None = None,
) -> Callable[[Callable[[Any, S], Awaitable[Update]]], Whole[S]]:
    """Make a step of a function over the whole state; `final` marks the one that makes the question's last call."""
    return lambda act: Whole(act, takes, gives, final, name, when)
