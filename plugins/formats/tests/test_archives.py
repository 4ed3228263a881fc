"""A ZIP of documents is read like a folder: each file by its own reader, each that cannot be read by name, within limits."""

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from ramify.tools.documents import load as reading
from ramify.tools.documents.load import load_files
from ramify.tools.documents.worker_pool import Limits
from ramify.tools.index import Index
from tests.faults import fault
from tests.studio.conftest import Ramify, ramify
from tests.tools.documents.shown import FILES, Shown, shown
from tests.tools.fakes import WordEncoder

__all__ = ["ramify"]

SAID = "The weir at Lorn was built of oak in 1911."


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def read(folder: Path, content: bytes | Mapping[str, bytes | str], name: str = "a.zip") -> Shown:
    (folder / name).write_bytes(content if isinstance(content, bytes) else zipped(content))
    return shown(folder / name)


REAL = ("survey.pdf", "arda.docx", "bridges.xlsx", "bridges.ods", "bridges.pptx", "arda.odt", "arda.epub", "closed.eml")


def test_files_of_all_formats_are_read_as_they_would_be_alone(tmp_path: Path) -> None:
    result = read(tmp_path, {f"docs/{name}": (FILES / name).read_bytes() for name in REAL})
    for name in REAL:
        within = [document for document in result.documents if document.metadata["source"].startswith(f"a.zip/docs/{name}")]
        assert [document.page_content for document in within] == [document.page_content for document in shown(FILES / name).documents]
        assert {document.metadata["parent"] for document in within} <= {"a.zip", f"a.zip/docs/{name}"}


def test_records_pages_and_text_are_read(tmp_path: Path) -> None:
    files = {
        "t.csv": "name,age\nAda,7\n",
        "p.html": f"<h1>Weir</h1><p>{SAID}</p>",
        "n.jsonl.gz": gzip.compress(b'{"text": "One."}\n'),
        "n.md": f"---\nauthor: Ida\n---\n# Weir\n\n{SAID}",
        "e.txt": "",
    }
    result = read(tmp_path, files)
    assert {document.metadata["source"]: document.page_content for document in result.documents} == {
        "a.zip/n.jsonl.gz#1": "One.",
        "a.zip/n.md": SAID,
        "a.zip/p.html": SAID,
        "a.zip/t.csv#1": "name: Ada\nage: 7",
    }
    assert {document.metadata.get("author") for document in result.documents if "n.md" in document.metadata["source"]} == {"Ida"}
    assert result.skipped == [("a.zip/e.txt", "empty")]


def test_what_is_not_read_is_named_with_the_reason(tmp_path: Path) -> None:
    files = {
        "a.bin": b"x",
        "b.docx": b"PK",
        "c.rar": b"Rar!",
        ".hidden.txt": SAID,
        "__MACOSX/a.txt": SAID,
        ".git/x.txt": SAID,
        "ok.txt": SAID,
    }
    result = read(tmp_path, files)
    assert [document.page_content for document in result.documents] == [SAID]
    assert [name for name, _ in result.skipped] == ["a.zip/a.bin", "a.zip/b.docx", "a.zip/c.rar"]
    assert "unpack" in result.skipped[2][1]


@fault("documents", "archive damaged, encrypted or of another type", sees="named as skipped: unpack it", kept="the other files")
@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.7z", "a.rar", "a.tar.bz2"])
def test_other_archives_are_named(tmp_path: Path, name: str) -> None:
    ((_, reason),) = read(tmp_path, b"some bytes", name).skipped
    assert "unpack it" in reason
    assert "readable:" not in reason


@fault("documents", "archive damaged, encrypted or of another type", sees="named as skipped", kept="the other files")
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive", zipped({}), zipped({"a.txt": SAID})[:-30]])
def test_a_damaged_or_empty_archive_is_skipped_in_a_line(tmp_path: Path, content: bytes) -> None:
    result = read(tmp_path, content)
    assert not result.documents
    assert [name for name, _ in result.skipped] == ["a.zip"]


def encrypted(content: bytes, name: bytes) -> bytes:
    """Set the flag of encryption of one file."""
    changed = bytearray(content)
    for sign, flags, named in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        place = changed.find(sign)
        while place >= 0:
            changed[place + flags] |= changed[place + named : place + named + len(name)] == name
            place = changed.find(sign, place + 4)
    return bytes(changed)


@fault(
    "documents",
    "file within an archive that is encrypted or damaged",
    sees="named as skipped, with the reason",
    kept="the other files of the archive",
)
def test_an_encrypted_or_damaged_file_costs_itself_alone(tmp_path: Path) -> None:
    content = encrypted(zipped({"a.txt": "locked", "b.txt": f"{SAID} " * 9, "c.txt": SAID}), b"a.txt")
    place = content.index(b"b.txt") + 8
    result = read(tmp_path, content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
    assert [document.page_content for document in result.documents] == [SAID]
    assert [name for name, _ in result.skipped] == ["a.zip/a.txt", "a.zip/b.txt"]
    assert "password" in result.skipped[0][1]


@fault(
    "documents",
    "archive with paths outside its folder",
    sees="each named as skipped",
    kept="the other files of the archive; nothing is written to disk",
)
def test_names_that_lead_elsewhere_and_links_are_not_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    names = ["../up.txt", "/top.txt", "a/../../up.txt", "C:\\top.txt", "..\\up.txt"]
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, SAID)
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("folder\\good.txt", SAID)
    result = read(tmp_path, packed.getvalue())
    assert [document.metadata["source"] for document in result.documents] == ["a.zip/folder/good.txt"]
    assert len(result.skipped) == len(names) + 1
    assert not [*tmp_path.rglob("*.txt"), *tmp_path.parent.glob("*.txt")]


@pytest.mark.parametrize("name", ["brücke.txt", "мост.txt", "橋.txt"])
def test_a_name_in_unmarked_utf_8_is_read(tmp_path: Path, name: str) -> None:
    content = bytearray(zipped({name: SAID}))
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(sign) + flags
        struct.pack_into("<H", content, place, struct.unpack_from("<H", content, place)[0] & ~0x800)
    assert read(tmp_path, bytes(content)).documents[0].metadata["source"] == f"a.zip/{name}"


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/notes.txt", "The pump runs at 40 bar.")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a/notes.txt", "The pump runs at 45 bar.")
    documents = read(tmp_path, packed.getvalue()).documents
    assert {document.metadata["source"]: document.page_content[-7:-1] for document in documents} == {
        "a.zip/a/notes.txt": "40 bar",
        "a.zip/a/notes (2).txt": "45 bar",
    }


def nest(depth: int) -> bytes:
    content: Mapping[str, bytes | str] = {"deep.txt": SAID}
    for number in range(depth):
        content = {f"{number}.zip": zipped(content), f"{number}.txt": f"Level {number}."}
    return zipped(content)


@fault(
    "documents",
    "archives within archives, too deep or with too many files",
    sees="the first one that is too deep named as skipped",
    kept="the files above it",
)
def test_archives_in_archives_are_read_to_a_depth(tmp_path: Path) -> None:
    assert len(read(tmp_path, nest(2)).documents) == 3
    result = read(tmp_path, nest(6))
    assert len(result.documents) == 3
    assert "within more than" in result.skipped[0][1]


@fault(
    "documents",
    "archive that expands to far more than its size",
    sees="the file within named as skipped",
    kept="the other files of the archive",
)
def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = read(tmp_path, {"bomb.txt": b"a" * (300 << 20), "good.txt": SAID})
    assert [document.page_content for document in result.documents] == [SAID]
    assert "more than the limit" in result.skipped[0][1]


@fault("documents", "archives within archives, too deep or with too many files", sees="the limit in a line", kept="the files before it")
def test_files_are_counted_at_all_depths(tmp_path: Path) -> None:
    inner = zipped({f"{number}.txt": b"" for number in range(4000)})
    result = read(tmp_path, {"a.zip": inner, "b.zip": inner, "c.zip": inner, "d.zip": inner, "e.txt": SAID})
    assert any("10,000 files" in reason for _, reason in result.skipped)
    assert len(result.skipped) < 10_100


@fault(
    "documents",
    "file within an archive that ends its reader",
    sees="named as skipped, with the reason",
    kept="the other files of the archive",
)
def test_a_file_that_ends_its_reader_costs_itself_alone(tmp_path: Path) -> None:
    big = io.BytesIO()
    with gzip.open(big, "wb", 1) as file:
        file.writelines([b'{"text": "', b"a" * (60 << 20), b'"}'])
    files = {"a.txt": SAID, "b.json.gz": big.getvalue(), "c.txt": SAID, "d.json.gz": big.getvalue(), "e.txt": SAID}
    (tmp_path / "a.zip").write_bytes(zipped(files))
    ((sources, skipped),) = [
        ([document.metadata["source"] for document in result.documents], result.skipped)
        for result in reading.read_files(reading.list_files([tmp_path], []), Limits(60, 400))
    ]
    assert sources == ["a.zip/a.txt", "a.zip/c.txt", "a.zip/e.txt"]
    assert [name for name, _ in skipped] == ["a.zip/b.json.gz", "a.zip/d.json.gz"]
    assert all("memory" in reason for _, reason in skipped)


def test_short_documents_are_merged_within_a_file_only(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"a.md": "# One\n\nA few words.\n\n# Two\n\nSome more.", "b.md": "# Three\n\nFew again."}))
    assert sorted(document.metadata["source"] for document in load_files(tmp_path / "a.zip")) == ["a.zip/a.md", "a.zip/b.md"]


def build(docs: Path) -> tuple[Index, dict[str, int]]:
    built = Index.build([docs], docs.with_name("ix"), WordEncoder())
    counts = {name: getattr(built, name) for name in ("added", "changed", "unchanged", "removed")}
    return Index.open(docs.with_name("ix"), WordEncoder()), {name: count for name, count in counts.items() if count}


def sources(index: Index) -> list[str]:
    return sorted(passage.metadata["source"] for passage in index.get_by_ids(index.ids()))


def test_an_archive_is_updated_and_removed_as_one_file(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "x.md").write_text("# Boats\n\nBoat 7 leaks in the stern.", encoding="utf-8")
    (docs / "a.zip").write_bytes(zipped({"a.md": f"# Weir\n\n{SAID}", "b.md": "# Bridge\n\nThe bridge is closed in May."}))
    assert build(docs)[1] == {"added": 3}
    index, counts = build(docs)
    assert counts == {"unchanged": 3}
    (best,) = index.search(["weir oak"], 1)[0]
    assert best.metadata["path"] == str(docs / "a.zip")
    assert [hit.source for hit in index.search(["oak"], 9, filter={"parent": "a.zip"})[0]] != ["x.md"]
    (docs / "a.zip").write_bytes(zipped({"a.md": "# Weir\n\nThe weir was rebuilt of stone in 1950.", "c.md": "# Lock\n\nThe lock is new."}))
    index, counts = build(docs)
    assert counts == {"added": 1, "changed": 1, "unchanged": 1, "removed": 1}
    assert sources(index) == ["a.zip/a.md", "a.zip/c.md", "x.md"]
    (docs / "a.zip").unlink()
    index, counts = build(docs)
    assert counts == {"unchanged": 1, "removed": 2}


def test_a_copy_in_an_archive_is_a_duplicate(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    text = f"# Weir\n\n{SAID} The weir holds back the water of the Arda, and keeps the mill of Lorn at work throughout the year."
    (docs / "b.md").write_text(text, encoding="utf-8")
    (docs / "a.zip").write_bytes(zipped({"b.md": text}))
    index, _ = build(docs)
    (passage,) = index.get_by_ids(index.ids())
    assert {passage.metadata["source"], *(also["source"] for also in passage.metadata["also"])} == {"a.zip/b.md", "b.md"}


def test_a_citation_names_the_file_and_opens_the_archive(ramify: Ramify, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"plans/survey.pdf": (FILES / "survey.pdf").read_bytes()}))
    assert ramify("index", tmp_path / "a.zip", "--out", tmp_path / "ix").code == 0
    (hit,) = json.loads(ramify("search", "survey of the bridge", "--index", tmp_path / "ix", "-k", 1, "--json").out)
    assert hit["source"] == "a.zip/plans/survey.pdf"
    assert hit["metadata"]["path"] == str(tmp_path / "a.zip")
    answered = json.loads(
        ramify("ask", "Who surveyed the bridge?", "--index", tmp_path / "ix", "--model", "extractive", "--strategy", "naive", "--json").out
    )
    assert {(citation["path"], citation["link"]) for citation in answered["citations"]} == {
        (str(tmp_path / "a.zip"), (tmp_path / "a.zip").as_uri())
    }
