"""Checkpoints that were saved when the values still lay in `nodes/tree.py`, `nodes/state.py` and `nodes/citation.py`."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import ramify.graphs as graphs
from ramify.graphs.callers_config import TRUSTED
from ramify.nodes.state import Citation, Search, Usage
from ramify.nodes.tree import Branch, Passage
from tests.river import FIRST, QUESTION, model, river

SAVED = Path(__file__).parents[1] / "files" / "checkpoints.sqlite"
CLASSES = [Branch, Citation, Passage, Search, Usage]
"""As docs/studio.md has them listed in a program of one's own."""
NAMES = {
    ("ramify.nodes.tree", "Branch"),
    ("ramify.nodes.tree", "Passage"),
    ("ramify.nodes.state", "Search"),
    ("ramify.nodes.state", "Usage"),
    ("ramify.nodes.citation", "Citation"),
}


def named(file: Path) -> set[tuple[str, str]]:
    """List the classes that a file of checkpoints names: their module and, behind the byte that tells its length, their name."""
    with closing(sqlite3.connect(file)) as kept:
        blobs = [blob for (blob,) in kept.execute("SELECT checkpoint FROM checkpoints UNION ALL SELECT value FROM writes") if blob]
    found = [pair for blob in blobs for pair in re.findall(rb"(ramify[\w.]+)[\xa0-\xbf](\w+)", blob)]
    return {(module.decode(), name.decode()) for module, name in found}


@pytest.mark.parametrize("allowed", [TRUSTED, CLASSES], ids=["ours", "theirs"])
@pytest.mark.parametrize(("strategy", "waiting"), [("tor", "judge"), ("prune", "finalize"), ("iterative", "finalize")])
async def test_a_question_that_was_interrupted_then_is_answered_now(
    strategy: str, waiting: str, allowed: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chat = model()
    wiring, settings = graphs.configure(strategy, {"model": chat, "index": river()})
    config: Any = {"configurable": {"thread_id": strategy}}
    async with AsyncSqliteSaver.from_conn_string(str(shutil.copy(SAVED, tmp_path))) as saver:
        saver.serde = JsonPlusSerializer(allowed_msgpack_modules=allowed)
        graph = wiring.compile(checkpointer=saver)
        state = await graph.aget_state(config)
        assert state.next == (waiting,)
        assert all(type(branch) is Branch for branch in state.values["tree"].values())
        assert all(type(passage) is Passage for passage in state.values["passages"].values())
        assert type(state.values["usage"]) is Usage
        result = await graph.ainvoke(None, config, context=settings)
    assert result["answer"] == "Seine"
    assert QUESTION not in [call["question"] for name in ("decompose", "decide", "plan") for call in chat.asked(name)], "done then, not now"
    assert "msgpack" not in caplog.text


async def test_a_conversation_of_then_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wiring, settings = graphs.configure("prune", {"model": model(), "index": river()})
    config: Any = {"configurable": {"thread_id": "talk"}}
    async with AsyncSqliteSaver.from_conn_string(str(shutil.copy(SAVED, tmp_path))) as saver:
        saver.serde = JsonPlusSerializer(allowed_msgpack_modules=TRUSTED)
        graph = graphs.conversing(wiring).compile(checkpointer=saver)
        assert [type(one) for one in (await graph.aget_state(config)).values["citations"]] == [Citation]
        result = await graph.ainvoke({"question": FIRST}, config, context=settings)
    assert len(result["messages"]) == 4
    assert "msgpack" not in caplog.text


async def test_a_checkpoint_of_today_names_its_classes_as_one_of_then(tmp_path: Path) -> None:
    for strategy in ("prune", "iterative"):
        wiring, settings = graphs.configure(strategy, {"model": model(), "index": river()})
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "today.sqlite")) as saver:
            graph = wiring.compile(checkpointer=saver)
            await graph.ainvoke({"question": QUESTION}, {"configurable": {"thread_id": strategy}}, context=settings)
    assert named(tmp_path / "today.sqlite") == NAMES
    assert named(SAVED) == NAMES
