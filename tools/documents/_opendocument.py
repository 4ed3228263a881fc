"""OpenDocument texts, tables and slides; and EPUB books."""

from collections.abc import Iterator, Set
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.tools.documents._text import decoded, encoding_of, stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import (
    BOOK,
    Row,
    container,
    dublin_core,
    parse_xml,
    sheet_documents,
    slide_document,
    state_properties,
)
from ramify.tools.documents.sections import LeveledLine, Outline, section_documents, sections_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMES = {name: f"{_OASIS}{name}:1.0" for name in ("office", "text", "table", "presentation")}
_NAMES |= {"draw": f"{_OASIS}drawing:1.0"}
_SHORT = {address: name for name, address in _NAMES.items()}
_BLOCKS = {"text:p", "text:h"}
_APART = {"text:note", "draw:text-box"}
"""What stands in a paragraph and is told after it."""
_UNSEEN = {"office:annotation", "text:tracked-changes", "text:sequence-decls", "text:table-of-content", "office:forms", "text:index-title"}
_WRITTEN = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": ""}
_MOST_SPACES = 100
_MOST_REPEATED = 1000
"""A cell or row that stands more often than this, one after another, is kept once."""


def read_odt(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a text document as one document a section."""
    with container(path) as archive:
        body = _body(archive, "office:text")
        state_properties(archive, source, report)
    lines = list(_lines_of(body))
    first = next((text.strip() for level, text in lines if level == 1), None)
    yield from section_documents(Outline(report.title or first, sections_of(lines)), source, stem(path))


def read_odp(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    with container(path) as archive:
        body = _body(archive, "office:presentation")
        state_properties(archive, source, report)
    for number, slide in enumerate(body.iterfind("draw:page", _NAMES), start=1):
        notes = slide.find("presentation:notes", _NAMES)
        if notes is not None:
            slide.remove(notes)
        frames = [(frame.get(_full("presentation:class")), _text_of(frame)) for frame in slide]
        heading = next((" ".join(text.split()) for kind, text in frames if kind == "title"), "")
        said = notes.iterfind("draw:frame[@presentation:class='notes']", _NAMES) if notes is not None else ()
        spoken = "\n".join(_text_of(frame) for frame in said).strip()
        parts = [*(text for kind, text in frames if kind != "title"), f"Notes: {spoken}" if spoken else ""]
        yield slide_document(source, report.title or stem(path), number, heading, parts)


def read_ods(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets: a record a row where there is a header."""
    with container(path) as archive:
        body = _body(archive, "office:spreadsheet")
        state_properties(archive, source, report)
    for sheet in body.iterfind("table:table", _NAMES):
        yield from sheet_documents(_rows(sheet), source, sheet.get(_full("table:name")) or "", report.title or stem(path))


def _rows(sheet: "_Element") -> Iterator[Row]:
    number = 1
    for row in _outermost(sheet, {"table:table-row"}):
        cells: dict[int, str] = {}
        place = 0
        for cell in row:
            text, times = _text_of(cell).strip(), _repeated(cell, "number-columns-repeated")
            if text:
                cells |= dict.fromkeys(range(place, place + (times if times <= _MOST_REPEATED else 1)), text)
            place += times
        times = _repeated(row, "number-rows-repeated")
        if cells:
            yield from ((number + after, cells) for after in range(times if times <= _MOST_REPEATED else 1))
        number += times


def _repeated(element: "_Element", name: str) -> int:
    return int(element.get(_full(f"table:{name}")) or 1)


def _body(archive: ZipFile, kind: str) -> "_Element":
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise UnreadableError("protected by a password")
    body = parse_xml(archive.read("content.xml")).find(f"office:body/{kind}", _NAMES)
    if body is None:
        raise UnreadableError(f"no {kind.removeprefix('office:')} in it")
    return body


def _lines_of(element: "_Element") -> Iterator[LeveledLine]:
    """Yield headings with their level, and the text between them; notes follow the paragraph that they stand at."""
    for child in element:
        name = _name(child)
        if name in _UNSEEN:
            continue
        if name == "text:h":
            level = int(child.get(_full("text:outline-level")) or 1)
            yield min(max(level, 1), 6), " ".join(_inline(child).split())
        elif name == "text:p":
            yield 0, f"{_inline(child).strip()}\n\n"
        elif name == "table:table":
            yield 0, "\n"
            yield from ((0, f"{row}\n") for row in _table(child))
            yield 0, "\n"
        elif name == "text:list-item":
            yield 0, f"- {_text_of(child).strip()}\n"
        else:
            yield from _lines_of(child)
        if name in _BLOCKS:
            apart = list(_outermost(child, _APART))
            yield from ((0, f"{_note(note)}\n\n") for note in apart if _name(note) == "text:note")
            yield from (line for box in apart if _name(box) == "draw:text-box" for line in _lines_of(box))


def _text_of(element: "_Element") -> str:
    """Return all text of an element, a paragraph a line."""
    return "".join(line if level == 0 else f"{line}\n\n" for level, line in _lines_of(element)).replace("\n\n", "\n").strip("\n")


def _table(table: "_Element") -> Iterator[str]:
    for row in _outermost(table, {"table:table-row"}):
        cells = [" ".join(_text_of(cell).split()) for cell in row if _name(cell) == "table:table-cell"]
        if any(cells):
            yield " | ".join(cells)


def _outermost(element: "_Element", names: Set[str]) -> Iterator["_Element"]:
    """Yield the elements of these names that are in an element and not in another of them: what is in that one is its own to tell."""
    for child in element:
        if _name(child) in names:
            yield child
        else:
            yield from _outermost(child, names)


def _note(note: "_Element") -> str:
    body = note.find("text:note-body", _NAMES)
    return f"[{note.findtext('text:note-citation', '', _NAMES)}] {_text_of(body) if body is not None else ''}"


def _inline(element: "_Element") -> str:
    """Return the text of a paragraph, with the marks of its notes."""
    parts = [element.text or ""]
    for child in element:
        name = _name(child)
        if name == "text:s":
            parts.append(" " * min(int(child.get(_full("text:c")) or 1), _MOST_SPACES))
        elif name == "text:note":
            parts.append(f"[{child.findtext('text:note-citation', '', _NAMES)}]")
        elif name in _WRITTEN:
            parts.append(_WRITTEN[name])
        elif name not in _UNSEEN and name != "draw:frame" and isinstance(child.tag, str):
            parts.append(_inline(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _full(name: str) -> str:
    prefix, local = name.split(":")
    return f"{{{_NAMES[prefix]}}}{local}"


def _name(element: "_Element") -> str:
    if not isinstance(element.tag, str):
        return ""
    address, _, local = element.tag.removeprefix("{").rpartition("}")
    return f"{_SHORT.get(address, '')}:{local}"


_NAMESPACES = {"container": "urn:oasis:names:tc:opendocument:xmlns:container", "opf": "http://www.idpf.org/2007/opf"}
_PAGES = ("application/xhtml+xml", "text/html")


def read_epub(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a book as one document a section."""
    from ramify.tools.documents._html import html_outline

    with container(path) as archive:
        if "META-INF/encryption.xml" in archive.namelist() and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
            report.remark(source, "parts of it are encrypted")
        place = parse_xml(archive.read("META-INF/container.xml")).find("container:rootfiles/container:rootfile", _NAMESPACES)
        root = place.get("full-path", "") if place is not None else ""
        package = parse_xml(archive.read(root))
        stated = package.find("opf:metadata", _NAMESPACES)
        report.state(source, {} if stated is None else dublin_core(stated, BOOK))
        title = report.title or stem(path)
        pages = [(name, archive.read(name)) for name in _spine(archive, package, root)]
    if not pages:
        raise UnreadableError("a book without pages")
    for name, content in pages:
        outline = html_outline(decoded(content, encoding_of(content, f"{source}/{name}", report)))
        yield from section_documents(outline._replace(title=title), source, title)


def _spine(archive: ZipFile, package: "_Element", root: str) -> Iterator[str]:
    """Yield the names of the book's pages in order of reading."""
    items = {
        item.get("id"): item
        for item in package.iterfind("opf:manifest/opf:item", _NAMESPACES)
        if item.get("media-type") in _PAGES and "nav" not in (item.get("properties") or "").split()
    }
    held = set(archive.namelist())
    for reference in package.iterfind("opf:spine/opf:itemref", _NAMESPACES):
        item = items.get(reference.get("idref"))
        name = normpath(join(dirname(root), unquote(item.get("href", "")))) if item is not None else ""
        if name in held:
            yield name
