"""Conversations that are kept in PostgreSQL or SQLite: another process goes on with them, also in the middle of a question."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.conversation import load_threads
from ramify.graphs.memory import open_memory
from ramify.graphs.run import RunTracker
from ramify.tools.errors import RamifyError, UsageError
from tests.fakes import FakeModel
from tests.faults import fault
from tests.graphs.test_killed import FIRST, ROME, Hanging, two_halves
from tests.postgres import server
from tests.river import QUESTION, river

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with server() as address:
        yield address


@pytest.fixture(params=["postgresql", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.getfixturevalue("postgres")) if request.param == "postgresql" else f"sqlite:{tmp_path / 'memory.db'}"


def chat() -> FakeModel:
    return FakeModel(replies=two_halves, logprobs=True)


def dies_with_the_first_half(memory: str, thread: str, strategy: str = "prune") -> None:
    """Ask on a thread, and be killed once the first half's answer is kept, and the checkpoint that it belongs to."""
    from ramify.graphs import memory as kept_in

    keep, answered = set(), [""]

    def deadly(saver: Any) -> Any:
        put, put_writes = saver.aput, saver.aput_writes

        def die_if_both_are_kept() -> None:
            if answered[0] in keep:
                os.kill(os.getpid(), signal.SIGKILL)

        async def aput(config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            stored = await put(config, checkpoint, metadata, new_versions)
            keep.add(checkpoint["id"])
            die_if_both_are_kept()
            return stored

        async def aput_writes(config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            await put_writes(config, writes, task_id, task_path)
            if "'answer': 'Paris'" in str(writes):
                answered[0] = config["configurable"]["checkpoint_id"]
                die_if_both_are_kept()

        saver.aput, saver.aput_writes = aput, aput_writes
        return saver

    kept = kept_in.Memory
    kept_in.Memory = lambda saver, store: kept(deadly(saver), store)  # type: ignore[assignment, misc]
    asked = Hanging(replies=two_halves, logprobs=True)
    graphs.Conversation(memory, thread).ask(QUESTION, strategy, model=asked, index=river(), max_depth=1 if strategy == "tor" else 2)


CHILD = "import sys; from tests.graphs.test_memory import dies_with_the_first_half; dies_with_the_first_half(*sys.argv[1:])"
ASK = """
import sys
import ramify.graphs as graphs
from tests.graphs.test_memory import chat
from tests.river import river
graphs.Conversation(*sys.argv[1:3]).ask(sys.argv[3], "naive", model=chat(), index=river())
"""


def in_another_process(program: str, *arguments: str) -> int:
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    return subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, env=environment, check=False, timeout=120).returncode


def test_another_process_continues_the_conversation(memory: str) -> None:
    assert in_another_process(ASK, memory, "rivers", FIRST) == 0
    conversation = graphs.Conversation(memory, "rivers")
    assert conversation.recall() is None
    assert [message.type for message in conversation.messages] == ["human", "ai"]
    asked = chat()
    conversation.ask("And there?", "naive", model=asked, index=river())
    assert [slots["question"] for slots in asked.asked("contextualize")] == ["And there?"]
    assert [message.type for message in conversation.messages] == ["human", "ai", "human", "ai"]
    graphs.Conversation(memory, "others").ask(ROME, "naive", model=chat(), index=river())
    listed = {thread.name: (thread.first, thread.turns) for thread in asyncio.run(load_threads(memory))}
    assert (listed["rivers"], listed["others"]) == ((FIRST, 2), (ROME, 1))


@fault(
    "processes",
    "killed during a turn of a conversation",
    sees="the question is offered to be resumed",
    kept="all turns before; every finished branch",
    code="killed",
)
def test_a_question_whose_answering_was_killed_is_resumed(memory: str) -> None:
    assert in_another_process(CHILD, memory, "killed") == -signal.SIGKILL
    conversation, asked = graphs.Conversation(memory, "killed"), chat()
    assert [thread.turns for thread in asyncio.run(load_threads(memory)) if thread.name == "killed"] == [0]
    assert conversation.recall() == QUESTION
    result = conversation.resume("prune", model=asked, index=river(), max_depth=2)
    assert result.answer == "Seine"
    assert FIRST not in [slots.get("question") for name, slots in asked.calls if name == "decide"]
    assert conversation.recall() is None
    with pytest.raises(UsageError, match="no question was interrupted"):
        conversation.resume("prune", model=asked, index=river())


@fault(
    "processes",
    "killed between a step and its checkpoint",
    sees="the question is offered to be resumed",
    kept="the step's result: it is not asked again",
    code="killed",
)
def test_a_question_killed_between_a_step_and_its_checkpoint_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    graphs.Conversation(f"sqlite:{file}", "killed").ask(FIRST, "naive", model=chat(), index=river())
    with sqlite3.connect(file) as database:  # what the last step gave is kept, and no checkpoint after it
        database.execute("DELETE FROM checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints)")
    conversation, asked = graphs.Conversation(f"sqlite:{file}", "killed"), chat()
    assert conversation.recall() == FIRST
    assert conversation.resume(model=asked, index=river()).answer == "Paris"
    assert asked.calls == []
    assert [message.type for message in conversation.messages] == ["human", "ai"]


@fault(
    "processes",
    "killed between a step and its checkpoint",
    sees="the question is offered to be resumed",
    kept="the step's result: it is not asked again",
    code="killed",
)
@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_question_killed_before_it_was_taken_up_is_resumed(tmp_path: Path, turn: int, kept: int) -> None:
    file, asked, counts = tmp_path / "memory.db", [FIRST, ROME][:turn], [0]
    for question in asked:
        graphs.Conversation(f"sqlite:{file}", "killed").ask(question, "naive", model=chat(), index=river())
        with sqlite3.connect(file) as database:
            counts += database.execute("SELECT count(*) FROM checkpoints").fetchone()
    with sqlite3.connect(file) as database:  # the first checkpoints of the last turn alone are kept
        late = "(SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id LIMIT -1 OFFSET ?)"
        for table in ("writes", "checkpoints"):
            database.execute(f"DELETE FROM {table} WHERE checkpoint_id IN {late}", [counts[-2] + kept])
    conversation = graphs.Conversation(f"sqlite:{file}", "killed")
    assert conversation.recall() == asked[-1]
    assert conversation.resume(model=chat(), index=river()).answer == ("Paris" if turn == 1 else "Seine")
    assert [message.text for message in conversation.messages if message.type == "human"] == asked


@pytest.mark.parametrize("memory", ["sqlite"], indirect=True)
def test_it_is_resumed_by_the_strategy_that_it_was_begun_with(memory: str) -> None:
    assert in_another_process(CHILD, memory, "tor", "tor") == -signal.SIGKILL
    conversation = graphs.Conversation(memory, "tor")
    assert (conversation.recall(), conversation.strategy) == (QUESTION, "tor")
    with pytest.raises(UsageError, match="strategy=tor, not naive"):
        conversation.resume("naive", model=chat(), index=river())
    assert conversation.resume(model=chat(), index=river(), max_depth=1).answer == "Seine"


def fails(monkeypatch: pytest.MonkeyPatch, memory: str, time: int) -> None:
    """Let the store of a memory fail from its so-many-th entry in the list on, as where the file is locked or the disk full."""
    from langgraph.store.postgres.aio import AsyncPostgresStore
    from langgraph.store.sqlite.aio import AsyncSqliteStore
    from psycopg import OperationalError

    store, error = (AsyncSqliteStore, sqlite3.OperationalError) if memory.startswith("sqlite") else (AsyncPostgresStore, OperationalError)
    put, entries = store.aput, count(1)

    async def aput(*given: Any) -> None:
        if next(entries) >= time:
            raise error("database is locked")
        await put(*given)

    monkeypatch.setattr(store, "aput", aput)


@fault(
    "processes",
    "list of conversations that cannot be written after an answer",
    sees="the answer, and a notice",
    kept="the answer; the next turn lists it",
)
def test_an_answer_that_cannot_be_listed_is_given_and_listed_with_the_next(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation, told = graphs.Conversation(memory, "unlisted"), list[str]()
    with monkeypatch.context() as failing:
        fails(failing, memory, 2)
        first = conversation.ask(FIRST, "naive", RunTracker(told.append), model=chat(), index=river())
    assert first.answer == "Paris"
    assert [notice for notice in first.notices if "locked" in notice] == told
    assert len(told) == 1
    assert {one.name: one.turns for one in asyncio.run(load_threads(memory))}["unlisted"] == 0
    again = graphs.Conversation(memory, "unlisted")
    assert (again.recall(), again.turns) == (None, 1)
    again.ask("And there?", "naive", model=chat(), index=river())
    assert {one.name: one.turns for one in asyncio.run(load_threads(memory))}["unlisted"] == again.turns == 2


def test_a_question_that_cannot_be_listed_is_not_asked(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, memory, 1)
    asked = chat()
    with pytest.raises(RamifyError, match="locked"):
        graphs.Conversation(memory, "rivers").ask(FIRST, "naive", model=asked, index=river())
    assert asked.calls == []


def test_several_may_begin_at_once_on_a_new_database(postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("CREATE DATABASE fresh")
    fresh = postgres.replace("/postgres", "/fresh")
    looking = "import sys; import ramify.graphs as graphs; print(graphs.Conversation(sys.argv[1], 'new').recall())"
    begun = [subprocess.Popen([sys.executable, "-c", looking, fresh], cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    assert [one.communicate(timeout=120)[0].strip() for one in begun] == [b"None"] * 2


def test_who_may_make_no_tables_uses_those_that_are_there(postgres: str) -> None:
    import psycopg

    graphs.Conversation(postgres, "made").recall()
    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("CREATE ROLE reader LOGIN")
        database.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader")
    conversation = graphs.Conversation(postgres.replace("ramify@", "reader@"), "theirs")
    assert conversation.ask(FIRST, "naive", model=chat(), index=river()).answer == "Paris"


def test_a_memory_that_is_unreachable_or_invalid_is_one_clear_error(tmp_path: Path) -> None:
    with server() as address:
        conversation = graphs.Conversation(address, "lost")
        conversation.ask(FIRST, "naive", model=chat(), index=river())
    with pytest.raises(RamifyError, match=r"cannot be reached: .* check the address, that the server is running"):
        conversation.ask(FIRST, "naive", model=chat(), index=river())


def test_no_part_of_a_password_is_taken_for_the_host() -> None:
    with pytest.raises(UsageError, match="write an @ in a password as %40") as caught:
        graphs.Conversation("postgresql://ramify:top@secret@127.0.0.1/postgres")
    assert "secret" not in str(caught.value)


async def test_a_strategy_in_a_larger_graph_may_use_the_same_server(postgres: str) -> None:
    config: Any = {"configurable": {"thread_id": "embedded"}}
    async with open_memory(postgres) as memory:
        wiring, settings = graphs.configure("naive", {"model": chat(), "index": river()})
        await wiring.compile(checkpointer=memory.saver).ainvoke({"question": FIRST}, config, context=settings)
    async with open_memory(postgres) as memory:
        state = await wiring.compile(checkpointer=memory.saver).aget_state(config)
    assert type(state.values["tree"]["0"]).__name__ == "Branch"


@pytest.mark.parametrize("where", ["mysql://host/db", "sqlite:", "conversations.db"])
def test_what_is_no_place_is_refused(where: str) -> None:
    with pytest.raises(UsageError, match=r"postgresql://HOST/DATABASE.*sqlite:FILE"):
        graphs.Conversation(where)


def test_a_server_that_is_not_there_is_reported_without_its_password() -> None:
    conversation = graphs.Conversation("postgresql://ramify:very-secret-word@127.0.0.1:1/postgres")
    with pytest.raises(RamifyError, match=r"127\.0\.0\.1:1.* check the address") as caught:
        conversation.recall()
    assert "very-secret-word" not in str(caught.value)
