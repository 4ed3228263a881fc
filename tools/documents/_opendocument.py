"""OpenDocument texts and slides."""

from collections.abc import Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.tools.documents._slides import slide_document
from ramify.tools.documents._text import file_stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import open_container, parse_xml, report_properties
from ramify.tools.documents.sections import LeveledLine, Outline, only_main_heading, section_documents, split_sections

if TYPE_CHECKING:
    from lxml.etree import _Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMESPACES = {name: f"{_OASIS}{name}:1.0" for name in ("office", "text", "table", "presentation")}
NAMESPACES |= {"draw": f"{_OASIS}drawing:1.0"}
_PREFIXES = {address: name for name, address in NAMESPACES.items()}
_TEXT_BLOCKS = {"text:p", "text:h"}
_SEPARATE_ELEMENTS = {"text:note", "draw:text-box"}
"""Elements within a paragraph whose text is written after it."""
_HIDDEN_ELEMENTS = {
    "office:annotation",
    "text:tracked-changes",
    "text:sequence-decls",
    "text:table-of-content",
    "office:forms",
    "text:index-title",
}
_ELEMENT_TEXTS = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": ""}
_MAX_SPACES = 100


def read_odt(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a text document as one document a section."""
    with open_container(path) as archive:
        body = find_body(archive, "office:text")
        report_properties(archive, source, report)
    lines = list(_leveled_lines(body))
    yield from section_documents(Outline(report.title or only_main_heading(lines), split_sections(lines)), source, file_stem(path))


def read_odp(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    with open_container(path) as archive:
        body = find_body(archive, "office:presentation")
        report_properties(archive, source, report)
    for number, slide in enumerate(body.iterfind("draw:page", NAMESPACES), start=1):
        notes = slide.find("presentation:notes", NAMESPACES)
        if notes is not None:
            slide.remove(notes)
        frames = [(frame.get(qualified_name("presentation:class")), text_of(frame)) for frame in slide]
        heading = next((" ".join(text.split()) for kind, text in frames if kind == "title"), "")
        said = notes.iterfind("draw:frame[@presentation:class='notes']", NAMESPACES) if notes is not None else ()
        spoken = "\n".join(text_of(frame) for frame in said).strip()
        parts = [*(text for kind, text in frames if kind != "title"), f"Notes: {spoken}" if spoken else ""]
        yield slide_document(source, report.title or file_stem(path), number, heading, parts)


def find_body(archive: ZipFile, kind: str) -> "_Element":
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise UnreadableError("protected by a password")
    body = parse_xml(archive.read("content.xml")).find(f"office:body/{kind}", NAMESPACES)
    if body is None:
        raise UnreadableError(f"contains no {kind.removeprefix('office:')}")
    return body


def _leveled_lines(element: "_Element") -> Iterator[LeveledLine]:
    """Yield headings with their level, and the text between them; notes follow their paragraph."""
    for child in element:
        name = _prefixed_name(child)
        if name in _HIDDEN_ELEMENTS:
            continue
        if name == "text:h":
            level = int(child.get(qualified_name("text:outline-level")) or 1)
            yield min(max(level, 1), 6), " ".join(_inline_text(child).split())
        elif name == "text:p":
            yield 0, f"{_inline_text(child).strip()}\n\n"
        elif name == "table:table":
            yield 0, "\n"
            yield from ((0, f"{row}\n") for row in _table_rows(child))
            yield 0, "\n"
        elif name == "text:list-item":
            yield 0, f"- {text_of(child).strip()}\n"
        else:
            yield from _leveled_lines(child)
        if name in _TEXT_BLOCKS:
            apart = list(outermost(child, _SEPARATE_ELEMENTS))
            yield from ((0, f"{_note_text(note)}\n\n") for note in apart if _prefixed_name(note) == "text:note")
            yield from (line for box in apart if _prefixed_name(box) == "draw:text-box" for line in _leveled_lines(box))


def text_of(element: "_Element") -> str:
    """Return all text of an element, one line per paragraph."""
    return "".join(line if level == 0 else f"{line}\n\n" for level, line in _leveled_lines(element)).replace("\n\n", "\n").strip("\n")


def _table_rows(table: "_Element") -> Iterator[str]:
    for row in outermost(table, {"table:table-row"}):
        cells = [" ".join(text_of(cell).split()) for cell in row if _prefixed_name(cell) == "table:table-cell"]
        if any(cells):
            yield " | ".join(cells)


def outermost(element: "_Element", names: Set[str]) -> Iterator["_Element"]:
    """Yield the elements of these names within an element, without those nested in another of them."""
    for child in element:
        if _prefixed_name(child) in names:
            yield child
        else:
            yield from outermost(child, names)


def _note_text(note: "_Element") -> str:
    body = note.find("text:note-body", NAMESPACES)
    return f"[{note.findtext('text:note-citation', '', NAMESPACES)}] {text_of(body) if body is not None else ''}"


def _inline_text(element: "_Element") -> str:
    """Return the text of a paragraph, with the reference marks of its notes."""
    parts = [element.text or ""]
    for child in element:
        name = _prefixed_name(child)
        if name == "text:s":
            parts.append(" " * min(int(child.get(qualified_name("text:c")) or 1), _MAX_SPACES))
        elif name == "text:note":
            parts.append(f"[{child.findtext('text:note-citation', '', NAMESPACES)}]")
        elif name in _ELEMENT_TEXTS:
            parts.append(_ELEMENT_TEXTS[name])
        elif name not in _HIDDEN_ELEMENTS and name != "draw:frame" and isinstance(child.tag, str):
            parts.append(_inline_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def qualified_name(name: str) -> str:
    prefix, local = name.split(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _prefixed_name(element: "_Element") -> str:
    if not isinstance(element.tag, str):
        return ""
    address, _, local = element.tag.removeprefix("{").rpartition("}")
    return f"{_PREFIXES.get(address, '')}:{local}"
