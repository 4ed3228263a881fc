"""Where conversations are kept, so that they survive a restart: PostgreSQL, or a file of SQLite, as LangGraph's checkpointer and store."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from ramify.graphs.tool_config import TRUSTED
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import make_file, remedy_for, share
from ramify.tools.scrub import learn_address, parts_of, shown
from ramify.tools.typed import readable, usable

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

POSTGRES, SQLITE = ("postgresql://", "postgres://"), "sqlite:"
FORMS = "name it as postgresql://HOST/DATABASE, or a file as sqlite:FILE"
PRIVATE = 0o600
"""The rights of a new file of conversations, whatever those of its folder, which is not its own."""
THREADS = ("ramify", "threads")
"""The place in the store where every conversation is listed."""
_MOST = 1000
_PATIENCE_S = 10
_MAKING = 7_264_392
"""The number of the lock that whoever makes the tables holds."""
_AGAIN_S = 0.1
_TABLES = "SELECT to_regclass('checkpoint_writes') IS NOT NULL AND to_regclass('store') IS NOT NULL AS one"


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
    file = usable(readable(where).removeprefix(SQLITE)).absolute()
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r} to keep conversations in", "make it, or name another file")
    for kept, known in _kept_in(file).items():
        if kept.exists() and not _is_store(kept, known):
            raise UsageError(f"{str(kept)!r} is no file of conversations", "name another file, such as one that is not there yet")
    return f"{SQLITE}{file}"


def share_memory(where: str) -> None:
    """Let everybody on this machine read the conversations in a file, which is made where it is missing; UsageError for no file."""
    place = checked(where)
    if not place.startswith(SQLITE):
        raise UsageError(f"{shown(where)!r} is no file to be shared", "let its server say who may read")
    share([make_file(kept, PRIVATE) for kept in _kept_in(Path(place.removeprefix(SQLITE)))])


def _kept_in(file: Path) -> dict[Path, set[str]]:
    """Give the two files of a memory, each with the tables by which it is known: LangGraph's checkpointer, and its store beside it."""
    return {file: {"checkpoints", "writes"}, file.with_name(f"{file.name}.threads"): {"store", "store_migrations"}}


def _is_store(file: Path, known: set[str]) -> bool:
    """Tell whether a file is one of SQLite's that has known tables, or none yet; nothing is written, not even beside it."""
    if not file.is_file():
        return False
    with_changes = file.with_name(f"{file.name}-wal").exists()  # then the tables may be there alone, and who opens it changes nothing
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro{'' if with_changes else '&immutable=1'}", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        return "locked" in str(error)  # by whoever writes there; that it can be opened is seen later
    return not tables or bool(tables & known)


@asynccontextmanager
async def opened(where: str) -> AsyncIterator[Memory]:
    """Open a memory for one event loop, and make its tables where they are missing; RamifyError where it cannot be reached, or is lost."""
    place = await asyncio.to_thread(checked, where)
    connect = _in_sqlite if place.startswith(SQLITE) else _in_postgres
    async with connect(place.removeprefix(SQLITE)) as memory:
        memory.saver.serde = JsonPlusSerializer(allowed_msgpack_modules=TRUSTED)  # nothing else is made from what lies there
        yield memory


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


@asynccontextmanager
async def _in_postgres(where: str) -> AsyncIterator[Memory]:
    """Open a database of PostgreSQL; RamifyError where it cannot be reached, or is lost while it is used."""
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from langgraph.store.postgres.aio import AsyncPostgresStore
        from psycopg import Error
    except ImportError as error:
        raise RamifyError("LangGraph's memory in PostgreSQL is not installed", "run `pip install 'ramify-rag[postgres]'`") from error
    patient = where if "connect_timeout" in where else f"{where}{'&' if '?' in where else '?'}connect_timeout={_PATIENCE_S}"
    try:
        async with AsyncPostgresSaver.from_conn_string(patient) as saver, AsyncPostgresStore.from_conn_string(patient) as store:
            await _make_tables(saver, store)
            yield Memory(saver, store)
    except Error as error:
        remedy = "check the address, that the server runs, and that the user may make tables there"
        raise _lost(shown(where), error, remedy) from None


async def _make_tables(saver: "AsyncPostgresSaver", store: "AsyncPostgresStore") -> None:
    """Make the tables, one process at a time; a user who may make none uses those that are there."""
    from psycopg.errors import InsufficientPrivilege

    while True:  # asked for again and again: one that waits for a lock would keep an index from being made beside it
        if await _one(saver, "SELECT pg_try_advisory_lock(%s) AS one", _MAKING):
            break
        await asyncio.sleep(_AGAIN_S)
    try:
        await saver.setup()
        await store.setup()
    except InsufficientPrivilege:
        if not await _one(saver, _TABLES):
            raise
    finally:
        await _one(saver, "SELECT pg_advisory_unlock(%s) AS one", _MAKING)


async def _one(saver: "AsyncPostgresSaver", sql: str, *values: object) -> object:
    """Ask for one value, which the question calls `one`."""
    found: Any = await (await saver.conn.execute(sql, values)).fetchone()  # type: ignore[union-attr]
    return found["one"]


@asynccontextmanager
async def _in_sqlite(file: str) -> AsyncIterator[Memory]:
    """Open a file of SQLite; the list of conversations lies beside it. RamifyError where it is none, or cannot be written."""
    try:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.store.sqlite.aio import AsyncSqliteStore
    except ImportError as error:
        raise RamifyError("LangGraph's memory in SQLite is not installed", "run `pip install 'ramify-rag[sqlite]'`") from error
    try:
        saved, listed = [str(await asyncio.to_thread(make_file, kept, PRIVATE)) for kept in _kept_in(Path(file))]
        async with AsyncSqliteSaver.from_conn_string(saved) as saver, AsyncSqliteStore.from_conn_string(listed) as store:
            await saver.setup()
            await store.setup()
            yield Memory(saver, store)
    except (OSError, sqlite3.Error) as error:
        raise _lost(
            repr(file), error, remedy_for(error, "see that it and its folder can be written, and that its disk has room", kept=True)
        ) from error


def _lost(where: str, error: Exception, remedy: str) -> RamifyError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return RamifyError(f"the conversations at {where} cannot be reached: {reason}", remedy)
