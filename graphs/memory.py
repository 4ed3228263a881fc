"""Storage of conversations and their list: a PostgreSQL database, or a SQLite file that is opened once per event loop."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from ramify.nodes.state import CHECKPOINT_CLASSES
from ramify.nodes.step.langgraph import RollbackLock, commit_one_by_one, end_batching, is_migrated
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import make_file, make_readable_by_all, write_error_remedy
from ramify.tools.scrub import mask_address, register_address, split_address
from ramify.tools.shared import SharedResources
from ramify.tools.user_input import check_text, expand_path

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

SQLITE = "sqlite:"
_FILE_MODE = 0o600
"""File mode of a new SQLite file."""
_BUSY_TIMEOUT_S = 60
"""Seconds that a writer waits for a locked SQLite file."""
_CONNECT_TIMEOUT_S = 10
"""Seconds to wait for a connection to a database."""
_LOCK_ID = 7_264_392
"""Id of the advisory lock that is held while the tables are created."""
_RETRY_S = 0.1
_LIST_SUFFIX = ".threads"
"""Ending of the file that lists the conversations."""


class Memory(NamedTuple):
    """LangGraph's checkpointer and store, open."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore


def memory_address(where: str) -> str:
    """Return the address, with the full path of a file; UsageError if it cannot store conversations."""
    if "://" in where and split_address(where).user.partition(":")[2]:  # a user's name alone is no secret
        register_address(where)
    if not where.startswith(("postgresql://", "postgres://", SQLITE)) or where == SQLITE:
        remedy = "name it as postgresql://HOST/DATABASE, or a file as sqlite:FILE"
        raise UsageError(f"{mask_address(where)!r} is not an address for storing conversations", remedy)
    if not where.startswith(SQLITE):
        if where.partition("://")[2].partition("/")[0].count("@") > 1:  # a client would take the end of the password for the host
            raise UsageError("the address has more than one @ before its database", "write an @ in a password as %40, a / as %2F")
        return where
    file = expand_path(check_text(where).removeprefix(SQLITE)).absolute()
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r} for the conversations", "create it, or name another file")
    for kept, known in _files_of(file).items():
        if kept.exists() and not _is_store(kept, known):
            raise UsageError(f"{str(kept)!r} is not a file of conversations", "name another file; it may be a new one")
    return f"{SQLITE}{file}"


def share_memory(where: str) -> None:
    """Make a file of conversations, created if missing, readable for every user of this machine; UsageError for a database."""
    place = memory_address(where)
    if not place.startswith(SQLITE):
        raise UsageError(f"{mask_address(where)!r} is a database, not a file", "grant access on the database server")
    make_readable_by_all([make_file(kept, _FILE_MODE) for kept in _files_of(Path(place.removeprefix(SQLITE)))])


def _is_store(file: Path, known: set[str]) -> bool:
    """Return whether a file is a SQLite database with known tables, or without any; nothing is written, not even beside it."""
    if not file.is_file():
        return False
    with_changes = file.with_name(f"{file.name}-wal").exists()  # the tables may be only there, and opening it changes nothing
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro{'' if with_changes else '&immutable=1'}", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        return "locked" in str(error)  # by a writer; errors are reported when it is opened
    return not tables or bool(tables & known)


def _files_of(file: Path) -> dict[Path, set[str]]:
    """Return the two files of a memory, of LangGraph's checkpointer and of its store, each with the tables by which it is recognized."""
    return {file: {"checkpoints", "writes"}, file.with_name(f"{file.name}{_LIST_SUFFIX}"): {"store", "store_migrations"}}


@asynccontextmanager
async def open_memory(where: str) -> AsyncIterator[Memory]:
    """Open a memory for one event loop, and create missing tables; RamifyError if it cannot be reached, or the connection is lost."""
    place = await asyncio.to_thread(memory_address, where)
    connect = _in_sqlite if place.startswith(SQLITE) else _in_postgres
    async with connect(place.removeprefix(SQLITE)) as memory:
        memory.saver.serde = JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_CLASSES)  # no other class is deserialized
        yield memory


def _unreachable(where: str, error: Exception, remedy: str) -> RamifyError:
    """Return the error of an unreachable memory, with its reason in one line."""
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return RamifyError(f"the conversations at {where} cannot be reached: {reason}", remedy)


@asynccontextmanager
async def _in_postgres(where: str) -> AsyncIterator[Memory]:
    """Open a PostgreSQL database; RamifyError if it cannot be reached, or the connection is lost."""
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from langgraph.store.postgres.aio import AsyncPostgresStore
        from psycopg import Error
    except ImportError as error:
        raise RamifyError("LangGraph's memory in PostgreSQL is not installed", "run `pip install 'ramify-rag[postgres]'`") from error
    patient = where if "connect_timeout" in where else f"{where}{'&' if '?' in where else '?'}connect_timeout={_CONNECT_TIMEOUT_S}"
    try:
        async with AsyncPostgresSaver.from_conn_string(patient) as saver, AsyncPostgresStore.from_conn_string(patient) as store:
            await _make_tables(saver, store)
            yield Memory(saver, store)
    except Error as error:
        raise _unreachable(
            mask_address(where), error, "check the address, that the server is running, and that the user may create tables"
        ) from None


async def _make_tables(saver: "AsyncPostgresSaver", store: "AsyncPostgresStore") -> None:
    """Create the tables, one process at a time; a user without that privilege uses existing ones."""
    from psycopg.errors import InsufficientPrivilege

    while not await _fetch_value(saver, "SELECT pg_try_advisory_lock(%s) AS one", _LOCK_ID):  # noqa: ASYNC110
        await asyncio.sleep(_RETRY_S)  # waiting for the lock in PostgreSQL would keep the other process from making an index
    try:
        await saver.setup()
        await store.setup()
    except InsufficientPrivilege:
        if not await _fetch_value(saver, "SELECT to_regclass('checkpoint_writes') IS NOT NULL AND to_regclass('store') IS NOT NULL AS one"):
            raise
    finally:
        await _fetch_value(saver, "SELECT pg_advisory_unlock(%s) AS one", _LOCK_ID)


async def _fetch_value(saver: "AsyncPostgresSaver", sql: str, *values: object) -> object:
    """Return the column `one` of a query's first row."""
    row: Any = await (await saver.conn.execute(sql, values)).fetchone()  # type: ignore[union-attr]
    return row["one"]


@asynccontextmanager
async def _in_sqlite(file: str) -> AsyncIterator[Memory]:
    """Open a SQLite file once for all users in an event loop; RamifyError if it is invalid or cannot be written.

    With a connection each, a writer would lock the file until the loop runs it again, and many others would time out.
    """
    try:
        async with _FILES.setdefault(asyncio.get_running_loop(), SharedResources(_open_sqlite)).use(file) as memory:
            yield memory
    except (OSError, sqlite3.Error) as error:
        remedy = write_error_remedy(error, "see that it and its folder can be written, and that its disk has room", resumable=True)
        raise _unreachable(repr(file), error, remedy) from error


def _check_not_emptied(saved: Path, listed: Path) -> None:
    """Raise RamifyError if the list has conversations and the file that has their turns is empty or gone."""
    if saved.with_name(f"{saved.name}-wal").exists() or (saved.exists() and saved.stat().st_size) or not listed.exists():
        return
    with closing(sqlite3.connect(f"{listed.as_uri()}?mode=ro", uri=True)) as database:
        has_table = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'store'").fetchone()
        count = database.execute("SELECT count(*) FROM store").fetchone()[0] if has_table else 0
    if count:
        state = "is empty" if saved.exists() else "is gone"
        what = f"the file of conversations {str(saved)!r} {state}, but {listed.name!r} lists some"
        raise RamifyError(what, f"restore it from a backup, or move it and {listed.name!r} away to begin anew")


@asynccontextmanager
async def _open_sqlite(file: str) -> AsyncIterator[Memory]:
    """Open a SQLite file, with the list of conversations beside it."""
    try:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.store.sqlite.aio import AsyncSqliteStore
    except ImportError as error:
        raise RamifyError("LangGraph's memory in SQLite is not installed", "run `pip install 'ramify-rag[sqlite]'`") from error
    await asyncio.to_thread(_check_not_emptied, *_files_of(Path(file)))
    saved, listed = [await asyncio.to_thread(make_file, kept, _FILE_MODE) for kept in _files_of(Path(file))]
    async with AsyncSqliteSaver.from_conn_string(str(saved)) as saver:
        RollbackLock(saver)
        await saver.conn.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}")
        await retry_while_locked(saver.setup, _BUSY_TIMEOUT_S)
        if not await asyncio.to_thread(_has_list, listed, _BUSY_TIMEOUT_S):
            await saver.conn.execute("BEGIN EXCLUSIVE")  # one process at a time makes the list
            await asyncio.to_thread(_make_list, listed, _BUSY_TIMEOUT_S)
            await saver.conn.rollback()
        async with AsyncSqliteStore.from_conn_string(str(listed)) as store:
            commit_one_by_one(store)
            try:
                await store.conn.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}")
                await retry_while_locked(store.setup, _BUSY_TIMEOUT_S)
                yield Memory(saver, store)
            finally:
                await end_batching(store)


_FILES: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedResources[Memory]] = WeakKeyDictionary()
"""Open files by event loop."""


def _has_list(file: Path, timeout_s: float) -> bool:
    """Return whether a file has all tables of the list of conversations."""
    with closing(sqlite3.connect(file, timeout=timeout_s)) as database:
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'store_migrations'").fetchone() is None:
            return False
        version = database.execute("SELECT max(v) FROM store_migrations").fetchone()[0]
    return is_migrated(version)


def _make_list(file: Path, timeout_s: float) -> None:
    """Create the tables of the list of conversations; after an interrupted creation, again."""
    from langgraph.store.sqlite import SqliteStore

    if _has_list(file, timeout_s):  # another process has made it meanwhile
        return
    with closing(sqlite3.connect(file, isolation_level=None, timeout=timeout_s)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "store" in tables and database.execute("SELECT 1 FROM store LIMIT 1").fetchone() is None:
            database.execute("DELETE FROM store_migrations")
            database.execute("DROP TABLE store")
        SqliteStore(database).setup()


async def retry_while_locked(make: Callable[[], Awaitable[None]], timeout_s: float) -> None:
    """Call `make` again while the file is locked: SQLite does not wait for locks when it changes the journal mode."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            return await make()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        await asyncio.sleep(_RETRY_S)
