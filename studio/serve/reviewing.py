"""What a question proposes to a person (`ask_first`), until that person has decided on it."""

import asyncio
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

from pydantic import BaseModel, Field

from ramify.nodes.step.review import DECISIONS

Decisions = list[dict[str, Any]]


class Decided(BaseModel):
    """What a person decided, as our own interface takes it: one decision for each action."""

    decisions: Decisions = Field(min_length=1)
    id: str | None = None
    """The review that was decided on, by the id of its event; left out, the one that waits."""


class Review:
    """A request that waits for a person's decisions; `changed` is called with each new one."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.request: dict[str, Any] | None = None
        """What is proposed, as LangGraph's interrupt tells it, with an id of its own; None while nothing waits."""
        self._changed = changed
        self._decided: asyncio.Future[Decisions] | None = None

    async def decisions(self, actions: Sequence[dict[str, Any]]) -> Decisions:
        """Propose actions, and return what was decided on each."""
        configs = [{"action_name": action["name"], "allowed_decisions": DECISIONS} for action in actions]
        self.request = {"id": token_hex(8), "action_requests": list(actions), "review_configs": configs}
        self._decided = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await self._decided
        finally:
            self.request = self._decided = None

    def decide(self, given: Decided) -> bool:
        """Take in decisions; return whether something waited for them."""
        if self._decided is None or self._decided.done() or self.request is None or given.id not in (None, self.request["id"]):
            return False
        self._decided.set_result(given.decisions)
        return True
