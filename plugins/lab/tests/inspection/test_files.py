"""The files of a plain index: their passages, what of them is not searched, and what was left out, with the reason."""

import json
from pathlib import Path

import pytest

from tests.studio.conftest import Ramify


@pytest.fixture
def indexed(ramify: Ramify, tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(20):
        (docs / f"note-{number:02}.md").write_text(
            f"# Note {number}\n\n" + f"Pump {number} is serviced in month {number} by the crew of hall {number}. " * 8, encoding="utf-8"
        )
    (docs / "copy.md").write_bytes((docs / "note-03.md").read_bytes())
    (docs / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (docs / "torn.docx").write_bytes(b"PK\x03\x04")
    assert ramify("index", docs, "--out", tmp_path / "ix").code == 0
    return tmp_path / "ix"


def test_json_lists_all_files_with_counts_and_what_was_left_out(ramify: Ramify, indexed: Path) -> None:
    inspected = json.loads(ramify("inspect", indexed, "--json").out)
    files = {file["source"]: (file["searched"], file["left_out"]) for file in inspected["files"]}
    assert len(files) == 21
    assert files["note-00.md"] == (1, {})
    assert sorted((files["copy.md"], files["note-03.md"]), key=str) == [(0, {"twin": 1}), (1, {})]
    assert {file["name"] for file in inspected["unread"]} == {"picture.png", "torn.docx"}
    assert all(file["reason"] for file in inspected["unread"])


def test_the_terminal_prints_the_first_rows_and_counts_the_others(ramify: Ramify, indexed: Path) -> None:
    inspected = ramify("inspect", indexed).out
    assert "note-00.md" in inspected
    assert "note-19.md" not in inspected
    assert "and 6 more files" in inspected
    assert "torn.docx" in inspected


def test_the_page_lists_all(ramify: Ramify, indexed: Path, tmp_path: Path) -> None:
    assert ramify("inspect", indexed, "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("note-00.md", "note-19.md", "torn.docx", "1 repeated"))


def test_what_is_readable_now_is_no_longer_left_out(ramify: Ramify, indexed: Path) -> None:
    docs = indexed.parent / "docs"
    (docs / "torn.docx").unlink()
    assert ramify("index", docs, "--out", indexed).code == 0
    assert [file["name"] for file in json.loads(ramify("inspect", indexed, "--json").out)["unread"]] == ["picture.png"]
