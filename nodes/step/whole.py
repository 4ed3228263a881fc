"""A step over the whole state; and one model call of it: as a task of its own, its cost booked, its failure told."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, Field

from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.settings import Settings
from ramify.nodes.state import State, Usage
from ramify.nodes.step.attempt import Attempt, Outcome
from ramify.nodes.step.step import Update
from ramify.nodes.tree import ConfidenceSource, Passage
from ramify.prompts.prompt import Prompt

S = TypeVar("S", bound=Settings)
T = TypeVar("T", bound=BaseModel)


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


class Said(Outcome):
    """What the task of a call brings back: the reply as plain values."""

    value: dict[str, Any] = Field(default_factory=dict)
    confidence: float = 0.0
    confidence_source: ConfidenceSource = "stated"


async def model_call(
    state: State, prompt: Prompt[T], passages: tuple[Passage, ...] | None = None, field: str = "answer", instead: str = "", **slots: Any
) -> tuple[Reply[T] | None, dict[str, Any]]:
    """Ask the model one thing; give its reply and the update that books it. No reply means that it failed: the update says why.

    `instead` is what is done without a reply; where there is nothing, the failure is what the question was stopped by.
    """

    async def call(given: dict[str, Any], settings: Any) -> Said:
        reply = await ask(prompt, field=field, **given)
        value = reply.value.model_dump(mode="json")
        return Said(value=value, confidence=reply.confidence, confidence_source=reply.confidence_source)

    given = slots if passages is None else {"passages": passages, **slots}
    [said] = await Attempt(prompt.name, call, Said).all([given])
    if said.failure:
        return None, {**_booked(said), **_told(state, said, instead)}
    shown = tuple(passage for passage in passages or () if passage.id in said.shown)
    return Reply(prompt.reply.model_validate(said.value), said.confidence, said.confidence_source, shown), _booked(said)


def _booked(said: Said) -> dict[str, Any]:
    return {"shown": said.shown, "usage": said.usage + Usage(critical_path_calls=said.usage.llm_calls)}


def _told(state: State, said: Said, instead: str) -> dict[str, Any]:
    notice = f"{instead}: {said.failure}" if instead else said.failure
    stopped = said.limit or ("" if instead else "error")
    return {"notices": [*state["notices"], notice], **({"stopped_by": stopped} if stopped else {})}
