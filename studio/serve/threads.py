"""Conversations that are kept, each user's own: listed, read, continued and deleted."""

import re
from secrets import token_hex
from typing import Any

from pydantic import BaseModel

from ramify.graphs.conversation import Conversation, delete, threads
from ramify.graphs.memory import memory_address, opened
from ramify.graphs.ratings import Rating, Turn, rate, ratings_of, turns_of
from ramify.studio.serve.catalog import AND, QUOTED, Collection
from ramify.tools.errors import UsageError
from ramify.tools.index.searcher import DEMO
from ramify.tools.quoting import brief

NEW = "new"
"""What a request gives for a conversation that the server is to name."""
_NAME = re.compile(r"[\w.-]{1,80}", re.ASCII)
_SEVERAL = re.compile(r"(\d+) collections: ")
"""How a line about a search of several begins."""
BETWEEN = "/"
"""Between a user and the name of a conversation: neither can have one."""


class Rate(BaseModel):
    """A rating of an answer: up for right, down for wrong, null for none."""

    asked: str
    answer: str
    rating: Rating | None


class Threads:
    """The conversations in a memory, by user."""

    def __init__(self, memory: str) -> None:
        self.memory = memory_address(memory)

    async def prepare(self) -> None:
        """Open the memory once, which makes its tables: two that make them at the same time would be in each other's way."""
        async with opened(self.memory):
            pass

    def name_of(self, wanted: str) -> str:
        """Return the name of a conversation, a new one for `new`; UsageError for what is no name."""
        if wanted == NEW:
            return token_hex(8)
        if not _NAME.fullmatch(wanted):
            raise UsageError(f"{brief(repr(wanted), QUOTED)} is no name of a conversation", f"take letters, digits, _, . and -, or {NEW!r}")
        return wanted

    def conversation(self, user: str, name: str) -> Conversation:
        """Return a conversation, which begins with its first question."""
        return Conversation(self.memory, f"{user}{BETWEEN}{name}")

    async def listed(self, user: str) -> list[dict[str, Any]]:
        """List the conversations of a user, the latest first."""
        own = f"{user}{BETWEEN}"
        found = [thread for thread in await threads(self.memory) if thread.name.startswith(own)]
        return [{"id": thread.name.removeprefix(own), **{name: getattr(thread, name) for name in thread._fields[1:]}} for thread in found]

    async def turns(self, user: str, name: str, collections: dict[str, Collection]) -> dict[str, Any] | None:
        """Return a conversation with its turns; None where the user has none of the name."""
        kept = self.conversation(user, self.name_of(name))
        await kept.recall_async()
        if kept.strategy is None:
            return None
        ratings = await ratings_of(self.memory, kept.thread)
        turns = [_turn(turn, ratings, collections) for turn in turns_of(kept.messages)]
        return {"id": name, "strategy": kept.strategy, "turns": turns}

    async def rate(self, user: str, name: str, given: Rate) -> bool:
        """Rate an answer of a conversation; return whether the user has such an answer."""
        return await rate(self.memory, f"{user}{BETWEEN}{self.name_of(name)}", given.asked, given.answer, given.rating)

    async def delete(self, user: str, name: str) -> bool:
        """Delete a conversation with all that is kept of it; return whether there was one."""
        return await delete(self.memory, f"{user}{BETWEEN}{self.name_of(name)}")


def _turn(turn: Turn, ratings: dict[tuple[str, str], Rating], collections: dict[str, Collection]) -> dict[str, Any]:
    """Return a question with what came of it: None where it was not answered."""
    told = turn.told
    if told is None:
        return {"asked": turn.asked, "collection": None, "result": None, "rating": None}
    rating = ratings.get((turn.asked, str(told.get("answer"))))
    return {"asked": turn.asked, "collection": _collection(str(told.get("index")), collections), "result": told, "rating": rating}


def _collection(searched: str, collections: dict[str, Collection]) -> str | None:
    """Return the name of the collection that a line about a search tells of, of several all names; None where one is not served."""
    several = _SEVERAL.match(searched)
    line = f"; {searched[several.end() :] if several else searched}"
    begins = {name: f"; {DEMO}: " if one.where == DEMO else f"; {one.where} (" for name, one in collections.items()}
    places = {name: line.find(begin) for name, begin in begins.items()}
    found = sorted((name for name, place in places.items() if place >= 0), key=lambda name: places[name])
    return AND.join(found) if len(found) == int(several[1] if several else 1) else None
