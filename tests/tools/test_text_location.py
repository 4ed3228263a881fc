"""Where a passage lies: names that tell files apart, and links that only ever open the passage's own file."""

from pathlib import Path

import pytest

from ramify.tools.documents.records import record_document
from ramify.tools.text_location import distinct_names, heading_path, source_link, source_path

MANUAL = "/docs/manuals/git/index.en.html"


@pytest.mark.parametrize(
    ("source", "metadata", "link"),
    [
        ("git/index.en.html", {"path": MANUAL}, "file:///docs/manuals/git/index.en.html"),
        ("git/index.en.html", {"path": MANUAL, "fragment": 'a b"#<'}, "file:///docs/manuals/git/index.en.html#a%20b%22%23%3C"),
        ("a b%20#1.pdf", {"path": "/d/a b%20#1.pdf", "page": 7}, "file:///d/a%20b%2520%231.pdf#page=7"),
        ("a.pdf", {"path": "/d/a.pdf", "fragment": "x"}, "file:///d/a.pdf"),
        ("a.txt", {"path": "/d/a.txt", "page": 7, "fragment": "x"}, "file:///d/a.txt"),
        ("c.jsonl#12", {"path": "/d/c.jsonl"}, "file:///d/c.jsonl"),
        ("a.txt", {}, ""),
    ],
)
def test_a_link_opens_the_file_at_its_page_or_heading(source: str, metadata: dict[str, object], link: str) -> None:
    assert source_link(source, metadata) == link


@pytest.mark.parametrize(
    "path",
    [
        "javascript:alert(1)/a.txt",
        "https://evil/a.txt",
        "//host/share/a.txt",
        "a.txt",
        "/etc/passwd",
        "/d/../a.txt",
        "/d/\x1b]8;;x/a.txt",
        7,
        None,
    ],
)
def test_nothing_but_the_path_of_the_passage_s_own_file_becomes_a_link(path: object) -> None:
    assert source_path("a.txt", {"path": path}) == source_link("a.txt", {"path": path}) == ""


def test_a_record_cannot_point_to_another_file() -> None:
    record = {"id": "1", "text": "Click me.", "path": "/etc/passwd", "fragment": "x", "also": [{"source": "passwd", "path": "/etc/passwd"}]}
    document = record_document({**record, "metadata": {"role": "navigation"}}, "corpus.jsonl", 1)
    assert {"path", "fragment", "also", "role"}.isdisjoint(document.metadata)
    assert document.metadata["record_path"] == "/etc/passwd"


def test_files_with_one_name_get_distinct_names() -> None:
    shared = [("index.en.html", f"/docs/{name}/html/index.en.html") for name in ("git", "pg")]
    assert distinct_names(shared) == ["git/html/index.en.html", "pg/html/index.en.html"]
    assert distinct_names(shared[:1]) == ["html/index.en.html"]
    assert distinct_names([*shared[:1] * 2, ("c.jsonl#1", "/docs/c.jsonl"), ("c.jsonl#2", "")]) == [
        *["html/index.en.html"] * 2,
        "docs/c.jsonl#1",
        "c.jsonl#2",
    ]


def test_a_heading_that_repeats_the_title_is_left_out() -> None:
    assert heading_path("git-stash(1)", "git-stash(1) Manual Page > OPTIONS > OPTIONS") == ["OPTIONS"]
    assert heading_path("", "Chapter 4 > 4.2") == ["Chapter 4", "4.2"]


def test_a_path_of_this_machine_is_one_that_opens(tmp_path: Path) -> None:
    file = tmp_path / "ünï cödé.txt"
    file.write_text("x", encoding="utf-8")
    assert source_link(file.name, {"path": str(file)}) == file.as_uri()
