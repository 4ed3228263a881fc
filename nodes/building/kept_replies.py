"""Ask a model one thing of a build: from the replies kept, or anew; each validated reply is kept at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from ramify.nodes.asking.ask import ask
from ramify.nodes.asking.budget import CURRENT, working
from ramify.nodes.settings import Settings
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError
from ramify.tools.knowledge.build import Work, key_of
from ramify.tools.server_address import addresses

T = TypeVar("T", bound=BaseModel)
G = TypeVar("G")
R = TypeVar("R")
AT_ONCE = 8
_OPTIONS = ("temperature", "seed", "num_ctx", "num_predict", "thought", "shots")


async def kept_ask(work: Work, model: str, settings: Settings, prompt: Prompt[T], field: str, **slots: Any) -> T:
    """Give the reply to a prompt; BudgetError, ReplyError and ModelError as `ask` raises them."""
    told = prompt.told_with(settings.thought, settings.shots)
    asked = [model, *(f"{name}={getattr(settings, name)}" for name in _OPTIONS), *(message.text for message in told.render(slots))]
    key = key_of(asked)
    if (held := work.get(key)) is not None:
        return prompt.reply.model_validate(held)
    outer = CURRENT.get()
    with working(settings, outer.budget) as inner:
        try:
            reply = await ask(prompt, field=field, **slots)
        finally:
            outer.spent += inner.spent
    value = prompt.reply.model_validate(reply.value.model_dump(mode="json"))
    work.put(key, value.model_dump(mode="json"))
    return value


def at_once(settings: Settings) -> int:
    """Tell how many calls to have under way: as many as a server takes, for each server."""
    return (settings.max_concurrency or AT_ONCE) * max(1, len(addresses(settings.base_url)))


async def side_by_side(
    act: Callable[[G], Awaitable[R]], given: Sequence[G], most: int, told: Callable[[int], None]
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
            told(done)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(most, len(given))):
                group.create_task(work())
    except ExceptionGroup as errors:  # a model that is gone is gone for all: one of them says so
        raise errors.exceptions[0] from errors
    return [result for result in results if result is not None]
