"""A graph by SmolLM2, a weak real model: built, or rejected with a reason in one line; replies are cached."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.valley import graph_file, open_graph
from ramify.kinds.building import build_graph
from ramify.kinds.knowledge.build import REPLIES_FILE, GraphBuild
from ramify.nodes.state import Usage
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from tests.smollm2 import NAME, REAL
from tests.tools.fakes import WordEncoder

pytestmark = REAL
TEXTS = [
    "Marrow Abbey stands on the lake Ullin. Thea Kells rebuilt Marrow Abbey.",
    "Nell Garvey kept the ferry at Tolvey. Tolvey lies on the lake Ullin.",
]
OPTIONS = {"model": NAME, "reporter": "extractive", "num_predict": 100, "shots": 1, "gleanings": 0, "max_calls": 2}
"""A reply that is cut off is asked for again, and its text halved: that ends after so many calls."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Index.from_texts(TEXTS, WordEncoder(), ids=["bridge", "light"], path=tmp_path / "index")
    return tmp_path / "index"


def replies(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / REPLIES_FILE)) as database:
        return database.execute("SELECT key, reply FROM replies ORDER BY key").fetchall()


def build(folder: Path) -> tuple[GraphBuild, Usage] | IndexingError:
    try:
        return build_graph(folder, OPTIONS)
    except IndexingError as error:
        return error


def test_it_is_built_or_fails_with_a_reason_and_replies_are_cached(folder: Path) -> None:
    outcome = build(folder)
    if isinstance(outcome, IndexingError):
        assert "\n" not in str(outcome)
        assert any(remedy in outcome.remedy for remedy in ("take a larger model", "raise max_calls", "--model"))
    else:
        made, usage = outcome
        assert (usage.llm_calls > 0, made.replaced, made.names >= 2) == (True, 0, True)
        assert graph_file(folder).facts["made_by"] == NAME
        for name in graph_file(folder).graph().names.values():
            assert any(name.name.casefold() in text.casefold() for text in TEXTS), "what it made up is dropped"
        assert open_graph(folder).search(["Who rebuilt the abbey?"], 1)[0]
    kept = replies(folder)
    again = build(folder)
    assert set(kept) <= set(replies(folder))
    if not isinstance(again, IndexingError) and not isinstance(outcome, IndexingError) and not outcome[0].unread:
        assert again[1].llm_calls == 0
