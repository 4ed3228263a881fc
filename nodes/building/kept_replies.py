"""The model of a build: it is asked each thing once, because each validated reply is kept at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import CURRENT, working
from ramify.nodes.asking.language_model import room_for
from ramify.nodes.settings import Settings
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError
from ramify.tools.knowledge.build import ReplyStore, reply_key
from ramify.tools.server_address import split_addresses

S = TypeVar("S", bound=Settings)
T = TypeVar("T", bound=BaseModel)
G = TypeVar("G")
R = TypeVar("R")
_AT_ONCE = 8
_OPTIONS = ("temperature", "seed", "num_ctx", "num_predict", "thought", "shots")


class KeptModel(Generic[S]):
    """The model that the settings of a build name, with the replies kept in its work."""

    def __init__(self, settings: S, work: ReplyStore) -> None:
        """Find the model, which blocks; UsageError or ModelError where there is none."""
        self.settings, self._work = settings, work
        self._model = current_model(settings)
        self.name, self.count = self._model.name, self._model.count

    def room(self, told: int) -> int:
        """Return the tokens that a prompt has for its material, which says so many beside it."""
        return room_for(self.settings, self._model) - told

    async def ask(self, prompt: Prompt[T], field: str, **slots: Any) -> T:
        """Return the reply to a prompt, kept or new; BudgetError, ReplyError and ModelError as `ask` raises them."""
        told = prompt.told_with(self.settings.thought, self.settings.shots)
        options = [f"{name}={getattr(self.settings, name)}" for name in _OPTIONS]
        key = reply_key([self.name, *options, *(message.text for message in told.render(slots))])
        if (held := self._work.get(key)) is not None:
            return prompt.reply.model_validate(held)
        outer = CURRENT.get()
        with working(self.settings, outer.budget) as inner:
            try:
                reply = await ask(prompt, field=field, **slots)
            finally:
                outer.spent += inner.spent
        value = prompt.reply.model_validate(reply.value.model_dump(mode="json"))
        self._work.put(key, value.model_dump(mode="json"))
        return value


def at_once(settings: Settings) -> int:
    """Tell how many calls to have under way: as many as a server takes, for each server."""
    return (settings.max_concurrency or _AT_ONCE) * max(1, len(split_addresses(settings.base_url)))


async def side_by_side(
    act: Callable[[G], Awaitable[R]], given: Sequence[G], most: int, on_done: Callable[[int], None]
) -> list[R | BudgetError]:
    """Act on all that is given, so many at a time; once a budget is used up, what is left comes back with that error."""
    results: list[R | BudgetError | None] = [None] * len(given)
    waiting = iter(range(len(given)))
    over: list[BudgetError] = []
    done = 0

    async def work() -> None:
        nonlocal done
        for place in waiting:
            try:
                results[place] = over[0] if over else await act(given[place])
            except BudgetError as error:
                over.append(error)
                results[place] = error
            done += 1
            on_done(done)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(most, len(given))):
                group.create_task(work())
    except ExceptionGroup as errors:  # a model that is gone is gone for all: one of them says so
        raise errors.exceptions[0] from errors
    return [result for result in results if result is not None]
