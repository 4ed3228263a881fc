"""Where conversations are kept, so that they survive a restart: PostgreSQL, or a file of SQLite, as LangGraph's checkpointer and store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from ramify.graphs.callers_config import TRUSTED
from ramify.graphs.memory_places import in_postgres, in_sqlite
from ramify.tools.address_parts import parts_of, shown
from ramify.tools.errors import UsageError
from ramify.tools.scrub import learn_address

POSTGRES, SQLITE = ("postgresql://", "postgres://"), "sqlite:"
FORMS = "name it as postgresql://HOST/DATABASE, or a file as sqlite:FILE"
THREADS = ("ramify", "threads")
"""The place in the store where every conversation is listed."""
_MOST = 1000


class Memory(NamedTuple):
    """LangGraph's checkpointer and store, open."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore


class Thread(NamedTuple):
    """A conversation as the list has it: its name, first question, answered turns, strategy, and when it was last asked something."""

    name: str
    first: str
    turns: int
    strategy: str
    asked: str


def checked(where: str) -> str:
    """Return an address; UsageError where it is none."""
    if "://" in where and parts_of(where).user.partition(":")[2]:  # a user's name alone is no secret
        learn_address(where)
    if not where.startswith((*POSTGRES, SQLITE)) or where == SQLITE:
        raise UsageError(f"{shown(where)!r} is no place to keep conversations", FORMS)
    if not where.startswith(SQLITE):
        if where.partition("://")[2].partition("/")[0].count("@") > 1:  # a client would take the end of the password for the host
            raise UsageError("the address has more than one @ before its database", "write an @ in a password as %40, a / as %2F")
        return where
    file = Path(where.removeprefix(SQLITE)).expanduser().absolute()
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r} to keep conversations in", "make it, or name another file")
    return f"{SQLITE}{file}"


@asynccontextmanager
async def opened(where: str) -> AsyncIterator[Memory]:
    """Open a memory for one event loop, and make its tables where they are missing; RamifyError where it cannot be reached, or is lost."""
    place = checked(where)
    connect = in_sqlite if place.startswith(SQLITE) else in_postgres
    async with connect(place.removeprefix(SQLITE)) as (saver, store):
        saver.serde = JsonPlusSerializer(allowed_msgpack_modules=TRUSTED)  # nothing else is made from what lies there
        yield Memory(saver, store)


async def note(store: BaseStore, thread: str, question: str, strategy: str, turns: int | None = None) -> None:
    """List a conversation, or bring its line up to date; its first question stays, and its turns where none are given."""
    held = await store.aget(THREADS, thread)
    first = held.value["first"] if held else question
    if turns is None:
        turns = held.value["turns"] if held else 0
    told = {"first": first, "turns": turns, "strategy": strategy, "asked": datetime.now(UTC).isoformat(timespec="seconds")}
    await store.aput(THREADS, thread, told)


async def strategy_of(store: BaseStore, thread: str) -> str | None:
    """Return the strategy that a conversation was last asked with, None where there is none of the name."""
    held = await store.aget(THREADS, thread)
    return str(held.value["strategy"]) if held else None


async def threads(where: str) -> list[Thread]:
    """List the conversations of a memory, the latest first."""
    async with opened(where) as memory:
        found = await memory.store.asearch(THREADS, limit=_MOST)
    listed = [Thread(one.key, *(one.value[name] for name in Thread._fields[1:])) for one in found]
    return sorted(listed, key=lambda thread: thread.asked, reverse=True)
