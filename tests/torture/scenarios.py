"""What is disturbed: work that writes files, done undisturbed once, and how it is seen that nothing was lost after it was disturbed."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import ramify.graphs as graphs
from ramify.evaluation.run import execute
from ramify.evaluation.task import RESULTS, iter_rows, read_rows
from ramify.tools.errors import RamifyError
from ramify.tools.hierarchy.hierarchy_file import HIERARCHY
from ramify.tools.index import Index, hnsw, publication
from ramify.tools.knowledge.graph_file import GRAPH
from tests.evaluation.small_data_set import asked, knowing, order, questions, timeless, write_data
from tests.graphs.agents import Caller, thinker, tools_said
from tests.river import FIRST, QUESTION, river
from tests.tools.fakes import WordEncoder
from tests.tools.hierarchy import manual
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all
from tests.tools.knowledge import valley

MEMORY, CHECKPOINTS = "talks.db", "checkpoints.sqlite"
CONFIG: Any = {"configurable": {"thread_id": "1"}}


@dataclass(frozen=True)
class Scenario:
    """Work in a folder that can be disturbed and done again."""

    prepare: Callable[[Path], object]
    """Makes what is there before, in a folder; what it reads lies in `documents` beside it."""
    act: Callable[[Path], object]
    """The work."""
    outcome: Callable[[Path], Any]
    """What is there, as JSON."""
    resume: Callable[[Path], object] | None = None
    """How the work is done again, where that is another call."""
    grows: bool = False
    """Whether a part of the outcome may be there: it is a list that grows by whole entries."""

    def wrong(self, folder: Path, old: Any, new: Any) -> str:
        """Return what is wrong with what a disturbance has left, and with the work done again: empty where it ends as if undisturbed."""
        if unusable := self.unusable(folder, old, new):
            return unusable
        (self.resume or self.act)(folder)
        found = self.outcome(folder)
        return "" if found == new else f"done again it is not as undisturbed: {str(found)[:500]}"

    def unusable(self, folder: Path, old: Any, new: Any) -> str:
        """Return why what is there is of no use; empty where it is as before or after the work, or says in a line what to do."""
        try:
            found = self.outcome(folder)
        except RamifyError as error:
            return not_one_line(error)
        part = self.grows and found == new[: len(found)] and len(found) >= len(old or ())
        return "" if part or found in (old, new) else f"neither as before nor as after: {str(found)[:500]}"


def not_one_line(error: RamifyError) -> str:
    """Return an error that is no line with its remedy; empty where it is."""
    return "" if " — " in str(error) and "\n" not in str(error) else f"no clear error: {error}"


def documents(folder: Path) -> Path:
    """Return where the documents lie: beside all copies of a folder, so that their paths are the same."""
    place = folder.parent / "documents"
    place.mkdir(exist_ok=True)
    return place


def index_of(count: int) -> Callable[[Path], object]:
    """Return a build of an index of so many records."""

    def built(folder: Path) -> None:
        corpus = write_records(documents(folder) / "records.jsonl", range(count))
        Index.build([corpus], folder / "index", WordEncoder(), batch_size=10)

    return built


def found_in(folder: Path) -> Any:
    """Return what a search finds."""
    return json.loads(json.dumps(search_all(folder / "index")))


def as_large(work: Callable[[Path], object]) -> Callable[[Path], object]:
    """Let an index of a few passages be a large one."""

    def worked(folder: Path) -> None:
        hnsw._MAX_SCANNED = publication.MIN_POSTINGS_PASSAGES = 50  # type: ignore[attr-defined]
        work(folder)

    return worked


def passages_of_the_valley(folder: Path) -> None:
    """Index the documents that a graph is made of."""
    Index.build([valley.write(documents(folder) / "valley")], folder / "index", WordEncoder())


def content(name: str) -> Callable[[Path], str | None]:
    """Return how a file is told, None where it is not there."""

    def told(folder: Path) -> str | None:
        file = folder / "index" / name
        if not file.exists():
            return None
        Index.open(folder / "index", WordEncoder())
        return file.read_bytes().hex()

    return told


def run_of_eval(folder: Path) -> None:
    """Answer the questions of a small data set."""
    execute(order(documents(folder) / "rivers", folder / "run", knowing(), at_once=2))


def begun_eval(folder: Path) -> None:
    """Search all before, so that no encoder need be loaded."""
    data = write_data(documents(folder) / "rivers", questions(12))
    searched = execute(order(data, documents(folder) / "searched", retrieval_only=True))
    (folder / "run").mkdir()
    plain = (json.dumps(row) + "\n" for row in searched if row["variant"] == "")
    (folder / "run" / RESULTS).write_text("".join(plain), encoding="utf-8")


def eval_again(folder: Path) -> None:
    """Run it again: what has a row is not asked again."""
    kept = {row["key"] for row in iter_rows(folder / "run" / RESULTS) if row["strategy"] != "search"}
    model = knowing()
    execute(order(documents(folder) / "rivers", folder / "run", model, at_once=2))
    assert len(model.calls) == 12 - len(kept), f"{len(model.calls)} calls, with {len(kept)} rows of 12 kept"


def scores_of(folder: Path) -> dict[str, Any] | None:
    """Return the rows by key without their times, where all are there; None where some are missing."""
    rows = asked(read_rows(folder / "run" / RESULTS))
    told = timeless(list(rows.values()))
    return json.loads(json.dumps(told, sort_keys=True)) if len(told) == 12 else None


def talk(folder: Path) -> graphs.Conversation:
    """Return the conversation."""
    return graphs.Conversation(f"sqlite:{folder / MEMORY}", "river")


def turn(question: str) -> Callable[[Path], object]:
    """Return the asking of a question in it."""
    return lambda folder: talk(folder).ask(question, "chain", model=thinker(), index=river())


def turns_of(folder: Path) -> list[str]:
    """Return its messages, but for a question that has no answer yet."""
    conversation = talk(folder)
    conversation.recall()
    said = [f"{message.type}: {message.text}" for message in conversation.messages]
    return said[: len(said) - len(said) % 2]


def turn_again(question: str, turns: int) -> Callable[[Path], object]:
    """Return the resuming of a question that was interrupted, or its asking where it never was begun."""

    def again(folder: Path) -> None:
        conversation = talk(folder)
        if conversation.recall() is not None:
            conversation.resume("chain", model=thinker(), index=river())
        elif conversation.turns < turns:
            turn(question)(folder)

    return again


def agent_called(folder: Path) -> None:
    """Have an agent call the tool, with a checkpointer."""
    asyncio.run(_call(folder, {"messages": [("human", QUESTION)]}))


def agent_again(folder: Path) -> None:
    """Run the agent on from its last checkpoint; begin where there is none."""
    asyncio.run(_call(folder, None))


def agent(saver: AsyncSqliteSaver) -> Any:
    """Return the agent."""
    tool = graphs.research_tool("chain", model=thinker(), index=river())
    return create_agent(Caller(), [tool], checkpointer=saver)


async def _call(folder: Path, given: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(folder / CHECKPOINTS)) as saver:
        called = agent(saver)
        state = await called.aget_state(CONFIG)
        if given is None and not state.values:
            given = {"messages": [("human", QUESTION)]}
        if given is not None or state.tasks:  # `next` lacks a step whose result is kept
            await called.ainvoke(given, CONFIG)


def agent_said(folder: Path) -> list[str]:
    """Return what the agent's tool gave back."""

    async def read() -> list[str]:
        async with AsyncSqliteSaver.from_conn_string(str(folder / CHECKPOINTS)) as saver:
            state = await create_agent(
                Caller(), [graphs.research_tool("chain", model=thinker(), index=river())], checkpointer=saver
            ).aget_state(CONFIG)
            return [message.text for message in tools_said(state.values.get("messages", []))]

    return asyncio.run(read())


SCENARIOS = {
    "index": Scenario(lambda folder: None, index_of(60), found_in),
    "update": Scenario(index_of(40), index_of(100), found_in),
    "large index": Scenario(as_large(index_of(100)), as_large(index_of(160)), found_in),
    "graph": Scenario(passages_of_the_valley, lambda folder: valley.build_structure(folder / "index", **valley.SMALL), content(GRAPH)),
    "hierarchy": Scenario(
        lambda folder: Index.build([manual.write(documents(folder) / "manual", manual.records())], folder / "index", WordEncoder()),
        lambda folder: manual.build_groups(folder / "index"),
        content(HIERARCHY),
    ),
    "eval row": Scenario(begun_eval, run_of_eval, scores_of, eval_again),
    "first chat turn": Scenario(lambda folder: None, turn(FIRST), turns_of, turn_again(FIRST, 1)),
    "chat turn": Scenario(turn(FIRST), turn(QUESTION), turns_of, turn_again(QUESTION, 2)),
    "agent": Scenario(lambda folder: None, agent_called, agent_said, agent_again, grows=True),
}
