"""Model calls of a build, with a cache of validated replies, so that nothing is asked twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ramify.kinds.knowledge.build import ReplyStore, reply_key
from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import CALL_CONTEXT, call_context
from ramify.nodes.asking.language_model import prompt_room
from ramify.nodes.settings import Settings
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError
from ramify.tools.models.concurrency import DEFAULT_CONCURRENCY

S = TypeVar("S", bound=Settings)
T = TypeVar("T", bound=BaseModel)
G = TypeVar("G")
R = TypeVar("R")
_OPTIONS = ("temperature", "seed", "num_ctx", "num_predict", "thought", "shots")


class CachedModel(Generic[S]):
    """The model that a build's settings name, with a cache of replies in its work folder."""

    def __init__(self, settings: S, work: ReplyStore) -> None:
        """Find the model; blocks. UsageError or ModelError if there is none."""
        self.settings, self._work = settings, work
        self._model = current_model(settings)
        self.name, self.count = self._model.name, self._model.count

    def prompt_room(self, reserved: int) -> int:
        """Return the tokens that a prompt has for its material, if `reserved` are needed for the rest."""
        return prompt_room(self.settings, self._model) - reserved

    async def reply_to(self, prompt: Prompt[T], field: str, **slots: Any) -> T:
        """Return the reply to a prompt, cached or new; raises BudgetError, ReplyError and ModelError like `ask`."""
        rendered_as = prompt.with_options(self.settings.thought, self.settings.shots)
        options = [f"{name}={getattr(self.settings, name)}" for name in _OPTIONS]
        key = reply_key([self.name, *options, *(message.text for message in rendered_as.render(slots))])
        if (cached := self._work.get(key)) is not None:
            return prompt.reply.model_validate(cached)
        outer = CALL_CONTEXT.get()
        with call_context(self.settings, outer.budget) as inner:
            try:
                reply = await ask(prompt, field=field, **slots)
            finally:
                outer.spent += inner.spent
        value = prompt.reply.model_validate(reply.value.model_dump(mode="json"))
        self._work.put(key, value.model_dump(mode="json"))
        return value


def max_parallel_calls(settings: Settings) -> int:
    """Return the maximum number of concurrent calls."""
    return settings.max_concurrency or DEFAULT_CONCURRENCY


async def run_concurrently(
    act: Callable[[G], Awaitable[R]], items: Sequence[G], max_parallel: int, on_done: Callable[[int], None]
) -> list[R | BudgetError]:
    """Run `act` on all items, `max_parallel` at a time; once a budget is used up, the remaining results are that error."""
    results: list[R | BudgetError | None] = [None] * len(items)
    waiting = iter(range(len(items)))
    over: list[BudgetError] = []
    done = 0

    async def work() -> None:
        nonlocal done
        for place in waiting:
            try:
                results[place] = over[0] if over else await act(items[place])
            except BudgetError as error:
                over.append(error)
                results[place] = error
            done += 1
            on_done(done)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(max_parallel, len(items))):
                group.create_task(work())
    except ExceptionGroup as errors:  # the model is unavailable for all: raise one of the errors
        raise errors.exceptions[0] from errors
    return [result for result in results if result is not None]
