"""Remarks on files: printed once, kept while the file is unchanged, listed by `ramify inspect`; files of earlier readers are read again."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ramify.tools.index import build
from ramify.tools.index.manifest import PASSAGES, file_sha256
from tests.studio.conftest import Ramify

OLD = "Die Brücke in Köln wird im Mai für Fußgänger geöffnet, später auch für Wagen."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(12):
        (folder / f"old-{number:02}.txt").write_bytes(f"{OLD} {number}".encode("cp1252"))
    (folder / "new.txt").write_text("The weir is closed.", encoding="utf-8")
    return folder


def remarks(ramify: Ramify, index: Path) -> dict[str, list[str]]:
    listed = json.loads(ramify("inspect", index, "--json").out)["files"]
    return {file["source"]: file["remarks"] for file in listed if file["remarks"]}


def test_a_remark_on_many_files_is_one_line(ramify: Ramify, docs: Path) -> None:
    done = ramify("index", docs, "--out", docs.with_name("ix"))
    assert done.err.count("read as cp1252") == 1
    assert "12 files: read as cp1252" in done.err


def test_inspect_lists_them_and_an_unchanged_file_keeps_them(ramify: Ramify, docs: Path) -> None:
    index = docs.with_name("ix")
    for _ in range(2):
        assert ramify("index", docs, "--out", index).code == 0
        assert remarks(ramify, index) == {f"old-{number:02}.txt": ["read as cp1252"] for number in range(12)}
    assert "read as cp1252" in ramify("inspect", index).out
    page = docs.with_name("page.html")
    assert ramify("inspect", index, "--html", page).code == 0
    assert page.read_text(encoding="utf-8").count("read as cp1252") == 12


def test_a_changed_file_has_its_new_remarks(ramify: Ramify, docs: Path) -> None:
    index = docs.with_name("ix")
    assert ramify("index", docs, "--out", index).code == 0
    for path in docs.glob("old-*.txt"):
        path.write_text(OLD, encoding="utf-8")
    assert ramify("index", docs, "--out", index).code == 0
    assert remarks(ramify, index) == {}


@pytest.fixture
def earlier(ramify: Ramify, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of earlier readers, in a file without remarks."""
    index = docs.with_name("ix")
    with monkeypatch.context() as before:
        before.setattr(build, "EDITION", "4")
        assert ramify("index", docs, "--out", index).code == 0
    return index


def test_files_of_earlier_readers_are_read_again(ramify: Ramify, docs: Path, earlier: Path) -> None:
    assert "13 files read by an earlier version" in ramify("inspect", earlier).out
    (docs / "new.txt").write_text("The weir is open again.", encoding="utf-8")
    for command in ("search", "ask"):
        assert ramify(command, "Is the weir open?", "--index", earlier).err.count("13 files read by an earlier version") == 1
    done = ramify("index", docs, "--out", earlier)
    assert "12 files read again: their reader has changed" in done.err
    assert json.loads(ramify("inspect", earlier, "--json").out)["outdated"] == 0
    assert "earlier version" not in ramify("search", "Is the weir open?", "--index", earlier).err
    assert "read again" not in ramify("index", docs, "--out", earlier).err


def test_an_index_without_remarks_opens_and_gets_them(ramify: Ramify, docs: Path, earlier: Path) -> None:
    with closing(sqlite3.connect(earlier / PASSAGES)) as database, database:
        database.execute("ALTER TABLE files DROP COLUMN remarks")
    manifest = json.loads((earlier / "manifest.json").read_text(encoding="utf-8"))
    manifest["sha256"][PASSAGES] = file_sha256(earlier / PASSAGES)
    (earlier / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert remarks(ramify, earlier) == {}
    assert json.loads(ramify("search", "weir", "--index", earlier, "--json").out)
    assert ramify("index", docs, "--out", earlier).code == 0
    assert len(remarks(ramify, earlier)) == 12
