"""A run killed by SIGKILL in the middle of a level, and gone on with from its checkpoints by another process."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import PrivateAttr

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.faults import fault
from tests.river import FIRST, QUESTION, replies, river

CONFIG: Any = {"configurable": {"thread_id": "1"}}
ROME = "Which river runs through Rome?"


def two_halves(prompt: str, slots: Any) -> Any:
    """Split the question into two that need not wait for each other."""
    said = replies(prompt, slots)
    if prompt == "decompose" and not said["simple"]:
        return {**said, "first": FIRST, "second": ROME}
    return {**said, "questions": [FIRST, ROME]} if prompt == "decide" and said["questions"] else said


class Hanging(FakeModel):
    """Answer the first half once the second is being answered, which never ends."""

    _begun: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._generate(messages)
        _, slots = self.calls[-1]
        if slots["question"] == ROME:
            self._begun.set()
            await asyncio.Event().wait()
        if slots["question"] == FIRST:
            await self._begun.wait()
        return result


class Dying(AsyncSqliteSaver):
    """Kill the process as soon as the first half's answer is on the disk, and the checkpoint that it belongs to.

    LangGraph writes both while the run goes on: a real model gives it seconds for that.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kept: set[str] = set()
        self.answered = ""

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        stored = await super().aput(config, checkpoint, metadata, new_versions)
        self.kept.add(checkpoint["id"])
        self.die_if_both_are_kept()
        return stored

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        await super().aput_writes(config, writes, task_id, task_path)
        if "'answer': 'Paris'" in str(writes):
            self.answered = config["configurable"]["checkpoint_id"]
            self.die_if_both_are_kept()

    def die_if_both_are_kept(self) -> None:
        if self.answered in self.kept:
            os.kill(os.getpid(), signal.SIGKILL)


async def run_until_killed(strategy: str, file: str) -> None:
    """Ask, and be killed on the way; run in a process of its own."""
    async with Dying.from_conn_string(file) as saver:
        await resume(strategy, Hanging(replies=two_halves, logprobs=True), saver, {"question": QUESTION})


async def resume(strategy: str, chat: FakeModel, saver: AsyncSqliteSaver, given: Any = None) -> dict[str, Any]:
    """Run on from the last checkpoint, or begin with what is given; give the state."""
    graph, settings = compiled(strategy, chat, saver)
    await graph.ainvoke(given, CONFIG, context=settings)
    return dict((await graph.aget_state(CONFIG)).values)


def compiled(strategy: str, chat: FakeModel, saver: AsyncSqliteSaver) -> tuple[Any, Any]:
    wiring, settings = graphs.configure(strategy, {"model": chat, "index": river(), "max_depth": 2 if strategy == "prune" else 1})
    return wiring.compile(checkpointer=saver), settings


CHILD = "import asyncio, sys; from tests.graphs.test_killed import run_until_killed; asyncio.run(run_until_killed(*sys.argv[1:]))"


@fault(
    "processes",
    "killed during a question",
    sees="the answer, when resumed",
    kept="with a checkpointer, every finished branch and what it cost",
    code="killed",
)
@pytest.mark.parametrize(("strategy", "split", "step"), [("tor", "decompose", "answer"), ("prune", "decide", "decide")])
async def test_only_what_was_under_way_is_asked_again_and_what_was_spent_is_counted(
    strategy: str, split: str, step: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "checkpoints.sqlite")
    root = Path(__file__).parents[2]
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", CHILD, strategy, file], cwd=root, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    chat = FakeModel(replies=two_halves, logprobs=True)
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph, _ = compiled(strategy, chat, saver)
        left = await graph.aget_state(CONFIG)
        assert left.next == (step,), "it was in the middle of its work"
        halves = [left.values["tree"][path] for path in ("0.0", "0.1")]
        assert [(half.status, half.next, bool(half.evidence)) for half in halves] == [("open", step, True)] * 2
        state = await resume(strategy, chat, saver)
    asked = [(name, slots["question"]) for name, slots in chat.calls]
    assert asked[0] == (step, ROME)
    assert (step, FIRST) not in asked
    assert (split, QUESTION) not in asked
    assert (state["tree"]["0.0"].answer, state["tree"]["0.1"].answer) == ("Paris", "Seine")
    assert state["answer"] == "Seine"
    assert state["usage"].llm_calls == len(chat.calls) + 2, "the split and the first half's answer, made before"
