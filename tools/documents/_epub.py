"""Read EPUB books: their pages, in reading order."""

from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.tools.documents._text import decode_text, detect_encoding, file_stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import BOOK_PROPERTIES, open_container, parse_xml, read_properties
from ramify.tools.documents.sections import section_documents

if TYPE_CHECKING:
    from lxml.etree import _Element

_EPUB_NAMESPACES = {"container": "urn:oasis:names:tc:opendocument:xmlns:container", "opf": "http://www.idpf.org/2007/opf"}
_PAGE_TYPES = ("application/xhtml+xml", "text/html")


def read_epub(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a book as one document a section."""
    from ramify.tools.documents._html import html_outline

    with open_container(path) as archive:
        if "META-INF/encryption.xml" in archive.namelist() and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
            report.remark(source, "parts of the file are encrypted")
        place = parse_xml(archive.read("META-INF/container.xml")).find("container:rootfiles/container:rootfile", _EPUB_NAMESPACES)
        root = place.get("full-path", "") if place is not None else ""
        package = parse_xml(archive.read(root))
        stated = package.find("opf:metadata", _EPUB_NAMESPACES)
        report.state(source, {} if stated is None else read_properties(stated, BOOK_PROPERTIES))
        title = report.title or file_stem(path)
        pages = [(name, archive.read(name)) for name in _page_names(archive, package, root)]
    if not pages:
        raise UnreadableError("a book without pages")
    for name, content in pages:
        outline = html_outline(decode_text(content, detect_encoding(content, f"{source}/{name}", report)))
        yield from section_documents(outline._replace(title=title), source, title)


def _page_names(archive: ZipFile, package: "_Element", root: str) -> Iterator[str]:
    """Yield the names of the book's pages in reading order."""
    items = {
        item.get("id"): item
        for item in package.iterfind("opf:manifest/opf:item", _EPUB_NAMESPACES)
        if item.get("media-type") in _PAGE_TYPES and "nav" not in (item.get("properties") or "").split()
    }
    held = set(archive.namelist())
    for reference in package.iterfind("opf:spine/opf:itemref", _EPUB_NAMESPACES):
        item = items.get(reference.get("idref"))
        name = normpath(join(dirname(root), unquote(item.get("href", "")))) if item is not None else ""
        if name in held:
            yield name
