"""Each format as real programs write it: text, headings, tables and notes come out, and nothing is lost."""

import gzip
import shutil
from pathlib import Path

import pytest

from plugins.formats.tests.made import pdf
from ramify.tools.documents.files import File
from ramify.tools.documents.load import load_files, read_files
from tests.tools.documents.shown import FILES, shown

LENGTH = "The river Arda rises in the Morvan hills and reaches the sea at Brennick, 214 kilometres further on."


@pytest.mark.parametrize("name", ["arda.docx", "arda.odt", "arda.epub", "survey.pdf"])
def test_sections_have_their_headings_and_the_documents_title(name: str) -> None:
    result = shown(FILES / name)
    assert LENGTH in result.under("Course").page_content
    assert "opened in 1958" in result.under("Bridges > Lorn").page_content
    assert {document.metadata["title"] for document in result.documents} == {"The river Arda"}
    assert not result.skipped
    assert not result.remarks


@pytest.mark.parametrize("name", ["arda.docx", "arda.odt", "arda.epub", "survey.pdf"])
def test_footnotes_are_in_the_section_that_they_belong_to(name: str) -> None:
    result = shown(FILES / name)
    holding = [document for document in result.documents if "measured anew in 1998" in document.page_content]
    assert [document.metadata["heading"] for document in holding] == ["Course"]


@pytest.mark.parametrize("name", ["arda.docx", "arda.odt", "arda.epub"])
def test_a_table_is_a_line_a_row(name: str) -> None:
    lines = [" ".join(line.split()) for line in shown(FILES / name).under("Bridges > Saint Oda").page_content.splitlines()]
    assert lines[-3:] == ["Bridge | Opened | Spans", "Lorn | 1958 | 2", "Saint Oda | 1903 | 5"]


@pytest.mark.parametrize("name", ["bridges.pptx", "bridges.odp"])
def test_slides_have_number_title_table_and_notes(name: str) -> None:
    _, why, costs = shown(FILES / name).documents
    assert (why.metadata["page"], why.metadata["heading"], why.metadata["title"]) == (2, "Why now", "Saving the bridges")
    assert "Its cables lose 2 % of their strength a year." in why.page_content
    assert why.page_content.endswith("Notes: Say that the ferry would cost 40,000 a year.")
    assert "Lorn | 310,000" in costs.page_content


@pytest.mark.parametrize("name", ["bridges.xlsx", "bridges.ods"])
def test_a_sheet_is_a_record_a_row_under_its_header(name: str) -> None:
    above, lorn, _, remarks = shown(FILES / name).documents
    assert above.page_content == "Bridges over the Arda, state of 2024"
    assert lorn.page_content == "bridge: Lorn\nopened: 1958\nspans: 2\nlast survey: 2023-05-04"
    assert (lorn.id, lorn.metadata["sheet"]) == (f"{name}#Bridges!4", "Bridges")
    assert remarks.page_content == "The bridge at Kell was taken down in 1999.\nIts stones were used for the weir."


def test_a_mail_has_its_head_its_plain_text_and_the_names_of_what_is_attached() -> None:
    result = shown(FILES / "closed.eml")
    (mail,) = result.documents
    assert mail.metadata["title"] == "Bridge at Lorn closed – Umleitung über Kell"
    assert "From: Ida Keller <ida@arda.example>" in mail.page_content
    assert "Please send carts over Kell." in mail.page_content
    assert "<b>" not in mail.page_content
    assert "detour.pdf" in mail.page_content
    assert [name for name, _ in result.skipped] == ["closed.eml/detour.pdf"]


@pytest.mark.parametrize(
    "name", sorted(path.name for path in FILES.iterdir() if path.is_file() and path.suffix != ".md" and path.stem != "secret")
)
def test_gzip_around_any_format_changes_nothing_but_the_name(name: str, tmp_path: Path) -> None:
    with (FILES / name).open("rb") as plain, gzip.open(tmp_path / f"{name}.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    assert [document.page_content for document in shown(tmp_path / f"{name}.gz").documents] == [
        document.page_content for document in shown(FILES / name).documents
    ]


def test_a_damaged_or_secret_file_is_named_in_a_line(tmp_path: Path) -> None:
    for name in ("arda.docx", "arda.odt", "arda.epub", "bridges.pptx", "bridges.xlsx", "survey.pdf"):
        content = (FILES / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
        (named,) = shown(tmp_path / name).skipped
        assert named[0] == name
        assert named[1].startswith("not a readable")
        assert "\n" not in named[1]
    assert shown(FILES / "secret.pdf").skipped == [("secret.pdf", "protected by a password")]


def test_html_keeps_headings_and_tables_and_drops_scripts(tmp_path: Path) -> None:
    page = """<html><head><title>Wood  species</title><script>alert(1)</script></head><body><nav>Home</nav><!-- hidden -->
        <p>Spruce is <b>light</b>
        and strong.<h2>Grades</h2><table><tr><td>A</td><td>dry</td></tr><tr><td>B</td><td>wet</td></tr></table></body></html>"""
    (tmp_path / "wood.html").write_text(page, encoding="utf-8")
    above, grades = load_files(tmp_path, clean=False)
    assert above.page_content == "Spruce is light and strong."
    assert grades.page_content == "A | dry\nB | wet"
    assert grades.metadata == {"source": "wood.html", "title": "Wood species", "heading": "Grades"}


def test_a_pdf_without_headings_is_one_document_that_knows_its_pages(tmp_path: Path) -> None:
    (tmp_path / "manual.pdf").write_bytes(pdf(["Check the rudder cables.", "Check the brakes."]))
    (document,) = load_files(tmp_path)
    assert document.page_content == "Check the rudder cables.\n\nCheck the brakes."
    assert document.metadata == {"source": "manual.pdf", "title": "manual", "pages": [[0, 1], [26, 2]]}


def test_one_worker_and_many_say_the_same() -> None:
    files = [File(path, path.name, FILES) for path in sorted(FILES.iterdir())]

    def said(workers: int) -> list[str]:
        return [str(document) for read in read_files(files, workers=workers) for document in read.documents]

    assert said(1) == said(3)
