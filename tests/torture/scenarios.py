"""Scenarios of work that writes files, and the checks that nothing is lost when the work is interrupted."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import ramify.graphs as graphs
from plugins.kinds.tests.hierarchy import manual
from plugins.kinds.tests.knowledge import valley
from plugins.lab.tests.small_data_set import make_model, make_options, make_questions, question_rows, without_times, write_data
from ramify.kinds.hierarchy.hierarchy_file import HIERARCHY
from ramify.kinds.knowledge.graph_file import GRAPH
from ramify.lab.run import execute
from ramify.lab.task import RESULTS, iter_rows, read_rows
from ramify.tools.errors import RamifyError
from ramify.tools.index import Index, hnsw, publication
from ramify.tools.index.folder import index_file
from ramify.tools.index.manifest import STRUCTURE_FILES
from tests.graphs.agents import Caller, thinker, tools_said
from tests.river import FIRST, QUESTION, river
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import records, write
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all

MEMORY, CHECKPOINTS = "talks.db", "checkpoints.sqlite"
CONFIG: Any = {"configurable": {"thread_id": "1"}}


@dataclass(frozen=True)
class Scenario:
    """Work in a folder that can be interrupted and repeated."""

    prepare: Callable[[Path], object]
    """Prepares the folder; documents are in `documents` next to it."""
    act: Callable[[Path], object]
    """The work."""
    outcome: Callable[[Path], Any]
    """Returns the state of the folder as JSON."""
    resume: Callable[[Path], object] | None = None
    """Resumes the work, if that is another call than `act`."""
    grows: bool = False
    """Whether the outcome is a list that may be incomplete, but only by whole entries."""

    def find_problem(self, folder: Path, old: Any, new: Any) -> str:
        """Return the problem of what an interruption left, or of the repeated work; empty if it ends as if undisturbed."""
        if unusable := self.find_corruption(folder, old, new):
            return unusable
        (self.resume or self.act)(folder)
        outcome = self.outcome(folder)
        return "" if outcome == new else f"done again it is not as undisturbed: {str(outcome)[:500]}"

    def find_corruption(self, folder: Path, old: Any, new: Any) -> str:
        """Return why the folder is unusable; empty if it is as before or after the work, or gives one clear error."""
        try:
            outcome = self.outcome(folder)
        except RamifyError as error:
            return describe_unclear_error(error)
        part = self.grows and outcome == new[: len(outcome)] and len(outcome) >= len(old or ())
        return "" if part or outcome in (old, new) else f"neither as before nor as after: {str(outcome)[:500]}"


def describe_unclear_error(error: RamifyError) -> str:
    """Return a message for an error that is not one line with a remedy; empty if it is."""
    return "" if " — " in str(error) and "\n" not in str(error) else f"no clear error: {error}"


def documents_folder(folder: Path) -> Path:
    """Return the folder of the documents, next to all copies of a folder, so that their paths are the same."""
    place = folder.parent / "documents"
    place.mkdir(exist_ok=True)
    return place


def build_index(count: int) -> Callable[[Path], object]:
    """Return a function that builds an index of `count` records."""

    def build(folder: Path) -> None:
        corpus = write_records(documents_folder(folder) / "records.jsonl", range(count))
        Index.build([corpus], folder / "index", WordEncoder(), batch_size=10)

    return build


def read_search_results(folder: Path) -> Any:
    """Return the results of a search."""
    return json.loads(json.dumps(search_all(folder / "index")))


def with_large_index(work: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return the work with lowered limits, so that an index of a few passages counts as large."""

    def run(folder: Path) -> None:
        hnsw.MAX_SCANNED = publication.MIN_POSTINGS_PASSAGES = 50  # type: ignore[attr-defined]
        work(folder)

    return run


def index_valley(folder: Path) -> None:
    """Index the documents that a graph is made of."""
    Index.build([valley.write(documents_folder(folder) / "valley")], folder / "index", WordEncoder())


def read_file_content(name: str) -> Callable[[Path], str | None]:
    """Return a function that reads a file of the index as hex; None if there is none."""

    def read(folder: Path) -> str | None:
        if not STRUCTURE_FILES[Index.open(folder / "index", WordEncoder()).manifest.kind]:
            return None
        return index_file(folder / "index", name).read_bytes().hex()

    return read


def run_evaluation(folder: Path) -> None:
    """Answer the questions of a small data set."""
    execute(make_options(documents_folder(folder) / "rivers", folder / "run", make_model(), at_once=2))


def prepare_evaluation(folder: Path) -> None:
    """Run all searches in advance, so that no encoder has to be loaded."""
    data = write_data(documents_folder(folder) / "rivers", make_questions(12))
    searched = execute(make_options(data, documents_folder(folder) / "searched", retrieval_only=True))
    (folder / "run").mkdir()
    plain = (json.dumps(row) + "\n" for row in searched if row["variant"] == "")
    (folder / "run" / RESULTS).write_text("".join(plain), encoding="utf-8")


def resume_evaluation(folder: Path) -> None:
    """Resume the run: questions with a row are not asked again."""
    finished = {row["key"] for row in iter_rows(folder / "run" / RESULTS) if row["strategy"] != "search"}
    model = make_model()
    execute(make_options(documents_folder(folder) / "rivers", folder / "run", model, at_once=2))
    assert len(model.calls) == 12 - len(finished), f"{len(model.calls)} calls, with {len(finished)} rows of 12 kept"


def read_scores(folder: Path) -> dict[str, Any] | None:
    """Return the rows by key without times; None if some are missing."""
    rows = question_rows(read_rows(folder / "run" / RESULTS))
    by_key = without_times(list(rows.values()))
    return json.loads(json.dumps(by_key, sort_keys=True)) if len(by_key) == 12 else None


def open_conversation(folder: Path) -> graphs.Conversation:
    """Return the conversation."""
    return graphs.Conversation(f"sqlite:{folder / MEMORY}", "river")


def ask_turn(question: str) -> Callable[[Path], object]:
    """Return a function that asks a question in the conversation."""
    return lambda folder: open_conversation(folder).ask(question, "chain", model=thinker(), index=river())


def read_turns(folder: Path) -> list[str]:
    """Return the messages of the conversation, without an unanswered question."""
    conversation = open_conversation(folder)
    conversation.recall()
    messages = [f"{message.type}: {message.text}" for message in conversation.messages]
    return messages[: len(messages) - len(messages) % 2]


def resume_turn(question: str, turns: int) -> Callable[[Path], object]:
    """Return a function that resumes an interrupted question, or asks it if it was not begun."""

    def again(folder: Path) -> None:
        conversation = open_conversation(folder)
        if conversation.recall() is not None:
            conversation.resume("chain", model=thinker(), index=river())
        elif conversation.turns < turns:
            ask_turn(question)(folder)

    return again


def call_agent(folder: Path) -> None:
    """Let an agent with a checkpointer call the tool."""
    asyncio.run(_call(folder, {"messages": [("human", QUESTION)]}))


def resume_agent(folder: Path) -> None:
    """Resume the agent from its last checkpoint; start it if there is none."""
    asyncio.run(_call(folder, None))


def make_agent(saver: AsyncSqliteSaver) -> Any:
    """Return the agent."""
    tool = graphs.research_tool("chain", model=thinker(), index=river())
    return create_agent(Caller(), [tool], checkpointer=saver)


async def _call(folder: Path, given: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(folder / CHECKPOINTS)) as saver:
        called = make_agent(saver)
        state = await called.aget_state(CONFIG)
        if given is None and not state.values:
            given = {"messages": [("human", QUESTION)]}
        if given is not None or state.tasks:  # `next` lacks a step whose result is stored
            await called.ainvoke(given, CONFIG)


def read_tool_messages(folder: Path) -> list[str]:
    """Return the messages of the agent's tool."""

    async def read() -> list[str]:
        async with AsyncSqliteSaver.from_conn_string(str(folder / CHECKPOINTS)) as saver:
            state = await create_agent(
                Caller(), [graphs.research_tool("chain", model=thinker(), index=river())], checkpointer=saver
            ).aget_state(CONFIG)
            return [message.text for message in tools_said(state.values.get("messages", []))]

    return asyncio.run(read())


SCENARIOS = {
    "index": Scenario(lambda folder: None, build_index(60), read_search_results),
    "update": Scenario(build_index(40), build_index(100), read_search_results),
    "large index": Scenario(with_large_index(build_index(100)), with_large_index(build_index(160)), read_search_results),
    "graph": Scenario(index_valley, lambda folder: valley.build_structure(folder / "index", **valley.SMALL), read_file_content(GRAPH)),
    "hierarchy": Scenario(
        lambda folder: Index.build([write(documents_folder(folder) / "manual", records())], folder / "index", WordEncoder()),
        lambda folder: manual.build_groups(folder / "index"),
        read_file_content(HIERARCHY),
    ),
    "eval row": Scenario(prepare_evaluation, run_evaluation, read_scores, resume_evaluation),
    "first chat turn": Scenario(lambda folder: None, ask_turn(FIRST), read_turns, resume_turn(FIRST, 1)),
    "chat turn": Scenario(ask_turn(FIRST), ask_turn(QUESTION), read_turns, resume_turn(QUESTION, 2)),
    "agent": Scenario(lambda folder: None, call_agent, read_tool_messages, resume_agent, grows=True),
}
