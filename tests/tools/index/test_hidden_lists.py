"""Lists are stored and hidden from search; records never are."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index.full_text import segment_words
from tests.tools.index.test_duplicates import PARTS, WORDS, build, hidden_in, hidden_in_build, opened, page, prose, sources


def test_records_are_never_hidden(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    records = [{"id": f"r{number}", "text": prose(1), "role": "index"} for number in range(3)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    (folder / "pump.html").write_text(page(PARTS), encoding="utf-8")
    built = build(folder, tmp_path / "index")
    assert built.hidden == {}
    assert {"corpus.jsonl#r0", "corpus.jsonl#r1", "corpus.jsonl#r2"} <= sources(opened(tmp_path / "index"), prose(1))


def test_lists_are_hidden_unless_disabled(folder: Path, tmp_path: Path) -> None:
    links = "".join(f'<li><a href="{word}.html">{word}</a></li>' for word in WORDS[:8])
    (folder / "list.html").write_text(f"<h1>Chapters</h1><ul>{links}</ul><p>{prose(5)}</p>", encoding="utf-8")
    clean = build(folder, tmp_path / "clean")
    assert clean.hidden["contents"] == 1
    listed = WORDS[0] + "\n" + WORDS[1]
    assert not any(hit.text.startswith(listed) for hit in opened(tmp_path / "clean").search([listed], 50)[0])
    whole = build(folder, tmp_path / "all", clean=False)
    assert whole.hidden == {}
    assert any(hit.text.startswith(listed) for hit in opened(tmp_path / "all").search([listed], 50)[0])
    with pytest.raises(IndexingError, match=r"clean 'no', not 'yes'"):
        build(folder, tmp_path / "all")


def test_a_second_run_changes_nothing(folder: Path, tmp_path: Path) -> None:
    first = build(folder, tmp_path / "index")
    before = (tmp_path / "index" / "manifest.json").read_bytes()
    again = build(folder, tmp_path / "index")
    assert (again.encoded, again.hidden, again.passages) == (0, first.hidden, first.passages)
    assert (tmp_path / "index" / "manifest.json").read_bytes() == before


def test_an_index_of_another_layout_is_refused_and_left_alone(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build(folder, out)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8")) | {"layout": 1}
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    before = {path: path.read_bytes() for path in out.iterdir()}
    for use in (opened, lambda index: build(folder, index)):
        with pytest.raises(IndexingError, match=r"another version.*— delete it and build it again: `ramify index PATH… --out .*index`"):
            use(out)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_a_build_interrupted_while_reading_still_finds_duplicates(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    (tmp_path / "cut" / "manifest.json").unlink()
    with sqlite3.connect(tmp_path / "cut" / "passages.sqlite") as database:
        database.create_function("searchable", 1, segment_words)
        database.execute("UPDATE passages SET hidden = NULL, twin_of = NULL")
        database.execute("DELETE FROM facts WHERE name = 'compared'")
        database.execute("INSERT OR IGNORE INTO uncompared SELECT digest FROM passages")
    assert hidden_in_build(folder, tmp_path / "cut") == hidden_in(tmp_path / "whole")
