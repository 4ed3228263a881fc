"""Books (epub): web pages in an order that the book gives, each read as one."""

from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.html import html_outline
from ramify.tools.documents.office.container import BOOK, container, dublin_core, parse_xml
from ramify.tools.documents.sections import section_documents
from ramify.tools.documents.text import decoded, encoding_of, stem

if TYPE_CHECKING:
    from lxml.etree import _Element

_NAMES = {"container": "urn:oasis:names:tc:opendocument:xmlns:container", "opf": "http://www.idpf.org/2007/opf"}
_PAGES = ("application/xhtml+xml", "text/html")


def read_epub(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a book as one document a section."""
    with container(path) as archive:
        if "META-INF/encryption.xml" in archive.namelist() and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
            report.remark(source, "parts of it are encrypted")
        place = parse_xml(archive.read("META-INF/container.xml")).find("container:rootfiles/container:rootfile", _NAMES)
        root = place.get("full-path", "") if place is not None else ""
        package = parse_xml(archive.read(root))
        stated = package.find("opf:metadata", _NAMES)
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
        for item in package.iterfind("opf:manifest/opf:item", _NAMES)
        if item.get("media-type") in _PAGES and "nav" not in (item.get("properties") or "").split()
    }
    held = set(archive.namelist())
    for reference in package.iterfind("opf:spine/opf:itemref", _NAMES):
        item = items.get(reference.get("idref"))
        name = normpath(join(dirname(root), unquote(item.get("href", "")))) if item is not None else ""
        if name in held:
            yield name
