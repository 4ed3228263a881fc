"""An index in Milvus by its address, at the doors people come in by."""

import json
from pathlib import Path

import pytest

import ramify.graphs as graphs
from ramify.graphs.tool import research_tool, search_tool
from ramify.lab.task import read_rows
from ramify.studio.server.bounds import restrict_settings, set_allowed
from ramify.tools.errors import IndexingError, UsageError
from tests.studio.conftest import Ramify

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed: pip install 'ramify-rag[milvus]'")

QUESTION = "Where was Marie Curie born?"


@pytest.fixture(scope="module")
def place(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    from ramify.tools.index import Index

    where = f"milvus:{tmp_path_factory.mktemp('milvus') / 'store.db'}/people"
    Index.build([documents], where)
    return where


def test_the_line_of_an_index(ramify: Ramify, documents: Path, tmp_path: Path) -> None:
    where = f"milvus:{tmp_path}/new.db/people:acme"
    made = ramify("index", documents, "--out", where)
    assert made.code == 0
    assert made.out.startswith(f"{where}: 2 documents (2 added), 3 files skipped, 2 passages (2 encoded)")
    assert "2 documents (2 unchanged)" in ramify("index", documents, "--out", where).out


def test_search_ask_and_inspect(ramify: Ramify, place: str) -> None:
    [first, *_] = json.loads(ramify("search", QUESTION, "--index", place, "--json").out)
    assert first["id"] == "curie.txt"
    answered = json.loads(ramify("ask", QUESTION, "--index", place, "--model", "extractive", "--json").out)
    assert (answered["answer"], answered["citations"][0]["source"]) == ("Warsaw", "curie.txt")
    seen = json.loads(ramify("inspect", place, "--json").out)
    assert (seen["index"], seen["kind"], seen["counts"]["passages"]) == (place, "passages", 2)


@pytest.mark.parametrize("kind", ["graph", "hierarchy"])
def test_other_kinds_lie_in_folders(ramify: Ramify, documents: Path, place: str, kind: str) -> None:
    refused = ramify("index", documents, "--out", place, "--kind", kind)
    assert (refused.code, f"cannot have a {kind} — build it in a folder" in refused.err) == (2, True)


def test_reports_are_of_folders_but_all_passages_can_be_read(ramify: Ramify, place: str) -> None:
    asked = ("ask", "What are the main themes?", "--strategy", "global", "--index", place, "--model", "extractive")
    refused = ramify(*asked)
    assert (refused.code, "has no reports — build a graph or a hierarchy for it: in a folder" in refused.err) == (
        2,
        True,
    )
    assert ramify(*asked, "--set", "over=passages").code == 0


def test_an_estimate(ramify: Ramify, documents: Path, place: str) -> None:
    assert "2 passages" in ramify("index", documents, "--out", place, "--estimate").out
    assert "name the files or folders" in ramify("index", "--out", place, "--estimate").err


def test_tools_of_an_agent(place: str) -> None:
    call = {"name": "search_documents", "type": "tool_call", "id": "1", "args": {"query": QUESTION, "filter": {"source": "warsaw.md"}}}
    assert [passage["source"] for passage in search_tool(place).invoke(call).artifact] == ["warsaw.md"]
    with pytest.raises(IndexingError, match="there is no index"):
        research_tool(index=f"{place}_other")


def test_a_run_in_studio_names_it_only_where_its_operator_did(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    with pytest.raises(UsageError, match="is not allowed for runs of this server"):
        settings(index=place)
    set_allowed([place], [], [])
    assert settings(index=place).index == place
    with pytest.raises(UsageError, match="is not allowed"):
        settings(index=f"{place}:acme")


def test_an_evaluation_asks_the_same_of_it(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ("eval", "demo", "--strategy", "naive", "--model", "extractive", "--limit", "4")
    rows = {}
    for name, where in (("folder", tmp_path / "indexes"), ("milvus", f"milvus:{tmp_path}/eval.db/sets")):
        assert ramify(*run, "--index", where, "--out", tmp_path / name).code == 0
        rows[name] = {row["key"]: row for row in read_rows(tmp_path / name / "results.jsonl")}
    answers = [{key: (row["answer"], set(row["retrieved"][:3])) for key, row in rows[name].items()} for name in rows]
    assert answers[0] == answers[1]
    assert json.loads((tmp_path / "milvus" / "manifest.json").read_text())["index"] == f"milvus:{tmp_path}/eval.db/sets"
    refused = ramify(*run, "--index", f"milvus:{tmp_path}/eval.db/sets", "--index-kind", "passages,graph", "--out", tmp_path / "kinds")
    assert (refused.code, "is plain — leave --index-kind" in refused.err) == (2, True)


async def test_a_chat_in_a_notebook(place: str) -> None:
    pytest.importorskip("ipywidgets")
    from ramify.studio import Chat

    result = await Chat(index=place, strategy="naive", model="extractive").ask(QUESTION)
    assert (result.answer, result.index) == ("Warsaw", f"{place} (2 documents, 2 passages)")
