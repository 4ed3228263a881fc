"""The text of OpenDocument's elements."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ramify.tools.documents.sections import Line

if TYPE_CHECKING:
    from lxml.etree import _Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = {name: f"{_OASIS}{name}:1.0" for name in ("office", "text", "table", "presentation")}
NAMES |= {"draw": f"{_OASIS}drawing:1.0", "dc": "http://purl.org/dc/elements/1.1/"}
_SHORT = {address: name for name, address in NAMES.items()}
_BLOCKS = {"text:p", "text:h"}
_UNSEEN = {"office:annotation", "text:tracked-changes", "text:sequence-decls", "text:table-of-content", "office:forms", "text:index-title"}
_WRITTEN = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": ""}
_MOST_SPACES = 100


def lines_of(element: "_Element") -> Iterator[Line]:
    """Yield headings with their level, and the text between them; notes follow the paragraph that they stand at."""
    for child in element:
        name = _name(child)
        if name in _UNSEEN:
            continue
        if name == "text:h":
            yield _level(child), " ".join(_inline(child).split())
        elif name == "text:p":
            yield 0, f"{_inline(child).strip()}\n\n"
        elif name == "table:table":
            yield 0, "\n"
            yield from ((0, f"{row}\n") for row in _table(child))
            yield 0, "\n"
        elif name == "text:list-item":
            yield 0, f"- {text_of(child).strip()}\n"
        else:
            yield from lines_of(child)
        if name in _BLOCKS:
            yield from ((0, f"{note}\n\n") for note in _notes(child))
            yield from (line for frame in child.iter(_full("draw:text-box")) for line in lines_of(frame))


def text_of(element: "_Element") -> str:
    """Return all text of an element, a paragraph a line."""
    return "".join(line if level == 0 else f"{line}\n\n" for level, line in lines_of(element)).replace("\n\n", "\n").strip("\n")


def _table(table: "_Element") -> Iterator[str]:
    for row in table.iter(_full("table:table-row")):
        cells = [" ".join(text_of(cell).split()) for cell in row if _name(cell) == "table:table-cell"]
        if any(cells):
            yield " | ".join(cells)


def _notes(paragraph: "_Element") -> Iterator[str]:
    for note in paragraph.iter(_full("text:note")):
        body = note.find("text:note-body", NAMES)
        yield f"[{note.findtext('text:note-citation', '', NAMES)}] {text_of(body) if body is not None else ''}"


def _inline(element: "_Element") -> str:
    """Return the text of a paragraph, with the marks of its notes."""
    parts = [element.text or ""]
    for child in element:
        name = _name(child)
        if name == "text:s":
            parts.append(" " * min(int(child.get(_full("text:c")) or 1), _MOST_SPACES))
        elif name == "text:note":
            parts.append(f"[{child.findtext('text:note-citation', '', NAMES)}]")
        elif name in _WRITTEN:
            parts.append(_WRITTEN[name])
        elif name not in _UNSEEN and name != "draw:frame" and isinstance(child.tag, str):
            parts.append(_inline(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _level(heading: "_Element") -> int:
    return min(max(int(heading.get(_full("text:outline-level")) or 1), 1), 6)


def _full(name: str) -> str:
    prefix, local = name.split(":")
    return f"{{{NAMES[prefix]}}}{local}"


def _name(element: "_Element") -> str:
    if not isinstance(element.tag, str):
        return ""
    address, _, local = element.tag.removeprefix("{").rpartition("}")
    return f"{_SHORT.get(address, '')}:{local}"
