"""The reader of each format: the core's own, those of other packages, and what is said where there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.studio.console.building import skipped_lines
from ramify.tools import plugins
from ramify.tools.checkup import check_formats, check_ocr
from ramify.tools.documents import readers
from ramify.tools.documents.files import DEFAULT_OCR, Ocr
from ramify.tools.documents.load import load_files
from ramify.tools.documents.readers import parse_ocr, readable_formats, reading_edition
from ramify.tools.errors import UsageError
from tests.installing import Installer

READER = """
from langchain_core.documents import Document
from ramify.tools.documents.files import UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.errors import UsageError

def read(path, source, report):
    kind, _, text = path.read_text(encoding="utf-8").partition(": ")
    if kind != "notes":
        raise UnreadableError("no notes")
    report.leave_out(source, "scribble", ["xx"])
    yield Document(text, id=source, metadata={"source": source, "title": kind})

def read_with(ocr):
    if "latin" in ocr.languages:
        raise UsageError("no latin", "choose another language")
    return "a magnifying glass", ""

NOTES = FormatReader(read, {"json": "json"}, edition="2", ocr=read_with)
OTHER = FormatReader(read, {"no_such_module": "no-such-package"})
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    forget_readers()
    yield Installer(tmp_path / "installed", monkeypatch)
    forget_readers()


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no package offer anything."""
    forget_readers()
    monkeypatch.setattr(plugins, "names", lambda group: [])
    yield
    forget_readers()


def forget_readers() -> None:
    readers._plugin_suffixes.cache_clear()
    readers.load_reader.cache_clear()


def test_a_package_adds_a_format_with_one_file_and_one_entry_point(install: Installer, tmp_path: Path) -> None:
    install("notes", "[ramify.readers]\n.notes = notes:NOTES\n", READER)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.notes").write_text("notes: The Arda rises in the hills.", encoding="utf-8")
    (tmp_path / "docs" / "bad.notes").write_text("other: x", encoding="utf-8")
    loading = load_files(tmp_path / "docs")
    assert [(document.page_content, document.metadata["title"]) for document in loading] == [("The Arda rises in the hills.", "notes")]
    assert loading.skipped == [("bad.notes", "no notes")]
    assert loading.remarks == [("good.notes", "left out: 1 scribble")]
    assert "notes" in readable_formats().split(", ")
    assert "notes" in check_formats().found


def test_what_a_reader_depends_on_is_part_of_its_edition(install: Installer) -> None:
    install("notes", "[ramify.readers]\n.notes = notes:NOTES\n", READER)
    assert reading_edition(Path("a.notes"), DEFAULT_OCR) == "+2+ocr"
    assert reading_edition(Path("a.notes"), Ocr("never")) == "+2"
    assert reading_edition(Path("a.txt"), DEFAULT_OCR) == reading_edition(Path("a.unknown"), DEFAULT_OCR) == ""
    assert "a magnifying glass" in check_ocr().found


def test_a_reader_refuses_languages_that_it_cannot_read(install: Installer) -> None:
    install("notes", "[ramify.readers]\n.notes = notes:NOTES\n", READER)
    with pytest.raises(UsageError, match="no latin"):
        parse_ocr("auto", "latin")
    with pytest.raises(UsageError, match="sometimes"):
        parse_ocr("sometimes")


@pytest.mark.parametrize(
    ("code", "reason"), [("import no_such_library", "no_such_library"), ("NOTES = 1", "int"), (f"{READER}\n1 / 0", "ZeroDivisionError")]
)
def test_a_reader_that_cannot_be_loaded_costs_its_own_files(code: str, reason: str, install: Installer, tmp_path: Path) -> None:
    install("broken_notes", "[ramify.readers]\n.notes = broken_notes:NOTES\n", code)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.notes").write_text("notes: text", encoding="utf-8")
    (tmp_path / "docs" / "b.txt").write_text("Good.", encoding="utf-8")
    loading = load_files(tmp_path / "docs")
    assert [document.page_content for document in loading] == ["Good."]
    ((name, said),) = loading.skipped
    assert name == "a.notes"
    assert reason in said
    assert "ramify doctor" in said
    found = check_formats()
    assert (found.state, ".notes" in found.found, reason in found.found) == ("broken", True, True)
    assert found.remedy


def test_doctor_says_which_package_a_reader_lacks(install: Installer) -> None:
    install("notes", "[ramify.readers]\n.other = notes:OTHER\n", READER)
    found = check_formats()
    assert found.state == "broken"
    assert found.found.startswith("cannot read .other: no_such_module does not load")
    assert "no-such-package" in found.remedy


@pytest.mark.usefixtures("no_plugins")
def test_the_core_alone_reads_texts_records_and_markdown_and_names_the_package_for_others(tmp_path: Path) -> None:
    for name in ("a.txt", "b.csv", "c.json", "d.pdf", "e.html.gz", "f.xyz", "g.tar"):
        (tmp_path / name).write_text('{"text": "one"}', encoding="utf-8")
    (tmp_path / "h.md").write_text("---\nauthor: Ana\n---\n# Arda\n\nIt is **long**.\n", encoding="utf-8")
    (tmp_path / "i.md").write_text("It is <b>long</b>.\n", encoding="utf-8")
    loading = load_files(tmp_path)
    documents = {str(document.metadata["source"]).partition("#")[0]: document for document in loading}
    assert list(documents) == ["a.txt", "b.csv", "c.json", "h.md", "i.md"]
    assert documents["h.md"].page_content == "It is **long**."
    assert documents["h.md"].metadata["author"] == "Ana"
    reasons = dict(loading.skipped)
    assert "ramify.formats" in reasons["d.pdf"]
    assert "ramify.formats" in reasons["e.html.gz"]
    assert "readable: csv, json" in reasons["f.xyz"]
    (line,) = [line for line in skipped_lines(loading.skipped) if "no reader for these" in line]
    assert line.count("ramify.formats") == 1
    assert "unpack" in reasons["g.tar"]
    assert [name for name, _ in loading.remarks] == ["i.md"]
    assert check_formats().state == "ok"
    assert check_ocr().state == "note"
