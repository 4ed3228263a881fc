"""OpenDocument (odt, odp, ods), as LibreOffice writes it, read from the XML itself.

odfdo, the library for it, runs footnotes into the words that they stand at and writes `None None` where somebody has commented.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.office.container import container
from ramify.tools.documents.office.odf_text import NAMES, lines_of, text_of
from ramify.tools.documents.office.slides import slide_document
from ramify.tools.documents.office.workbook import sheet_documents
from ramify.tools.documents.office.xml import parsed
from ramify.tools.documents.sections import Outline, section_documents, sections_of
from ramify.tools.documents.text import stem

if TYPE_CHECKING:
    from lxml.etree import _Element

_MOST_REPEATED = 1000
"""A cell or row that stands more often than this, one after another, is kept once."""


def read_odt(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a text document as one document a section."""
    with container(path) as archive:
        body, title = _body(archive, "office:text"), _title(archive)
    lines = list(lines_of(body))
    first = next((text.strip() for level, text in lines if level == 1), None)
    yield from section_documents(Outline(title or first, sections_of(lines)), source, stem(path))


def read_odp(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    with container(path) as archive:
        body, title = _body(archive, "office:presentation"), _title(archive) or stem(path)
    for number, slide in enumerate(body.iterfind("draw:page", NAMES), start=1):
        notes = slide.find("presentation:notes", NAMES)
        if notes is not None:
            slide.remove(notes)
        frames = [(frame.get(f"{{{NAMES['presentation']}}}class"), text_of(frame)) for frame in slide]
        heading = next((" ".join(text.split()) for kind, text in frames if kind == "title"), "")
        said = notes.iterfind("draw:frame[@presentation:class='notes']", NAMES) if notes is not None else ()
        spoken = "\n".join(text_of(frame) for frame in said).strip()
        parts = [*(text for kind, text in frames if kind != "title"), f"Notes: {spoken}" if spoken else ""]
        yield slide_document(source, title, number, heading, parts)


def read_ods(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a workbook's sheets: a record a row where there is a header."""
    with container(path) as archive:
        body, title = _body(archive, "office:spreadsheet"), _title(archive) or stem(path)
    for sheet in body.iterfind("table:table", NAMES):
        yield from sheet_documents(_rows(sheet), source, sheet.get(f"{{{NAMES['table']}}}name") or "", title)


def _rows(sheet: "_Element") -> Iterator[list[str]]:
    for row in sheet.iter(f"{{{NAMES['table']}}}table-row"):
        cells = [text for cell in row for text in [text_of(cell).strip()] * _repeated(cell, "number-columns-repeated")]
        yield from [cells] * _repeated(row, "number-rows-repeated")


def _repeated(element: "_Element", name: str) -> int:
    times = int(element.get(f"{{{NAMES['table']}}}{name}") or 1)
    return times if times <= _MOST_REPEATED else 1


def _body(archive: ZipFile, kind: str) -> "_Element":
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise UnreadableError("protected by a password")
    body = parsed(archive.read("content.xml")).find(f"office:body/{kind}", NAMES)
    if body is None:
        raise UnreadableError(f"no {kind.removeprefix('office:')} in it")
    return body


def _title(archive: ZipFile) -> str | None:
    if "meta.xml" not in archive.namelist():
        return None
    return (parsed(archive.read("meta.xml")).findtext("office:meta/dc:title", "", NAMES)).strip() or None
