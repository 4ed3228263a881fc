"""Conversations that are kept in a SQLite file: whose it is, and many who use it at once."""

import asyncio
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite import SqliteStore

import ramify.graphs as graphs
from ramify.graphs.conversation import load_threads
from ramify.graphs.memory import open_memory, retry_while_locked, share_memory
from ramify.graphs.run import blocking
from ramify.nodes.tree import Branch
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index import Index
from tests.faults import fault
from tests.graphs.test_killed import FIRST
from tests.graphs.test_memory import chat
from tests.river import river
from tests.tools.fakes import WordEncoder


def rights(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def looked_at(file: Path) -> tuple[int, ...]:
    """What a file is, apart from when it was read."""
    found = file.stat()
    return found.st_mode, found.st_ino, found.st_nlink, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    Index.from_texts(["Warsaw lies on the Vistula."], WordEncoder(), path=tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "words.txt").write_bytes(b"no database " * 500)
    (tmp_path / "beside.threads").write_text("somebody's list")
    before = {file.name: looked_at(file) for file in tmp_path.iterdir()}
    for name in ("manifest.json", "passages.sqlite", ".writing.threads/x", "words.txt", "pipe", "folder", "beside", "a" * 300, "nul\0"):
        with pytest.raises(UsageError, match=" — "):
            graphs.Conversation(f"sqlite:{tmp_path / name}")
    assert {file.name: looked_at(file) for file in tmp_path.iterdir()} == before


def test_conversations_are_their_owner_s_alone_unless_they_are_shared(tmp_path: Path) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"
    (tmp_path / "kept.db").touch(0o600)  # as mktemp makes it
    (tmp_path).chmod(0o755)
    before = os.umask(0o022)
    try:
        graphs.Conversation(where, "mine").ask(FIRST, "naive", model=chat(), index=river())
    finally:
        os.umask(before)
    assert set(rights(tmp_path).values()) == {0o600}
    assert {"kept.db", "kept.db.threads"} <= rights(tmp_path).keys()
    share_memory(where)
    assert set(rights(tmp_path).values()) == {0o644}
    assert len(graphs.Conversation(where, "mine").recall() or "") == 0
    with pytest.raises(UsageError, match="not a file"):
        share_memory("postgresql://host/database")


def test_a_store_with_changes_that_are_not_in_its_file_yet_is_one(tmp_path: Path) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"

    async def twice() -> list[str]:
        async with open_memory(where), open_memory(where):
            return os.listdir(tmp_path)  # in an event loop

    assert "kept.db-wal" in blocking(twice())


@fault("processes", "many conversations that start at once", sees="every answer", kept="every conversation")
async def test_many_may_begin_at_once_on_a_new_file(tmp_path: Path) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"
    begun = [graphs.Conversation(where, f"talk-{number}").ask_async(FIRST, "naive", model=chat(), index=river()) for number in range(12)]
    assert {result.answer for result in await asyncio.gather(*begun)} == {"Paris"}
    assert [thread.turns for thread in await load_threads(where)] == [1] * 12


async def test_a_file_is_opened_once_for_all_who_use_it(tmp_path: Path) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"
    async with open_memory(where) as one:
        async with open_memory(where) as other:
            assert other is one
        assert await load_threads(where) == [], "the last to leave closes it"
    async with open_memory(where) as later:
        assert later is not one


async def test_what_was_begun_is_undone_before_others_write(tmp_path: Path) -> None:
    async def fail(saver: Any) -> None:
        async with saver.lock:  # as it writes
            await saver.conn.execute("INSERT INTO checkpoints (thread_id, checkpoint_id) VALUES ('1', '2')")
            await saver.conn.execute("no SQL")

    async with open_memory(f"sqlite:{tmp_path / 'kept.db'}") as memory:
        with pytest.raises(sqlite3.OperationalError):
            await fail(memory.saver)
        with closing(sqlite3.connect(tmp_path / "kept.db", timeout=0, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            assert database.execute("SELECT * FROM checkpoints").fetchall() == []


async def damaged(where: str, sql: str) -> None:
    """Change the list of conversations, and use it."""
    async with open_memory(where) as memory:
        store: Any = memory.store
        await store.conn.execute(sql)
        await store.aget(("a",), "b")
        await store.aput(("a",), "b", {"long": "x" * 100_000})


async def test_a_full_disk_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"
    with pytest.raises(RamifyError, match="disk is full — make room"):
        await damaged(where, "PRAGMA max_page_count = 1")
    full = sqlite3.OperationalError("disk I/O error")
    full.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"  # of the file beside it that holds the memory which processes share

    async def setup(saver: AsyncSqliteSaver) -> None:
        raise full

    monkeypatch.setattr(AsyncSqliteSaver, "setup", setup)
    with pytest.raises(RamifyError, match="make room"):
        await load_threads(where)


async def test_a_list_that_is_damaged_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RamifyError, match="no such table: store — see that"):
        await damaged(f"sqlite:{tmp_path / 'kept.db'}", "DROP TABLE store")


async def test_a_list_that_is_read_and_written_at_once_waits_for_who_writes(tmp_path: Path) -> None:
    async with open_memory(f"sqlite:{tmp_path / 'kept.db'}") as memory:
        with closing(sqlite3.connect(tmp_path / "kept.db.threads", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            asyncio.get_running_loop().call_later(0.2, database.rollback)
            read, _ = await asyncio.gather(memory.store.aget(("a",), "b"), memory.store.aput(("a",), "c", {}))
    assert read is None


async def test_a_file_that_others_prepare_is_waited_for() -> None:
    told = iter(["database is locked", "database schema is locked: main", "", "disk I/O error"])

    async def make() -> None:
        if why := next(told):
            raise sqlite3.OperationalError(why)

    await retry_while_locked(make, 5)
    with pytest.raises(sqlite3.OperationalError, match="disk"):
        await retry_while_locked(make, 5)


@fault(
    "processes",
    "killed while the list of conversations is created",
    sees="nothing: the next question creates it again",
    kept="nothing was in it yet",
    code="killed",
)
@pytest.mark.parametrize("done", range(6))
def test_a_list_whose_making_was_killed_at_any_step_is_made_anew(tmp_path: Path, done: int) -> None:
    with sqlite3.connect(tmp_path / "kept.db.threads") as database:
        database.execute("CREATE TABLE store_migrations (v INTEGER PRIMARY KEY)")
        for number, change in enumerate(SqliteStore.MIGRATIONS[:done], 1):  # the last one is made, and not noted
            database.executescript(change)
            database.execute("INSERT INTO store_migrations VALUES (?)", [number - 1]) if number < done else None
    where = f"sqlite:{tmp_path / 'kept.db'}"
    assert graphs.Conversation(where, "mine").ask(FIRST, "naive", model=chat(), index=river()).answer == "Paris"
    assert [thread.turns for thread in asyncio.run(load_threads(where))] == [1]


def test_a_conversation_whose_classes_are_not_known_any_more_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"sqlite:{tmp_path / 'kept.db'}"
    with monkeypatch.context() as before:
        before.setattr(Branch, "__module__", "ramify.nodes.former")
        graphs.Conversation(where, "mine").ask(FIRST, "naive", model=chat(), index=river())
    with pytest.raises(UsageError, match="another version of ramify — "):
        graphs.Conversation(where, "mine").ask(FIRST, "naive", model=chat(), index=river())
