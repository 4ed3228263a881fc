"""One model call of a step over the whole state: as a task of its own, its cost booked, its failure told."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ramify.nodes.budget import CURRENT
from ramify.nodes.state import State, Usage
from ramify.tools.errors import BudgetError, MalformedError, ReplyError

R = TypeVar("R")


async def model_call(state: State, call: Callable[[], Awaitable[R]]) -> tuple[R | None, dict[str, Any]]:
    """Make the call; give its reply and the update that books it. No reply means that it failed: the update says why."""
    work = CURRENT.get()
    update: dict[str, Any] = {}
    reply = None
    try:
        reply = await call()
    except ReplyError as error:
        update = {"stopped_by": "error", "notices": [*state["notices"], str(error)], "malformed": isinstance(error, MalformedError)}
    except BudgetError as error:
        update = {"stopped_by": error.limit, "notices": [*state["notices"], str(error)]}
    spent = work.spent
    return reply, {**update, "shown": work.shown, "usage": spent + Usage(critical_path_calls=spent.llm_calls)}
