"""The XML of OpenDocument: names with their usual prefixes, attributes, and the body of a file."""

from collections.abc import Iterator, Set
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ramify.formats.office.containers import parse_xml
from ramify.tools.documents.files import UnreadableError

if TYPE_CHECKING:
    from lxml.etree import _Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMESPACES = {name: f"{_OASIS}{name}:1.0" for name in ("office", "text", "table", "presentation", "style", "form", "chart")}
NAMESPACES |= {
    "draw": f"{_OASIS}drawing:1.0",
    "fo": f"{_OASIS}xsl-fo-compatible:1.0",
    "svg": f"{_OASIS}svg-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "xml": "http://www.w3.org/XML/1998/namespace",
    "math": "http://www.w3.org/1998/Math/MathML",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
    "drawooo": "http://openoffice.org/2010/draw",
    "field": "urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0",
}
_PREFIXES = {address: name for name, address in NAMESPACES.items()}

MAX_SPACES = 100
ELEMENT_TEXTS = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": ""}


def find_body(archive: ZipFile, kind: str) -> "_Element":
    """Return the body of a file of a kind, such as "office:text"."""
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise UnreadableError("protected by a password")
    body = parse_xml(archive.read("content.xml")).find(f"office:body/{kind}", NAMESPACES)
    if body is None:
        raise UnreadableError(f"contains no {kind.removeprefix('office:')}")
    return body


def outermost(element: "_Element", names: Set[str]) -> Iterator["_Element"]:
    """Yield the elements of these names within an element, without those nested in another of them."""
    for child in element:
        if prefixed_name(child) in names:
            yield child
        else:
            yield from outermost(child, names)


def text_of(element: "_Element") -> str:
    """Return the text of a cell, a line for each paragraph, without comments."""
    lines: list[str] = []
    for child in element:
        name = prefixed_name(child)
        if name in ("text:p", "text:h"):
            lines.append(_inline_text(child).strip())
        elif name != "office:annotation":
            lines.append(text_of(child))
    return "\n".join(filter(None, lines))


def _inline_text(element: "_Element") -> str:
    parts = [element.text or ""]
    for child in element:
        name = prefixed_name(child)
        if name == "text:s":
            parts.append(" " * min(number(child, "text:c", 1), MAX_SPACES))
        elif name in ELEMENT_TEXTS:
            parts.append(ELEMENT_TEXTS[name])
        elif name and name != "office:annotation":
            parts.append(_inline_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def attribute(element: "_Element", name: str, default: str = "") -> str:
    """Return an attribute by its prefixed name."""
    return element.get(qualified_name(name)) or default


def number(element: "_Element", name: str, default: int) -> int:
    """Return an attribute that is a whole number; the default if it is something else."""
    text = attribute(element, name)
    return int(text) if text.isdecimal() and len(text) < 10 else default


@cache
def qualified_name(name: str) -> str:
    """Return a prefixed name as lxml writes it."""
    prefix, local = name.split(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def prefixed_name(element: "_Element") -> str:
    """Return the name of an element with its usual prefix; ":name" if its namespace is unknown."""
    return _prefixed(element.tag)


@lru_cache(maxsize=1024)
def _prefixed(tag: object) -> str:
    if not isinstance(tag, str):
        return ""  # a processing instruction
    address, _, local = tag.removeprefix("{").rpartition("}")
    return f"{_PREFIXES.get(address, '')}:{local}"
