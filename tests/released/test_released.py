"""Files written by each released version can still be read: indexes, conversations, checkpoints, runs, profiles and ratings."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ramify.graphs import Conversation
from ramify.graphs.ratings import rated_answers
from ramify.serve.service import UserThreads
from ramify.tools.index import Index
from ramify.tools.index.manifest import LAYOUT, MANIFEST, LayoutError
from tests.faults import fault
from tests.released.make import DOCUMENTS, INSTRUCTIONS, QUESTION
from tests.studio.conftest import Ramify, ramify
from tests.studio.dev_server import free_port

__all__ = ["ramify"]

ARCHIVES = sorted(Path(__file__).parent.glob("*.tar.gz"))
KINDS = ("passages", "graph", "hierarchy")
ASKED, GOLD = INSTRUCTIONS[1]
NAIVE = ("--strategy", "naive", "--model", "extractive")
pytest.importorskip("matplotlib", reason="needs the extra `eval`")


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def left(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a version, as the current folder."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_release_is_kept_and_small() -> None:
    assert ARCHIVES
    assert sum(path.stat().st_size for path in ARCHIVES) < 300_000


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_searched_asked_and_inspected(ramify: Ramify, left: Path, kind: str) -> None:
    found = json.loads(ramify("search", ASKED, "--index", kind, "-k", 1, "--json").out)
    assert [passage["source"] for passage in found] == ["berka.md"]
    answered = ramify("ask", ASKED, "--index", kind, *NAIVE, "--json")
    assert (answered.code, json.loads(answered.out)["answer"]) == (0, GOLD)
    assert ramify("inspect", kind, "--json").code == 0


def test_reports_on_all_documents_are_read(ramify: Ramify, left: Path) -> None:
    done = ramify("ask", "What are the documents about?", "--index", "graph", "--strategy", "global", "--model", "extractive", "--json")
    assert done.code == 0
    assert json.loads(done.out)["citations"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_updated(ramify: Ramify, left: Path, kind: str) -> None:
    for name in DOCUMENTS:
        assert (left / "documents" / name).is_file()
    (left / "documents" / "new.md").write_text("---\nchapter: people\n---\nOta Novak was born in Zlin.", encoding="utf-8")
    grouped = ("--group-by", "chapter") if kind == "hierarchy" else ()
    assert ramify("index", "documents", "--out", kind, "--kind", kind, *grouped).code == 0
    done = ramify("ask", "Where was Ota Novak born?", "--index", kind, *NAIVE, "--json")
    assert (done.code, json.loads(done.out)["answer"]) == (0, "Zlin")


def test_a_conversation_is_listed_and_continued(ramify: Ramify, left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ("--memory", "sqlite:conversations.sqlite")
    assert ramify("chat", *memory, "--threads").out.startswith("berka ")
    monkeypatch.setattr("sys.stdin", io.StringIO("and when?\n"))
    done = ramify("chat", "--index", "passages", *NAIVE, *memory, "--thread", "berka")
    assert (done.code, "stored as 'berka', 1 question answered so far" in done.err) == (0, True)


def test_a_question_that_was_left_in_the_middle_is_resumed(left: Path) -> None:
    async def approve(proposals: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"type": "approve"} for _ in proposals]

    talk = Conversation("sqlite:checkpoints.sqlite", "left")
    assert talk.recall() == QUESTION
    result = talk.resume(reviewer=approve, model="extractive", index="passages", ask_first="splits")
    assert result.answer == INSTRUCTIONS[2][1]
    assert talk.recall() is None


def test_a_run_is_resumed_and_reported(ramify: Ramify, left: Path) -> None:
    asked = ("eval", "--index", "passages", "--questions", "questions.jsonl", "--strategy", "naive,prune", "--model", "extractive")
    before = (left / "run" / "results.jsonl").read_bytes()
    assert ramify(*asked, "--out", "run").code == 0
    assert (left / "run" / "results.jsonl").read_bytes() == before
    (left / "run" / "report.html").unlink()
    assert ramify("report", "run").code == 0
    assert (left / "run" / "report.html").is_file()


def test_a_run_is_read_calibrated_and_compared(ramify: Ramify, left: Path) -> None:
    assert ramify("compare", "run", "run").code == 0
    assert ramify("calibrate", "run", "--strategy", "naive", "--risk", "0.9", "--out", "again.json").code == 0
    again, before = (json.loads((left / name).read_text(encoding="utf-8")) for name in ("again.json", "profile.json"))
    assert (again["bound"], again["risk"]) == (before["bound"], before["risk"])


def test_an_answer_is_checked_against_a_profile(ramify: Ramify, left: Path) -> None:
    assert ramify("ask", ASKED, "--index", "passages", *NAIVE, "--profile", "profile.json", "--json").code == 0


async def test_conversations_and_ratings_of_a_server_are_read(left: Path) -> None:
    assert [one["id"] for one in await UserThreads("sqlite:serve/conversations.sqlite").list_threads("ada")] == ["berka"]


def test_rated_answers_are_read(left: Path) -> None:
    assert [(one.question, one.answer, one.rating) for one in rated_answers("sqlite:serve/conversations.sqlite")] == [(ASKED, GOLD, "up")]


NEWER = fault(
    "upgrades",
    "an index of a newer version",
    sees="its layout and the supported one; upgrade, or build it again",
    kept="the index",
    code=1,
)
OLDER = fault("upgrades", "an index of an older layout", sees="its layout and the supported one; build it again", kept="the index", code=1)
COMMANDS = {
    "ask": ("ask", ASKED, *NAIVE, "--index", "passages"),
    "search": ("search", ASKED, "--index", "passages"),
    "chat": ("chat", *NAIVE, "--index", "passages"),
    "index": ("index", "documents", "--out", "passages"),
    "inspect": ("inspect", "passages"),
    "eval": ("eval", "--index", "passages", "--questions", "questions.jsonl", *NAIVE, "--out", "new-run"),
    "questions": ("questions", "passages", "--n", "1", "--out", "new.jsonl"),
    "mcp": ("mcp", "--index", "passages"),
    "serve": ("serve", "--index", "passages"),
    "studio": ("studio", "--index", "passages"),
    "watch": ("watch", "documents", "--out", "passages"),
}


@pytest.mark.parametrize("layout", [pytest.param(LAYOUT + 1, marks=NEWER), pytest.param(LAYOUT - 1, marks=OLDER)])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_index_of_another_layout_is_one_error_line_on_each_interface(
    ramify: Ramify, left: Path, monkeypatch: pytest.MonkeyPatch, command: str, layout: int
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ASKED}\n"))
    _relabel(left / "passages", layout)
    before = {path.name: path.read_bytes() for path in (left / "passages").iterdir()}
    port = ("--port", str(free_port())) if command in ("serve", "studio") else ()
    done = ramify(*COMMANDS[command], *port)
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert (done.code, len(errors)) == (1, 1)
    assert f"(layout {layout}, not {LAYOUT})" in errors[0]
    assert ("upgrade ramify" in errors[0]) == (layout > LAYOUT)
    assert {path.name: path.read_bytes() for path in (left / "passages").iterdir()} == before


def test_python_raises_an_error_for_another_layout(left: Path) -> None:
    _relabel(left / "passages", LAYOUT + 1)
    with pytest.raises(LayoutError):
        Index.open(left / "passages")


@fault("upgrades", "a profile of a newer version", sees="its version; create a new profile", kept="the profile", code=1)
def test_a_profile_of_a_newer_version_is_one_line(ramify: Ramify, left: Path) -> None:
    path = left / "profile.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "version": 2}), encoding="utf-8")
    done = ramify("ask", ASKED, "--index", "passages", *NAIVE, "--profile", path)
    assert (done.code, done.out) == (1, "")
    assert "version" in done.err


def _relabel(index: Path, layout: int) -> None:
    manifest = json.loads((index / MANIFEST).read_text(encoding="utf-8"))
    (index / MANIFEST).write_text(json.dumps({**manifest, "layout": layout}), encoding="utf-8")
