"""What a file says of itself becomes metadata, by the same names in all formats; hostile front matter costs nothing."""

from datetime import datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook
from pptx import Presentation

from plugins.formats.tests.made import pdf
from tests.tools.documents.shown import FILES, Shown, shown

SHARED: dict[str, Any] = {
    "author": ["Jane Doe", "Jan Meer"],
    "date": "2024-03-01",
    "subject": "Pumps",
    "tags": ["seal", "valve"],
    "language": "en",
}
TEXT = "The pump moves water from the well to the tank."


def markdown(path: Path, above: str, text: str = TEXT) -> Path:
    path.write_text(f"{above}\n{text}\n", encoding="utf-8")
    return path


def repacked(path: Path, part: str, change: tuple[str, str]) -> Path:
    """Copy a file of the tests with a part of it changed."""
    with ZipFile(FILES / path.name) as old, ZipFile(path, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.decode().replace(*change) if name == part else content)
    return path


def written(folder: Path, name: str) -> Path:
    """Write a file of a format that says of itself what `SHARED` has."""
    path = folder / name
    match name:
        case "pump.md":
            return markdown(
                path, "---\nauthors: [Jane Doe, Jan Meer]\nDate: 2024-03-01 10:15\nsubject: Pumps\ntags: seal, valve\nlang: en\n---"
            )
        case "toml.md":
            fields = 'author = ["Jane Doe", "Jan Meer"]\ndate = 2024-03-01\nsubject = "Pumps"\ntags = ["seal", "valve"]\nlang = "en"'
            return markdown(path, f"+++\n{fields}\n+++")
        case "arda.docx":
            metadata = "<dc:creator>Jane Doe; Jan Meer</dc:creator><dc:subject>Pumps</dc:subject><cp:keywords>seal, valve</cp:keywords>"
            return repacked(path, "docProps/core.xml", ("<dc:creator></dc:creator>", metadata))
        case "arda.odt":
            metadata = (
                "<meta:initial-creator>Jane Doe; Jan Meer</meta:initial-creator><dc:subject>Pumps</dc:subject><dc:language>en</dc:language>"
            )
            words = "<meta:keyword>seal</meta:keyword><meta:keyword>valve</meta:keyword>"
            return repacked(path, "meta.xml", ("<meta:initial-creator/>", metadata + words))
        case "arda.epub":
            metadata = "".join(f"<dc:creator>{name}</dc:creator>" for name in SHARED["author"])
            metadata += "<dc:language>en</dc:language><dc:subject>seal</dc:subject><dc:subject>valve</dc:subject>"
            return repacked(path, "EPUB/content.opf", ("<dc:language>C</dc:language>", metadata))
        case "pump.pptx" | "pump.xlsx":
            return program(path)
        case "pump.pdf":
            metadata = "/Author (Jane Doe; Jan Meer) /CreationDate (D:20240301101500+01'00') /Subject (Pumps) /Keywords (seal, valve)"
            path.write_bytes(pdf([TEXT], metadata))
        case "pump.html":
            meta = {"author": "Jane Doe; Jan Meer", "dcterms.created": "2024-03-01T10:15Z", "subject": "Pumps", "keywords": "seal, valve"}
            head = "".join(f'<meta name="{name}" content="{content}">' for name, content in meta.items())
            path.write_text(f'<html lang="en"><head><title>Pump</title>{head}</head><body><p>{TEXT}</p></body></html>', encoding="utf-8")
    return path


def program(path: Path) -> Path:
    if path.suffix == ".pptx":
        deck = Presentation()
        deck.slides.add_slide(deck.slide_layouts[1]).placeholders[1].text = TEXT
        made, stated = deck, deck.core_properties
        stated.author = "Jane Doe; Jan Meer"
    else:
        made = Workbook()
        made.active.append([TEXT])
        stated = made.properties
        stated.creator = "Jane Doe; Jan Meer"
    stated.subject, stated.keywords, stated.language, stated.created = "Pumps", "seal, valve", "en", datetime(2024, 3, 1, 10, 15)
    made.save(str(path))
    return path


def stated(result: Shown) -> dict[str, Any]:
    assert result.documents
    return result.documents[-1].metadata


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("pump.md", {}),
        ("toml.md", {}),
        ("pump.html", {}),
        ("pump.pptx", {}),
        ("pump.xlsx", {}),
        ("pump.pdf", {"language": None}),
        ("arda.docx", {"date": "2026-11-22", "language": "en-US"}),
        ("arda.odt", {"date": "2026-11-22"}),
        ("arda.epub", {"date": "2026-11-22", "subject": None}),
    ],
)
def test_metadata_has_the_same_names_in_every_format(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    metadata = stated(shown(written(tmp_path, name)))
    assert {key: metadata.get(key) for key in SHARED} == SHARED | changes


def test_a_mail_includes_its_headers(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Jane Doe <jane@arda.example>", "Jan <jan@arda.example>, ida@arda.example"
    mail["Date"], mail["Subject"] = "Fri, 01 Mar 2024 23:30:00 +0100", "The pump"
    mail.set_content(TEXT)
    (tmp_path / "pump.eml").write_bytes(bytes(mail))
    metadata = stated(shown(tmp_path / "pump.eml"))
    assert (metadata["author"], metadata["date"], metadata["subject"]) == ("Jane Doe", "2024-03-01", "The pump")
    assert (metadata["from"], metadata["to"]) == (["jane@arda.example"], ["jan@arda.example", "ida@arda.example"])
    assert "cc" not in metadata


def test_default_values_of_programs_are_dropped(tmp_path: Path) -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[1]).placeholders[1].text = TEXT
    deck.core_properties.title = "PowerPoint Presentation"
    deck.save(str(tmp_path / "pump.pptx"))
    assert stated(shown(tmp_path / "pump.pptx")) == {"source": "pump.pptx", "title": "pump", "page": 1}


def test_a_row_that_speaks_for_itself_has_not_the_workbook_s_author(tmp_path: Path) -> None:
    book = Workbook()
    for row in (["text", "author"], [TEXT, "Ida Keller"], ["Seals are replaced.", ""]):
        book.active.append(row)
    book.properties.creator = "Jane Doe"
    book.properties.subject = "Pumps"
    book.save(str(tmp_path / "books.xlsx"))
    first, second = shown(tmp_path / "books.xlsx").documents
    assert (first.metadata["author"], first.metadata.get("subject")) == ("Ida Keller", None)
    assert second.metadata["author"] == "Jane Doe"


def test_properties_that_cannot_be_read_cost_no_file(tmp_path: Path) -> None:
    result = shown(repacked(tmp_path / "arda.docx", "docProps/core.xml", ("<dc:creator>", "<dc:broken>")))
    assert len(result.documents) > 3
    assert [name for name, said in result.remarks if "metadata cannot be read" in said] == ["arda.docx"]
