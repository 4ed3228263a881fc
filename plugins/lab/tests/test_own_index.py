"""`ramify eval --index DIR --questions FILE`: an index of one's own is asked as it is."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.load.test_own_questions import BORN, LEM, NOBODY, write_questions
from ramify.kinds.building import build_graph
from ramify.lab.task import RESULTS, Row, read_rows
from ramify.studio.cli import run
from ramify.tools.search.searcher import DEMO, open_index

CALL = ("--strategy", "naive", "--model", "extractive")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a copy of the demo's index with a graph, and check that nothing changes it."""
    folder = tmp_path_factory.mktemp("own") / "index"
    shutil.copytree(open_index(DEMO).where, folder)
    build_graph(folder)
    before = contents(folder)
    yield folder
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if not file.name.startswith(".")}


def called(own: Path, questions: Path, out: Path, *more: str) -> int:
    return run(["eval", "--index", str(own), "--questions", str(questions), "--out", str(out), *CALL, *more])


def by_key(out: Path) -> dict[tuple[str, str, str], Row]:
    return {(row["strategy"], row["variant"], row["id"]): row for row in read_rows(out / RESULTS)}


def test_questions_are_scored_by_quote_or_source_in_an_index_of_any_kind(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = write_questions(tmp_path / "mine.csv", LEM, BORN, NOBODY)
    assert called(own, questions, tmp_path / "run", "--sweep", "k=1,5", "--retrieval-only", "--sweep", "search.seeds=2") == 0
    rows = by_key(tmp_path / "run")
    assert rows["search", "", "3"]["retrieval"]["recall@5"] == 1
    assert rows["search", "dense", "2"]["retrieved"][0].startswith("corpus.jsonl#")
    assert ("search", "search.seeds=2", "2") in rows
    naive = rows["naive", "k=1", "3"]
    assert (naive["gold"], naive["em"], naive["gold_documents"]) == (BORN["answer"], 1.0, ["corpus.jsonl#stanislaw-lem"])
    assert rows["naive", "", "none"]["unanswerable"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    [dataset] = manifest["datasets"]
    assert (dataset["origin"]["kind"], manifest["embedding"], manifest["index"]) == ("graph", "minilm", str(own))

    capsys.readouterr()
    assert called(Path(open_index(DEMO).where), questions, tmp_path / "run") == 2, "another index is another run"
    assert "holds a run with the index of 'mine' of sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ([], "name one, such as demo, or give --index DIR --questions FILE"),
        (["demo", "--questions", "q.csv", "--index", "demo"], "the data set 'demo'"),
        (["--questions", "q.csv"], "name it with --index DIR"),
        (["--questions", "q.csv", "--index", "demo", "--index-kind", "graph"], "--index-kind would build an index"),
        (["--questions", "nowhere.csv", "--index", "demo"], "there is no file or folder 'nowhere.csv'"),
    ],
)
def test_conflicting_options_are_rejected(call: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", *call, "--out", str(tmp_path / "run")]) in (1, 2)
    assert message in capsys.readouterr().err


def test_the_error_for_a_folder_of_documents_has_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[Any]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Something.", encoding="utf-8")
    assert run(["eval", str(tmp_path / "docs"), "--out", str(tmp_path / "run")]) == 1
    message = capsys.readouterr().err
    assert "`ramify index docs --out INDEX`" in message
    assert "--questions questions.jsonl" in message
