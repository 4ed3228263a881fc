"""Read Word, PowerPoint and Excel documents, and the ZIP containers and metadata of all office formats."""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile, ZipFile

from langchain_core.documents import Document

from ramify.tools.documents._records import is_header, record_document, row_record
from ramify.tools.documents._text import MAX_BYTES, file_stem, read_unpacked
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.sections import section_documents

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement

_MAX_PARTS = 20_000
_MAX_COMPRESSION_RATIO = 200
"""Largest compression ratio, checked for more than a few MB of content."""
_UNCHECKED_BYTES = 1 << 25
_OLDER_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 0x1


@contextmanager
def open_container(path: Path) -> Iterator[ZipFile]:
    """Open a ZIP container and check its directory; UnreadableError if it is damaged, encrypted or a decompression bomb."""
    with io.BytesIO(read_unpacked(path)) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        if file.read(4) == _OLDER_OFFICE:
            raise UnreadableError("protected by a password, or of an older format with this suffix")
        try:
            with ZipFile(file) as archive:
                _check_directory(archive)
                yield archive
        except (BadZipFile, NotImplementedError, KeyError, UnicodeDecodeError) as error:
            raise UnreadableError(f"not a readable document: {str(error).strip(chr(34))}") from error


@contextmanager
def open_office_file(path: Path, source: str, report: ReadReport) -> Iterator[BinaryIO]:
    """Open a checked container for a library and report its metadata; UnreadableError if a part declares XML entities."""
    with open_container(path) as archive:
        for part in archive.infolist():
            if b"<!ENTITY" in archive.read(part).replace(b"\0", b""):
                raise UnreadableError(f"declares entities in {part.filename!r}, which no program writes")
        report_properties(archive, source, report)
        file = archive.fp
        assert file is not None
        file.seek(0)
        yield io.BytesIO(file.read())


def parse_xml(content: bytes) -> "_Element":
    """Parse an XML part of a container, without entities and network access."""
    from lxml import etree

    if b"<!ENTITY" in content.replace(b"\0", b""):
        raise UnreadableError("declares entities, which no program writes")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True)
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"not readable XML: {error.msg}") from error


def _check_directory(archive: ZipFile) -> None:
    parts = archive.infolist()
    unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise UnreadableError("protected by a password")
    if len(parts) > _MAX_PARTS:
        raise UnreadableError(f"has {len(parts):,} parts, more than the limit of {_MAX_PARTS:,}")
    if unpacked > MAX_BYTES or unpacked > max(_MAX_COMPRESSION_RATIO * packed, _UNCHECKED_BYTES):
        raise UnreadableError(f"would unpack {packed:,} bytes to {unpacked:,}, more than the limit")


_CORE_PROPERTIES = {
    "title": "title", "creator": "author", "created": "date", "modified": "modified", "subject": "subject", "description": "description",
    "keywords": "tags", "category": "category", "language": "language",
}  # fmt: skip
_META_PROPERTIES = {
    "title": "title", "initial-creator": "author", "creator": "author", "creation-date": "date", "date": "modified", "subject": "subject",
    "description": "description", "keyword": "tags", "language": "language",
}  # fmt: skip
BOOK_PROPERTIES = {
    "title": "title", "creator": "author", "date": "date", "subject": "tags", "description": "description", "language": "language",
    "publisher": "publisher",
}  # fmt: skip
"""XML elements and their common metadata names; of two elements with one name, the first that is not empty is used."""
_LIST_PROPERTIES = ("author", "tags")


def report_properties(archive: ZipFile, source: str, report: ReadReport) -> None:
    """Report the metadata of a document in Microsoft's formats or OpenDocument."""
    held = archive.namelist()
    for part, names in (("docProps/core.xml", _CORE_PROPERTIES), ("meta.xml", _META_PROPERTIES)):
        if part in held:
            try:
                report.state(source, read_properties(parse_xml(archive.read(part)), names))
            except UnreadableError as error:
                report.remark(source, f"its metadata cannot be read: {error}")


def read_properties(element: "_Element", names: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts of elements, under the names given for them."""
    found: dict[str, Any] = {}
    for local, name in names.items():
        texts = [" ".join(one.text.split()) for one in element.iter(f"{{*}}{local}") if one.text and one.text.strip()]
        if texts:
            found.setdefault(name, texts if name in _LIST_PROPERTIES and len(texts) > 1 else texts[0])
    return found


_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_REFERENCES = ".//a[starts-with(@id, 'footnote-ref-') or starts-with(@id, 'endnote-ref-')]"


def read_docx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a Word document as one document per section."""
    import mammoth

    from ramify.tools.documents._html import html_outline

    with open_office_file(path, source, report) as file:
        try:
            html = mammoth.convert_to_html(file, style_map=_STYLES, convert_image=mammoth.images.img_element(lambda _: {"src": ""})).value
        except (ExpatError, LookupError, OSError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable document: {type(error).__name__}: {error}") from error
    if html.strip():
        yield from section_documents(html_outline(_tidy_html(html)), source, report.title or file_stem(path))


def _tidy_html(html: str) -> str:
    """Move notes behind the paragraph that refers to them, and put each table cell on one line."""
    from lxml.etree import strip_tags
    from lxml.html import fragment_fromstring, tostring

    body = fragment_fromstring(html, create_parent="body")
    named = {element.get("id"): element for element in body.xpath(".//*[@id]")}
    for reference in body.xpath(_REFERENCES):
        note = named.pop(reference.get("href", "#").removeprefix("#"), None)
        if note is not None:
            _append_note(reference, note)
    for paragraph in body.xpath(".//td//p | .//th//p"):
        paragraph.tail = f" {paragraph.tail or ''}"
        paragraph.tag = "within-cell"
    strip_tags(body, "within-cell")
    return str(tostring(body, encoding="unicode"))


def _append_note(reference: "HtmlElement", note: "HtmlElement") -> None:
    from lxml.html import Element

    block = next((above for above in reference.iterancestors() if above.tag in ("p", "li", "table", "h1", "h2", "h3")), reference)
    paragraph = Element("p")
    paragraph.text = f"{reference.text_content()} {' '.join(note.text_content().removesuffix('↑').split())}"
    paragraph.tail, block.tail = block.tail, None
    block.addnext(paragraph)
    note.drop_tree()


def read_pptx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with open_office_file(path, source, report) as file:
        try:
            for number, slide in enumerate(Presentation(file).slides, start=1):
                yield slide_document(source, report.title or file_stem(path), number, *_slide_texts(slide))
        except (PythonPptxError, XMLSyntaxError, LookupError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable presentation: {type(error).__name__}: {error}") from error


def slide_document(source: str, title: str, number: int, heading: str, parts: Iterable[str]) -> Document:
    """Return a slide as a document; the text of a slide without other text is its title."""
    text = "\n\n".join(part for part in parts if part.strip()) or heading
    metadata = {"source": source, "title": title, "page": number, **({"heading": heading} if heading else {})}
    return Document(text, id=f"{source}#slide-{number}", metadata=metadata)


def _slide_texts(slide: Any) -> tuple[str, list[str]]:
    """Return a slide's title, and the texts on it and in its notes."""
    headline = slide.shapes.title
    heading = " ".join(headline.text_frame.text.split()) if headline is not None else ""
    parts = [text for shape in slide.shapes if headline is None or shape.shape_id != headline.shape_id for text in _shape_texts(shape)]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {notes.text.strip()}")
    return heading, parts


def _shape_texts(shape: Any) -> Iterator[str]:
    from pptx.shapes.group import GroupShape

    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _shape_texts(inner)
    elif getattr(shape, "has_table", False):
        yield "\n".join(" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in shape.table.rows)
    elif shape.has_text_frame:
        yield shape.text_frame.text.replace("\v", "\n").strip()


_MAX_HEADER_ROWS = 20
Row = tuple[int, dict[int, str]]
"""A non-empty row: its number from 1, and its non-empty cells by column from 0."""


def read_xlsx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets, with the values that its formulas had when it was saved."""
    with open_office_file(path, source, report) as file, _open_workbook(file) as workbook:
        for sheet in workbook.worksheets:
            yield from sheet_documents(_stored_rows(sheet), source, sheet.title, file_stem(path))


def read_first_sheet(path: Path) -> list[Row]:
    """Return the non-empty rows of a workbook's first sheet; UnreadableError if the file is not a workbook."""
    with open_office_file(path, "", ReadReport()) as file, _open_workbook(file) as workbook:
        return _nonempty_rows(_stored_rows(workbook.worksheets[0]))


@contextmanager
def _open_workbook(file: BinaryIO) -> Iterator[Any]:
    """Open a workbook, with the values that its formulas had when it was saved."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        yield load_workbook(file, read_only=True, data_only=True)
    except (InvalidFileException, SyntaxError, LookupError, ValueError, TypeError) as error:
        raise UnreadableError(f"not a readable workbook: {type(error).__name__}: {error}") from error


def _nonempty_rows(rows: Iterable[Row]) -> list[Row]:
    return [(number, kept) for number, row in rows if (kept := {place: cell for place, cell in sorted(row.items()) if cell})]


def _stored_rows(sheet: Any) -> Iterator[Row]:
    """Yield a sheet's stored rows; openpyxl's own iterator creates every cell up to the last one."""
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    with sheet._get_source() as content:
        for number, cells in WorkSheetParser(content, sheet._shared_strings, data_only=True, epoch=book.epoch, **dates).parse():
            yield number, {cell["column"] - 1: _format_cell(cell["value"]) for cell in cells}


def sheet_documents(rows: Iterable[Row], source: str, sheet: str, title: str) -> Iterator[Document]:
    """Yield a sheet as documents: the rows above the header as one, then one per row; without a header one for all."""
    filled = _nonempty_rows(rows)
    header = _find_header(filled)
    above = filled if header is None else filled[:header]
    if above:
        text = "\n".join(" | ".join(row.values()) for _, row in above)
        yield Document(text, id=f"{source}#{sheet}", metadata={"source": f"{source}#{sheet}", "title": title, "sheet": sheet})
    if header is None:
        return
    columns = _row_values(filled[header][1], max(filled[header][1]))
    for number, row in filled[header + 1 :]:
        document = record_document(row_record(columns, row.items()), source, number, within=f"{sheet}!")
        document.metadata = {**document.metadata, "title": document.metadata["title"] or title, "sheet": sheet}
        yield document


def _find_header(rows: list[Row]) -> int | None:
    """Return the index of the header row: the first that is about as wide as the table and contains distinct words."""
    widths = sorted(len(row) for _, row in rows)
    usual = widths[len(widths) // 2] if widths else 0
    for place, (_, row) in enumerate(rows[:_MAX_HEADER_ROWS]):
        below, last = rows[place + 1 : place + 1 + _MAX_HEADER_ROWS], max(row)
        if len(row) < max(2, usual) or len(row) < last or not below:  # a header has no gaps, but for one
            continue
        if is_header(_row_values(row, last), [_row_values(cells, last) for _, cells in below]):
            return place
    return None


def _row_values(row: dict[int, str], last: int) -> list[str]:
    """Return a row's cells up to a column, "" for missing ones."""
    return [row.get(place, "") for place in range(last + 1)]


def _format_cell(value: Any) -> str:
    """Return a cell's value as text: an integer without a decimal point, a date without a time of midnight."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"  # as many digits as a workbook keeps
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    return str(value).strip()
