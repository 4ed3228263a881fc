"""Requests of all protocols become questions here, with or without a stored conversation of their user."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict, Field

from ramify.graphs.conversation import Conversation, delete_thread, load_threads
from ramify.graphs.editing import Edit
from ramify.graphs.memory import memory_address, open_memory
from ramify.graphs.ratings import AnsweredTurn, Rating, find_turns, load_ratings, rate
from ramify.graphs.run import ask_async
from ramify.graphs.strategies import find_strategy
from ramify.nodes.init_tree import validate_question
from ramify.nodes.settings import Style
from ramify.serve.catalog import MAX_QUOTED_CHARS, NAME_SEPARATOR, Catalog, Collection
from ramify.serve.collection_tests import CollectionTests
from ramify.serve.collections import UserCollections, WatchedFolder
from ramify.serve.questions import QuestionQueue, RunningQuestion
from ramify.tools.errors import UsageError
from ramify.tools.models import clear_cache
from ramify.tools.quoting import truncate_line
from ramify.tools.search.searcher import DEMO

NEW_THREAD = "new"
"""The name in a request for a new conversation, which the server names."""
_THREAD_NAME = re.compile(r"[\w.-]{1,80}", re.ASCII)
_SEVERAL_COLLECTIONS = re.compile(r"(\d+) collections: ")
"""Prefix of the description of a search of several collections."""
USER_SEPARATOR = "/"
"""Separates user and conversation in the name of a stored thread; not allowed in either."""


MAX_CHOSEN_FILES = 200
"""Maximum number of files that a question can choose."""


class AskRequest(BaseModel):
    """A question in the form of the JSON interface; omitted fields have the server's defaults."""

    model_config = ConfigDict(extra="forbid")

    question: str
    collection: str | list[str] | None = None
    """A name, or several that are searched together."""
    strategy: str | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    files: list[str] = Field(default_factory=list, max_length=MAX_CHOSEN_FILES)
    """The only files of the collection to answer from; empty for all."""
    style: Style | None = None
    thread: str | None = None
    """The conversation of the question, or `new`; without it, nothing is stored."""


class EditRequest(BaseModel):
    """Change the question of a branch of a conversation's last question, or drop the branch; other fields as in `AskRequest`."""

    model_config = ConfigDict(extra="forbid")

    branch: str
    question: str | None = None
    """The new question of the branch; without it, the branch is dropped."""
    collection: str | list[str] | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    files: list[str] = Field(default_factory=list, max_length=MAX_CHOSEN_FILES)
    """The only files of the collection to answer from; empty for all."""
    style: Style | None = None


class RatingRequest(BaseModel):
    """A rating of an answer: up for right, down for wrong, null for none."""

    asked: str
    answer: str
    rating: Rating | None


class UserThreads:
    """The stored conversations of each user."""

    def __init__(self, memory: str) -> None:
        self.memory = memory_address(memory)

    async def create_tables(self) -> None:
        """Create the tables of the memory, before concurrent requests would each try to create them."""
        async with open_memory(self.memory):
            pass

    def resolve_name(self, name: str) -> str:
        """Return the name of a conversation, a random one for `new`; raise UsageError for an invalid name."""
        if name == NEW_THREAD:
            return token_hex(8)
        if not _THREAD_NAME.fullmatch(name):
            raise UsageError(
                f"{truncate_line(repr(name), MAX_QUOTED_CHARS)} is not a valid conversation name",
                f"use up to 80 letters, digits, _, . and -, or {NEW_THREAD!r}",
            )
        return name

    def conversation(self, user: str, name: str) -> Conversation:
        """Return a conversation of a user; a new one is stored with its first question."""
        return Conversation(self.memory, f"{user}{USER_SEPARATOR}{name}")

    async def list_threads(self, user: str) -> list[dict[str, Any]]:
        """Return the conversations of a user, the latest first."""
        prefix = f"{user}{USER_SEPARATOR}"
        own_threads = [thread for thread in await load_threads(self.memory) if thread.name.startswith(prefix)]
        return [
            {"id": thread.name.removeprefix(prefix), **{name: getattr(thread, name) for name in thread._fields[1:]}}
            for thread in own_threads
        ]

    async def turns(self, user: str, name: str, collections: dict[str, Collection]) -> dict[str, Any] | None:
        """Return a conversation with its turns; None if the user has none of this name."""
        conversation = self.conversation(user, self.resolve_name(name))
        await conversation.recall_async()
        if conversation.strategy is None:
            return None
        ratings = await load_ratings(self.memory, conversation.thread)
        turns = [_turn(turn, ratings, collections) for turn in find_turns(conversation.messages)]
        return {"id": name, "strategy": conversation.strategy, "turns": turns}

    async def rate(self, user: str, name: str, request: RatingRequest) -> bool:
        """Rate an answer of a conversation; return whether the user has such an answer."""
        return await rate(self.memory, f"{user}{USER_SEPARATOR}{self.resolve_name(name)}", request.asked, request.answer, request.rating)

    async def delete(self, user: str, name: str) -> bool:
        """Delete a conversation with all its data; return whether there was one."""
        return await delete_thread(self.memory, f"{user}{USER_SEPARATOR}{self.resolve_name(name)}")


def _turn(turn: AnsweredTurn, ratings: dict[tuple[str, str], Rating], collections: dict[str, Collection]) -> dict[str, Any]:
    """Return a question with its stored result, rating and collection, each None if it was not answered."""
    result = turn.answer_data
    if result is None:
        return {"asked": turn.asked, "collection": None, "result": None, "rating": None}
    rating = ratings.get((turn.asked, str(result.get("answer"))))
    return {"asked": turn.asked, "collection": _collection_name(str(result.get("index")), collections), "result": result, "rating": rating}


def _collection_name(description: str, collections: dict[str, Collection]) -> str | None:
    """Return the names of the collections in the description of a search, joined by `+`; None if one of them is not served."""
    match = _SEVERAL_COLLECTIONS.match(description)
    line = f"; {description[match.end() :] if match else description}"
    prefixes = {name: f"; {DEMO}: " if collection.where == DEMO else f"; {collection.where} (" for name, collection in collections.items()}
    offsets = {name: line.find(prefix) for name, prefix in prefixes.items()}
    names = sorted((name for name, offset in offsets.items() if offset >= 0), key=lambda name: offsets[name])
    return NAME_SEPARATOR.join(names) if len(names) == int(match[1] if match else 1) else None


@dataclass(frozen=True)
class QuestionService:
    """Submits questions to the queue, and gives access to the other parts of a server."""

    catalog: Catalog
    questions: QuestionQueue
    threads: UserThreads
    collections: UserCollections
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    watched_folders: Sequence[WatchedFolder] = ()
    """Folders whose indexes are kept up to date."""
    tests: Mapping[str, CollectionTests] = field(default_factory=dict)
    """The tests of collections, by the collection's name."""

    def connect_tests(self) -> None:
        """Let tests take turns with questions, and run those of a watched folder after each update."""
        for name, tests in self.tests.items():
            tests.slot = self.questions.slot
            for folder in self.watched_folders:
                if folder.where == self.catalog.collections[name].where:
                    folder.on_update = tests.start

    async def ask(self, user: str, request: AskRequest, earlier: Sequence[AnyMessage] | None = None) -> RunningQuestion:
        """Submit a question, which may refer to `earlier` messages; raise UsageError for an invalid request."""
        question = validate_question(request.question)
        strategy = find_strategy(request.strategy or self.catalog.strategy).name
        options = await self._options(strategy, request, request.thread is not None)
        clear_cache()  # look again for model servers: one may have been started since the last question
        thread = "" if request.thread is None else self.threads.resolve_name(request.thread)
        if thread:
            await self.questions.wait_for_stopped(user, thread)
            ask = self.threads.conversation(user, thread).ask_async
        elif earlier is not None:
            conversation = Conversation()
            conversation.messages = list(earlier)
            ask = conversation.ask_async
        else:
            ask = ask_async
        return self.questions.submit(user, lambda watch, reviewer: ask(question, strategy, watch, reviewer=reviewer, **options), thread)

    async def edit(self, user: str, thread: str, request: EditRequest) -> RunningQuestion | None:
        """Resume the last question of a conversation from an edited branch; None if the user has no such conversation."""
        conversation = self.threads.conversation(user, self.threads.resolve_name(thread))
        await self.questions.wait_for_stopped(user, thread)
        await conversation.recall_async()
        if conversation.strategy is None:
            return None
        edit = Edit(request.branch, None if request.question is None else validate_question(request.question))
        options = await self._options(conversation.strategy, request, True)
        resume = conversation.edit_async
        return self.questions.submit(user, lambda watch, reviewer: resume(edit, watch, reviewer=reviewer, **options), thread)

    async def _options(self, strategy: str, request: AskRequest | EditRequest, has_reviewer: bool) -> dict[str, Any]:
        selection = self.catalog.selection(request.collection)
        settings = {**request.settings, **({"style": request.style} if request.style else {})}
        if request.files:
            given = settings.get("filter") or {}
            if not isinstance(given, dict) or "source" in given:
                raise UsageError("files and a filter on their source cannot be given together", "omit one of them")
            settings["filter"] = {**given, **await asyncio.to_thread(selection.file_filter, request.files)}
        return await asyncio.to_thread(self.catalog.request_options, strategy, selection, request.model, settings, has_reviewer)
