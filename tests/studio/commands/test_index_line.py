"""The line that `ramify index` ends with, and what it refuses before it begins."""

import json
import stat
from pathlib import Path

from ramify.tools.search.searcher import hidden_note
from tests.studio.conftest import Ramify


def test_the_line_counts_what_is_left_out_of_search() -> None:
    assert hidden_note({"contents": 310, "twin": 894}) == ", 1,204 left out of search (310 contents, 894 repeated)"
    assert hidden_note({}) == ""


def test_a_setting_that_a_graph_does_not_have_is_refused_before_anything_is_read(ramify: Ramify, tmp_path: Path) -> None:
    (tmp_path / "vane.txt").write_text("Hollin Bridge spans the Oskel at Vane.")
    done = ramify("index", tmp_path / "vane.txt", "--out", tmp_path / "index", "--kind", "graph", "--set", "colour=red")
    assert done.code == 2
    assert done.err.startswith("error: colour='red' is not valid (Extra inputs are not permitted) — a graph's are reporter, report_levels")
    assert not (tmp_path / "index").exists()


def test_the_error_names_numbers_and_words_that_a_setting_accepts(ramify: Ramify) -> None:
    done = ramify("ask", "What of it?", "--strategy", "global", "--set", "level=low", "--model", "extractive")
    assert done.err.startswith("error: level='low' is not valid (Input should be a valid integer")
    assert "or: Input should be 'auto'" in done.err


def test_metadata_to_search_under_are_named_and_shown(ramify: Ramify, tmp_path: Path) -> None:
    record = {"id": "dope", "title": "General", "text": "It is brushed on.", "metadata": {"chapter": "Fabric", "section": "Doping"}}
    (tmp_path / "manual.jsonl").write_text(json.dumps(record) + "\n")
    assert ramify("index", tmp_path / "manual.jsonl", "--out", tmp_path / "index", "--label", "chapter, section").code == 0
    assert "chapter, section, title and headings: included in the searched text" in " ".join(
        ramify("inspect", tmp_path / "index").out.split()
    )
    wrong = ramify("index", tmp_path / "manual.jsonl", "--out", tmp_path / "other", "--label", "page")
    assert (wrong.code, (tmp_path / "other").exists()) == (1, False)
    assert wrong.err.startswith("error: no document has the metadata 'page' — use existing fields for labels: chapter, section, source")


def test_an_index_is_shared_when_that_is_asked_for(ramify: Ramify, tmp_path: Path) -> None:
    (tmp_path / "vane.txt").write_text("Hollin Bridge spans the Oskel at Vane.")
    made = ("index", tmp_path / "vane.txt", "--out", tmp_path / "index")
    assert ramify(*made).code == 0
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700
    assert ramify(*made, "--shared").code == 0
    found = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "index").iterdir()}
    assert (stat.S_IMODE((tmp_path / "index").stat().st_mode), found) == (0o755, {0o644})
    refused = ramify("index", tmp_path / "vane.txt", "--out", "milvus:http://127.0.0.1:9/vane", "--shared")
    assert (refused.code, "--shared is for a folder" in refused.err) == (2, True)
