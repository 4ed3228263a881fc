"""What a server answers with: a request of any protocol becomes a question, maybe of a conversation that is kept, each user's own."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict, Field

from ramify.graphs.conversation import Conversation, delete, threads
from ramify.graphs.editing import Edit
from ramify.graphs.memory import memory_address, opened
from ramify.graphs.ratings import Rating, Turn, rate, ratings_of, turns_of
from ramify.graphs.run import ask_async
from ramify.graphs.strategies import find_strategy
from ramify.nodes.init_tree import checked
from ramify.studio.serve.catalog import AND, QUOTED, Catalog, Collection
from ramify.studio.serve.collections import Collections, Watched
from ramify.studio.serve.questions import Asked, Questions
from ramify.tools.errors import UsageError
from ramify.tools.index.searcher import DEMO
from ramify.tools.models import clear_cache
from ramify.tools.quoting import truncate_line

NEW = "new"
"""What a request gives for a conversation that the server is to name."""
_NAME = re.compile(r"[\w.-]{1,80}", re.ASCII)
_SEVERAL = re.compile(r"(\d+) collections: ")
"""How a line about a search of several begins."""
BETWEEN = "/"
"""Between a user and the name of a conversation: neither can have one."""


class Ask(BaseModel):
    """A question as our own interface takes it; what is left out is the server's default."""

    model_config = ConfigDict(extra="forbid")

    question: str
    collection: str | list[str] | None = None
    """A name, or several that are asked together."""
    strategy: str | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    style: Literal["full", "short"] | None = None
    thread: str | None = None
    """The conversation that it belongs to; `new` for a new one; without it, nothing is kept."""


class Editing(BaseModel):
    """A branch of a conversation's last question that is to be asked something else, or dropped; settings as in `Ask`."""

    model_config = ConfigDict(extra="forbid")

    branch: str
    question: str | None = None
    """What is asked instead; without it, the branch is dropped."""
    collection: str | list[str] | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    style: Literal["full", "short"] | None = None


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
            raise UsageError(
                f"{truncate_line(repr(wanted), QUOTED)} is no name of a conversation", f"take letters, digits, _, . and -, or {NEW!r}"
            )
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


@dataclass(frozen=True)
class Serving:
    """The parts of a server that requests use."""

    catalog: Catalog
    questions: Questions
    threads: Threads
    collections: Collections
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    watched: Sequence[Watched] = ()
    """The folders that collections are kept in step with."""

    async def ask(self, user: str, given: Ask, earlier: Sequence[AnyMessage] | None = None) -> Asked:
        """Take up a question, in the light of `earlier` messages where there are any; UsageError for what cannot be asked."""
        question = checked(given.question)
        strategy = find_strategy(given.strategy or self.catalog.strategy).name
        options = await self._options(strategy, given, given.thread is not None)
        clear_cache()  # a model's server may have come up since the last question
        thread = "" if given.thread is None else self.threads.name_of(given.thread)
        if thread:
            ask = self.threads.conversation(user, thread).ask_async
        elif earlier is not None:
            conversation = Conversation()
            conversation.messages = list(earlier)
            ask = conversation.ask_async
        else:
            ask = ask_async
        return self.questions.ask(user, lambda watch, reviewer: ask(question, strategy, watch, reviewer=reviewer, **options), thread)

    async def edit(self, user: str, thread: str, given: Editing) -> Asked | None:
        """Run the last question of a conversation on from an edited branch; None where the user has no such conversation."""
        conversation = self.threads.conversation(user, self.threads.name_of(thread))
        await conversation.recall_async()
        if conversation.strategy is None:
            return None
        edit = Edit(given.branch, None if given.question is None else checked(given.question))
        options = await self._options(conversation.strategy, given, True)
        run_on = conversation.edit_async
        return self.questions.ask(user, lambda watch, reviewer: run_on(edit, watch, reviewer=reviewer, **options), thread)

    async def _options(self, strategy: str, given: Ask | Editing, reviewed: bool) -> dict[str, Any]:
        selection = self.catalog.selection(given.collection)
        settings = {**given.settings, **({"style": given.style} if given.style else {})}
        return await asyncio.to_thread(self.catalog.options_of, strategy, selection, given.model, settings, reviewed)
