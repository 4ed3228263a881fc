"""LangGraph's checkpointer and store in PostgreSQL and in SQLite: opened, their tables made, what goes wrong with them told."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from ramify.tools.address_parts import shown
from ramify.tools.errors import RamifyError

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

Places = tuple[BaseCheckpointSaver[Any], BaseStore]
_PATIENCE_S = 10
_MAKING = 7_264_392
"""The number of the lock that whoever makes the tables holds."""
_AGAIN_S = 0.1
_TABLES = "SELECT to_regclass('checkpoint_writes') IS NOT NULL AND to_regclass('store') IS NOT NULL AS one"


@asynccontextmanager
async def in_postgres(where: str) -> AsyncIterator[Places]:
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
            yield saver, store
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
async def in_sqlite(file: str) -> AsyncIterator[Places]:
    """Open a file of SQLite; the list of conversations lies beside it. RamifyError where it is none, or cannot be written."""
    try:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.store.sqlite.aio import AsyncSqliteStore
    except ImportError as error:
        raise RamifyError("LangGraph's memory in SQLite is not installed", "run `pip install 'ramify-rag[sqlite]'`") from error
    try:
        async with AsyncSqliteSaver.from_conn_string(file) as saver, AsyncSqliteStore.from_conn_string(f"{file}.threads") as store:
            await saver.setup()
            await store.setup()
            yield saver, store
    except sqlite3.Error as error:
        raise _lost(repr(file), error, "see that it is a file of SQLite, and that it and its folder can be written") from error


def _lost(where: str, error: Exception, remedy: str) -> RamifyError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return RamifyError(f"the conversations at {where} cannot be reached: {reason}", remedy)
