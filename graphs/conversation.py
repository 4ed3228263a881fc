"""Conversations: follow-up questions on a thread, and where threads are stored."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from ramify.graphs._kept_turns import answered_turns, not_taken_up, unlisted
from ramify.graphs._sqlite_memory import PRIVATE, Memory, in_sqlite, kept_in, lost
from ramify.graphs.conditions import follow_up, nobody_known
from ramify.graphs.editing import Edit, fork
from ramify.graphs.run import Result, Reviewer, Watch, blocking, check_reviewer, reviewable, run_graph
from ramify.graphs.strategies import DEFAULT, build, configure
from ramify.graphs.tool import TRUSTED
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.append_answer import append_answer
from ramify.nodes.ask_back import ask_back
from ramify.nodes.contextualize import contextualize
from ramify.nodes.init_tree import checked, init_tree
from ramify.nodes.read_input import read_input
from ramify.nodes.settings import Settings
from ramify.nodes.state import ChatInput, Replied
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.models import forget
from ramify.tools.new_files import make_file, share
from ramify.tools.scrub import learn_address, parts_of, shown
from ramify.tools.typed import readable, usable

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

SQLITE = "sqlite:"
THREADS = ("ramify", "threads")
"""The namespace in the store where every conversation is listed."""
RATINGS = ("ramify", "ratings")
"""Where the ratings of its answers are."""
_PAGE = 1000
"""Conversations that are read at once."""
_PATIENCE_S = 10
_MAKING = 7_264_392
"""The number of the lock that is held while the tables are made."""
_AGAIN_S = 0.1


class Thread(NamedTuple):
    """A conversation in the list: its name, first question, answered turns, last strategy, and when it was last asked something."""

    name: str
    first: str
    turns: int
    strategy: str
    asked: str


def memory_address(where: str) -> str:
    """Return the address, that of a file in full; UsageError where no conversations can be kept there."""
    if "://" in where and parts_of(where).user.partition(":")[2]:  # a user's name alone is no secret
        learn_address(where)
    if not where.startswith(("postgresql://", "postgres://", SQLITE)) or where == SQLITE:
        remedy = "name it as postgresql://HOST/DATABASE, or a file as sqlite:FILE"
        raise UsageError(f"{shown(where)!r} is no place to keep conversations", remedy)
    if not where.startswith(SQLITE):
        if where.partition("://")[2].partition("/")[0].count("@") > 1:  # a client would take the end of the password for the host
            raise UsageError("the address has more than one @ before its database", "write an @ in a password as %40, a / as %2F")
        return where
    file = usable(readable(where).removeprefix(SQLITE)).absolute()
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r} to keep conversations in", "make it, or name another file")
    for kept, known in kept_in(file).items():
        if kept.exists() and not _is_store(kept, known):
            raise UsageError(f"{str(kept)!r} is no file of conversations", "name another file, such as one that is not there yet")
    return f"{SQLITE}{file}"


def share_memory(where: str) -> None:
    """Let every user of this machine read the conversations in a file, which is made where it is missing; UsageError for a database."""
    place = memory_address(where)
    if not place.startswith(SQLITE):
        raise UsageError(f"{shown(where)!r} is no file to be shared", "let its server say who may read")
    share([make_file(kept, PRIVATE) for kept in kept_in(Path(place.removeprefix(SQLITE)))])


def _is_store(file: Path, known: set[str]) -> bool:
    """Tell whether a file is a SQLite database that has known tables, or none yet; nothing is written, not even beside it."""
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
    place = await asyncio.to_thread(memory_address, where)
    connect = in_sqlite if place.startswith(SQLITE) else _in_postgres
    async with connect(place.removeprefix(SQLITE)) as memory:
        memory.saver.serde = JsonPlusSerializer(allowed_msgpack_modules=TRUSTED)  # nothing else is made from what lies there
        yield memory


async def note(store: BaseStore, thread: str, question: str, strategy: str, turns: int | None = None) -> None:
    """Add a conversation to the list, or update it there: its first question stays, and its turns where none are given."""
    held = await store.aget(THREADS, thread)
    kept = held.value if held else {"first": question, "turns": 0}
    asked = datetime.now(UTC).isoformat(timespec="seconds")
    answered = kept["turns"] if turns is None else turns
    await store.aput(THREADS, thread, {"first": kept["first"], "turns": answered, "strategy": strategy, "asked": asked})


async def strategy_of(store: BaseStore, thread: str) -> str | None:
    """Return the strategy that a conversation was last asked with; None where it is not listed."""
    held = await store.aget(THREADS, thread)
    return str(held.value["strategy"]) if held else None


async def threads(where: str) -> list[Thread]:
    """Return the conversations of a memory, the latest first."""
    found: list[Thread] = []
    async with opened(where) as memory:
        while page := await memory.store.asearch(THREADS, limit=_PAGE, offset=len(found)):
            found += [Thread(name=one.key, **one.value) for one in page]
    return sorted(found, key=lambda thread: thread.asked, reverse=True)


async def delete(where: str, thread: str) -> bool:
    """Delete a conversation with its questions, answers and passages; return whether it was listed."""
    async with opened(where) as memory:
        held = await memory.store.aget(THREADS, thread)
        await memory.saver.adelete_thread(thread)
        await memory.store.adelete(THREADS, thread)
        await memory.store.adelete(RATINGS, thread)
    return held is not None


@asynccontextmanager
async def _in_postgres(where: str) -> AsyncIterator[Memory]:
    """Open a PostgreSQL database; RamifyError where it cannot be reached, or is lost while it is used."""
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
        raise lost(shown(where), error, "check the address, that the server runs, and that the user may make tables there") from None


async def _make_tables(saver: "AsyncPostgresSaver", store: "AsyncPostgresStore") -> None:
    """Make the tables, one process at a time; a user who may make none uses existing ones."""
    from psycopg.errors import InsufficientPrivilege

    while not await _one(saver, "SELECT pg_try_advisory_lock(%s) AS one", _MAKING):  # noqa: ASYNC110
        await asyncio.sleep(_AGAIN_S)  # waiting for the lock in PostgreSQL would keep the other process from making an index
    try:
        await saver.setup()
        await store.setup()
    except InsufficientPrivilege:
        if not await _one(saver, "SELECT to_regclass('checkpoint_writes') IS NOT NULL AND to_regclass('store') IS NOT NULL AS one"):
            raise
    finally:
        await _one(saver, "SELECT pg_advisory_unlock(%s) AS one", _MAKING)


async def _one(saver: "AsyncPostgresSaver", sql: str, *values: object) -> object:
    """Return the value that a query names `one`."""
    found: Any = await (await saver.conn.execute(sql, values)).fetchone()  # type: ignore[union-attr]
    return found["one"]


S = TypeVar("S", bound=Settings)


def with_conversation(wiring: Wiring[S]) -> Wiring[S]:
    """Add the steps of a conversation to a new wiring and return it: read_input, contextualize (for a follow-up) and append_answer.

    Where a pronoun stands for a person and none is known, the turn asks back instead of answering. The graph's input is a question or
    messages, and its state keeps the messages.
    """
    [(_, first)] = wiring.edges.pop(init_tree.name)
    wiring.edges.pop(START)
    wiring.edges.pop(wiring.last)
    wiring.exchange(ChatInput, Replied)
    wiring.path(START, read_input, init_tree)
    wiring.when(init_tree, {nobody_known: ask_back, follow_up: contextualize}, otherwise=wiring.steps[first])
    wiring.path(contextualize, first)
    wiring.path(ask_back, append_answer)
    wiring.path(wiring.last, append_answer, END)
    wiring.around = frozenset(step.name for step in (read_input, contextualize, ask_back, append_answer))
    return wiring


@cache
def _wired(name: str, **arguments: Any) -> Wiring[Any]:
    return with_conversation(build(name, **arguments))


class Conversation:
    """The turns of a conversation, so that a question may refer to those before it.

    They are kept in this object; with `memory`, the address of a PostgreSQL database or sqlite:FILE, on the thread of that name there,
    where another process can resume them.
    """

    def __init__(self, memory: str | None = None, thread: str | None = None) -> None:
        self.memory = memory if memory is None else memory_address(memory)
        self.thread = readable(thread or "") or datetime.now().strftime("%Y-%m-%d-%H%M%S")
        self.strategy: str | None = None
        """The one that the thread was last asked with, once it is recalled."""
        self.messages: list[AnyMessage] = []

    @property
    def turns(self) -> int:
        """Count the questions that were answered."""
        return answered_turns(self.messages)

    async def ask_async(
        self,
        question: str,
        strategy: str = DEFAULT,
        watch: Watch | None = None,
        config: RunnableConfig | None = None,
        reviewer: Reviewer | None = None,
        **options: Any,
    ) -> Result:
        """Answer a question in the light of the earlier ones, as `ask_async` does; a turn that fails or is cancelled leaves no answer.

        The result's question is the one that was understood.
        """
        forget()  # a model's server may have come up since the last turn
        return await self._turn(checked(question), strategy, watch, config, reviewer, options)

    def ask(
        self, question: str, strategy: str = DEFAULT, watch: Watch | None = None, reviewer: Reviewer | None = None, **options: Any
    ) -> Result:
        """Answer a question from synchronous code, also where an event loop is already running."""
        return blocking(self.ask_async(question, strategy, watch, reviewer=reviewer, **options))

    async def recall_async(self) -> str | None:
        """Read the messages of the thread; return the question whose answering was interrupted, None where there is none."""
        if self.memory is None:
            return None
        async with opened(self.memory) as memory:
            self.strategy = await strategy_of(memory.store, self.thread)
            held = await _wired(self.strategy or DEFAULT).compile(checkpointer=memory.saver).aget_state(self._config(None))
            given = await not_taken_up(memory.saver, held)
        self.messages = held.values.get("messages", [])
        if given:
            return given[-1].text
        return str(held.values.get("question") or "") or None if held.tasks else None  # `next` lacks a step whose result is kept

    def recall(self) -> str | None:
        """Read the messages of the thread, from synchronous code."""
        return blocking(self.recall_async())

    async def resume_async(
        self,
        strategy: str | None = None,
        watch: Watch | None = None,
        config: RunnableConfig | None = None,
        reviewer: Reviewer | None = None,
        **options: Any,
    ) -> Result:
        """Resume the question whose answering was interrupted, with the strategy it was begun with; UsageError where there is none.

        What was answered of it is not asked again; what a person was asked and has not decided is.
        """
        if self.memory is None or await self.recall_async() is None:
            raise UsageError("no question was interrupted", "ask one")
        if strategy not in (None, self.strategy):
            raise UsageError(f"the question was begun with {self.strategy}, not {strategy}", f"go on with {self.strategy}, or ask anew")
        return await self._turn(None, self.strategy or DEFAULT, watch, config, reviewer, options)

    def resume(self, strategy: str | None = None, watch: Watch | None = None, reviewer: Reviewer | None = None, **options: Any) -> Result:
        """Resume an interrupted question from synchronous code."""
        return blocking(self.resume_async(strategy, watch, reviewer=reviewer, **options))

    async def edit_async(
        self, edit: Edit, watch: Watch | None = None, config: RunnableConfig | None = None, reviewer: Reviewer | None = None, **options: Any
    ) -> Result:
        """Edit a branch in the tree of the last question and run on from there; its new answer takes the place of the earlier one.

        The strategy is the one it was asked with; settings are to be given again. UsageError where the branch cannot be edited.
        """
        if self.memory is None:
            raise UsageError("this conversation is not stored", "give it a memory: only a run that is stored can be edited")
        await self.recall_async()
        if self.strategy is None:
            raise UsageError(f"there is no conversation {self.thread!r}", "ask its first question")
        forget()
        return await self._turn(None, self.strategy, watch, config, reviewer, options, edit)

    async def _turn(
        self,
        question: str | None,
        strategy: str,
        watch: Watch | None,
        config: RunnableConfig | None,
        reviewer: Reviewer | None,
        options: Mapping[str, Any],
        edit: Edit | None = None,
    ) -> Result:
        """Run a turn, without a question the rest of an interrupted or edited one; the list of threads names it from its beginning."""
        wiring, settings = configure(strategy, options, _wired)
        asked = [HumanMessage(question)] if question else []
        if self.memory is None:
            messages = [*self.messages, *asked]
            graph, config = reviewable(wiring, settings, config, reviewer)
            result, state = await run_graph(graph, {"messages": messages}, strategy, settings, watch, config, reviewer)
        else:
            check_reviewer(settings, reviewer)
            ended: tuple[Result, dict[str, Any]] | None = None
            try:
                async with opened(self.memory) as memory:
                    kept = wiring.compile(checkpointer=memory.saver, store=memory.store)
                    await note(memory.store, self.thread, question or "", strategy)
                    place = self._config(config if edit is None else await fork(wiring, kept, self._config(config), edit))
                    ended = await run_graph(kept, {"messages": asked} if asked else None, strategy, settings, watch, place, reviewer)
                    await note(memory.store, self.thread, question or "", strategy, answered_turns(ended[1]["messages"]))
            except RamifyError as error:
                if ended is None:
                    raise
                ended = unlisted(*ended, error, watch)
            result, state = ended
        self.messages = state["messages"]
        return result

    def _config(self, config: RunnableConfig | None) -> RunnableConfig:
        given = config or {}
        return {**given, "configurable": {**given.get("configurable", {}), "thread_id": self.thread}}
