"""What is left of a conversation that is cut off: a question that no step has read, a list that is half made, an answer it lacks."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore
from langgraph.types import StateSnapshot

from ramify.graphs.run import Result, Watch
from ramify.graphs.wiring import START
from ramify.nodes.read_input import read_input
from ramify.nodes.state.turns import MARK
from ramify.tools.errors import RamifyError

_AGAIN_S = 0.05


async def not_taken_up(saver: BaseCheckpointSaver[Any], held: StateSnapshot) -> list[AnyMessage]:
    """Return the messages of a question that was given, and that no step has read yet; none where there is none."""
    steps = {task.name for task in held.tasks}
    if START in steps and (kept := await saver.aget_tuple(held.config)):
        return list(kept.checkpoint["channel_values"][START]["messages"])
    return list(held.values["messages"]) if read_input.name in steps else []


def has_list(file: Path, patience_s: float) -> bool:
    """Return whether a file has all tables of the list of conversations."""
    from langgraph.store.sqlite import SqliteStore

    with closing(sqlite3.connect(file, timeout=patience_s)) as database:
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'store_migrations'").fetchone() is None:
            return False
        made = database.execute("SELECT max(v) FROM store_migrations").fetchone()[0]
    return made is not None and made + 1 >= len(SqliteStore.MIGRATIONS)


def make_list(file: Path, patience_s: float) -> None:
    """Make the tables of the list of conversations; those of a list whose making was interrupted are made anew, as it has none yet."""
    from langgraph.store.sqlite import SqliteStore

    if has_list(file, patience_s):  # another process has made it meanwhile
        return
    with closing(sqlite3.connect(file, isolation_level=None, timeout=patience_s)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "store" in tables and database.execute("SELECT 1 FROM store LIMIT 1").fetchone() is None:
            database.execute("DELETE FROM store_migrations")
            database.execute("DROP TABLE store")
        SqliteStore(database).setup()


async def patiently(make: Callable[[], Awaitable[None]], patience_s: float) -> None:
    """Prepare a file, again where others are at it: for the change of its journal SQLite waits for nobody."""
    until = time.monotonic() + patience_s
    while True:
        try:
            return await make()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        await asyncio.sleep(_AGAIN_S)


async def roll_back(saver: BaseCheckpointSaver[Any]) -> None:
    """End what a user of a shared connection began and did not end: whoever writes holds the lock until it is written."""
    async with saver.lock:  # type: ignore[attr-defined]  # of AsyncSqliteSaver
        if saver.conn.in_transaction:  # type: ignore[attr-defined]
            await saver.conn.rollback()  # type: ignore[attr-defined]


async def end_task(store: BaseStore) -> None:
    """End the task in which a store gathers what is asked of it; left alone, it is dropped while pending, which asyncio complains of."""
    task = getattr(store, "_task", None)
    if task is not None:
        task.cancel()
        await asyncio.wait([task])


def answered_turns(messages: list[AnyMessage]) -> int:
    """Count the turns that were answered, without those that only asked back."""
    return sum(isinstance(message, AIMessage) and not (message.additional_kwargs.get(MARK) or {}).get("asked_back") for message in messages)


def unlisted(result: Result, state: dict[str, Any], error: RamifyError, watch: Watch | None) -> tuple[Result, dict[str, Any]]:
    """Return an answer that is kept with the notice that the list of conversations lacks it until the next turn."""
    notices = [*result.notices, f"the answer is kept, but the list of conversations counts it only with the next: {error}"]
    if watch is not None:
        watch("values", {**state, "notices": notices})
    return result.model_copy(update={"notices": notices}), state
