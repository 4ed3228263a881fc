"""One piece of work as a LangGraph task: tried again where its failure may pass, its cost and its failure told in its result."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.func import task
from langgraph.types import RetryPolicy
from pydantic import Field

from ramify.nodes.asking.budget import CURRENT, working
from ramify.nodes.state import Usage
from ramify.nodes.tree import Value
from ramify.tools.errors import BudgetError, Limit, MalformedError, RamifyError, ReplyError
from ramify.tools.scrub import scrub

PROGRAMMING = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, RuntimeError, TypeError, ValueError)


class Outcome(Value):
    """What a task brings back: what it spent, what it showed the model, and why it failed if it did."""

    usage: Usage = Field(default_factory=Usage)
    shown: dict[str, int] = Field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    failure: str = ""
    malformed: bool = False
    """Whether it failed by a reply that was malformed, also when asked for again."""
    limit: Limit | None = None


G = TypeVar("G")
R = TypeVar("R", bound=Outcome)


def transient(error: BaseException) -> bool:
    """Tell whether a failure may pass: then its task is tried again, and at last its branch fails alone."""
    return isinstance(error, Exception) and not isinstance(error, (RamifyError, GraphBubbleUp, *PROGRAMMING))


class Attempt(Generic[G, R]):
    """A function of what it is given and the settings, as a task of its own: checkpointed, seen in the stream, failing alone."""

    def __init__(self, name: str, act: Callable[[G, Any], Awaitable[R]], kind: type[R]) -> None:
        self.act, self.kind = act, kind
        self.task: Any = task(name=name, retry_policy=RetryPolicy(max_attempts=2, retry_on=transient))(cast(Any, self._perform))

    async def all(self, given: Sequence[G]) -> list[R]:
        """Act on all that is given, side by side."""
        results = await asyncio.gather(*(self.task(item) for item in given), return_exceptions=True)
        return [self._outcome(result) for result in results]

    async def _perform(self, given: G) -> dict[str, Any]:
        """Act once; what it spent is part of the result, also when it fails."""
        outer = CURRENT.get()
        why: dict[str, Any] = {}
        outcome = self.kind()
        with working(outer.settings, outer.ledger) as work:
            try:
                outcome = await self.act(given, outer.settings)
            except ReplyError as error:
                why = {"failure": str(error), "malformed": isinstance(error, MalformedError)}
            except BudgetError as error:
                why = {"failure": error.what, "limit": error.limit}
        return outcome.model_copy(update={"usage": work.spent, "shown": work.shown, **why}).model_dump(mode="json")

    def _outcome(self, result: Any) -> R:
        if isinstance(result, BaseException):
            if not transient(result):
                raise result
            return self.kind(failure=scrub(f"{type(result).__name__}: {result}"))
        return self.kind.model_validate(result)
