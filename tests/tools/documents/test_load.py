"""Loading: what comes out of each format, and what is left out by name."""

import gzip
import json
import os
from pathlib import Path

import pytest

from ramify.tools.documents.load import load_files
from ramify.tools.errors import InputError


def test_plain_text_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The river Arda rises in the hills.", encoding="utf-8")
    (document,) = load_files(tmp_path / "notes.txt")
    assert document.id == "notes.txt"
    assert document.page_content == "The river Arda rises in the hills."
    assert document.metadata == {"source": "notes.txt", "title": "notes"}


def test_markdown_is_one_document_a_section(tmp_path: Path) -> None:
    text = "# Pump\n\nAbout the pump.\n\n## Care\n\n```\n# not a heading\n```\n\nSeals\n-----\nReplace them.\n"
    (tmp_path / "pump.md").write_text(text, encoding="utf-8")
    documents = list(load_files(tmp_path, clean=False))
    assert [(document.id, document.metadata["heading"]) for document in documents] == [
        ("pump.md#pump", "Pump"),
        ("pump.md#care", "Pump > Care"),
        ("pump.md#seals", "Pump > Seals"),
    ]
    assert "# not a heading" in documents[1].page_content
    assert {document.metadata["title"] for document in documents} == {"Pump"}
    assert all(document.page_content in text for document in documents)


def test_records_keep_their_id_title_and_what_they_carry(tmp_path: Path) -> None:
    record = {
        "id": "a1",
        "title": "Arda",
        "text": "A river.",
        "lang": "en",
        "metadata": {"length_km": 12, "source": "Gazette", "path": "/etc/passwd"},
    }
    with gzip.open(tmp_path / "rivers.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n\n" + json.dumps({"text": "No id."}) + "\n")
    first, second = load_files(tmp_path)
    assert (first.id, first.page_content) == ("a1", "A river.")
    assert first.metadata == {
        "source": "rivers.jsonl.gz#a1", "title": "Arda", "lang": "en", "length_km": 12, "record_source": "Gazette",
        "record_path": "/etc/passwd",
    }  # fmt: skip
    assert second.id == second.metadata["source"] == "rivers.jsonl.gz#3"


def test_json_and_tables_give_a_document_a_record(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"items": [{"text": "one"}, {"text": "two"}]}), encoding="utf-8")
    (tmp_path / "b.csv").write_text('order,fault\n7,"oil leak, left"\n8,\n', encoding="utf-8")
    assert [document.page_content for document in load_files(tmp_path)] == ["one", "two", "order: 7\nfault: oil leak, left", "order: 8"]


def test_folders_are_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/c.md", ".git/x.txt", ".hidden.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [document.metadata["source"] for document in load_files(tmp_path)] == ["b.txt", "a/c.md", "a/z.txt"]


def test_what_cannot_be_read_is_named_among_good_files(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("Good.", encoding="utf-8")
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01\xff\xfe\x00")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 but not really")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"text " * 1000)[:-20])
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "latin.txt").write_bytes("Müller".encode("latin-1"))
    (tmp_path / "photo.heic").write_bytes(b"\x89PNG")
    (tmp_path / "rows.jsonl").write_text('{"text": "One."}\nnonsense\n{"text": "Two."}\n', encoding="utf-8")
    loading = load_files(tmp_path)
    assert [document.page_content for document in loading] == ["Good.", "Müller", "One.", "Two."]
    reasons = dict(loading.skipped)
    assert sorted(reasons) == sorted(["binary.txt", "broken.pdf", "broken.json", "cut.txt.gz", "empty.md", "photo.heic", "rows.jsonl#2"])
    assert reasons["empty.md"] == "empty"
    assert loading.remarks == [("latin.txt", "read as cp1252")]
    assert "no reader for '.heic'" in reasons["photo.heic"]


def test_the_readable_kinds_are_named_once_if_nothing_is_readable(tmp_path: Path) -> None:
    for name in ("README", "photo.heic", "notes.doc"):
        (tmp_path / name).write_bytes(b"text")
    with pytest.raises(InputError) as error:
        list(load_files(tmp_path))
    told = f"{error.value}"
    assert told.count("jsonl") == 1
    assert all(part in told for part in ("README: no reader for a name without suffix", "photo.heic: no reader for '.heic'"))


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "secret.txt", tmp_path / "docs"
    folder.mkdir()
    outside.write_text("secret", encoding="utf-8")
    (folder / "own.txt").write_text("own", encoding="utf-8")
    (folder / "link.txt").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    loading = load_files(folder)
    assert [document.page_content for document in loading] == ["own"]
    assert [name for name, _ in loading.skipped] == ["link.txt", "up"]


def test_a_pipe_is_skipped_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "own.txt").write_text("own", encoding="utf-8")
    loading = load_files(tmp_path)
    assert len(list(loading)) == 1
    assert loading.skipped == [("pipe.txt", "not a regular file")]


def test_a_missing_path_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.*— check the path"):
        load_files(tmp_path / "nowhere")


def test_nothing_readable_is_an_error_with_reasons(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(InputError, match=r"empty\.txt: empty.*— give files of these kinds: .*txt"):
        list(load_files(tmp_path))
