"""Read EPUB books: their pages, in reading order."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from langchain_core.documents import Document

from ramify.formats.office.containers import BOOK_PROPERTIES, open_container, parse_xml, read_properties
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import Outline, Section, section_documents
from ramify.tools.documents.text import decode_text, detect_encoding, file_stem
from ramify.tools.quoting import pluralize

if TYPE_CHECKING:
    from lxml.etree import _Element

_PAGE_TYPES = frozenset(["application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"])
_PAGE_SUFFIXES = (".xhtml", ".html", ".htm")
_PICTURE_TYPE = "image/svg+xml"
_ENCRYPTION = "META-INF/encryption.xml"
_MAX_NAMED_PAGES = 5
_MAX_FALLBACKS = 10


class _Item(NamedTuple):
    """A part of the book: its name in the archive, its type, and whether it is the table of contents."""

    name: str
    media_type: str
    is_contents: bool
    fallback: str

    @property
    def is_page(self) -> bool:
        """Return whether the part is a page with text."""
        return self.media_type in _PAGE_TYPES or self.name.lower().endswith(_PAGE_SUFFIXES) or self.media_type == _PICTURE_TYPE


class _Book:
    """The parts of a book, and the pages that cannot be read, by reason."""

    def __init__(self, archive: ZipFile, package: "_Element", root: str, source: str, report: ReadReport) -> None:
        self._archive, self._source, self._report = archive, source, report
        self._encrypted = _encrypted_names(archive)
        names = {name.lower(): name for name in reversed(archive.namelist())}
        self.items: dict[str, _Item] = {}
        for item in package.iterfind("{*}manifest/{*}item"):
            place = normpath(join(dirname(root), unquote(item.get("href", "").partition("#")[0]))).lstrip("/")
            is_contents = "nav" in (item.get("properties") or "").split()
            name = names.get(place.lower(), place)
            self.items[item.get("id", "")] = _Item(name, item.get("media-type", ""), is_contents, item.get("fallback", ""))
        self._unread: dict[str, list[str]] = {}

    def pages(self, references: Iterable[str]) -> Iterator[tuple[_Item, bytes]]:
        """Yield the pages of these ids, but for the table of contents."""
        for reference in references:
            item = self._page_item(reference)
            if item is None:
                self._unread.setdefault("not in the list of the book's parts", []).append(reference)
            elif not item.is_page:
                self._unread.setdefault(f"not text ({item.media_type})", []).append(item.name)
            elif (content := self._content(item)) is not None:
                if item.is_contents:
                    self._report.leave_out(self._source, "page of contents", [_plain_text(content)], "pages of contents")
                else:
                    yield item, content

    def close(self) -> None:
        """Remark on the pages that could not be read."""
        for reason, names in self._unread.items():
            named = ", ".join(names[:_MAX_NAMED_PAGES]) + (" …" if len(names) > _MAX_NAMED_PAGES else "")
            self._report.remark(self._source, f"{pluralize(len(names), 'page')} not read, {reason}: {named}")

    def _page_item(self, reference: str) -> _Item | None:
        """Return the part with an id, or that which may be read instead of it."""
        first = item = self.items.get(reference)
        for _ in range(_MAX_FALLBACKS):
            if item is None or item.is_page:
                break
            item = self.items.get(item.fallback)
        return first if item is None else item

    def _content(self, item: _Item) -> bytes | None:
        if item.name in self._encrypted:
            self._unread.setdefault("encrypted", []).append(item.name)
            return None
        try:
            return self._archive.read(item.name)
        except KeyError:
            self._unread.setdefault("missing in the file", []).append(item.name)
        except (BadZipFile, zlib.error, EOFError):
            self._unread.setdefault("damaged", []).append(item.name)
        return None


def read_epub(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a book as one document a section."""
    from ramify.formats.html.page import html_outline

    with open_container(path) as archive:
        place = parse_xml(archive.read("META-INF/container.xml")).find("{*}rootfiles/{*}rootfile")
        root = place.get("full-path", "") if place is not None else ""
        package = parse_xml(archive.read(root))
        stated = package.find("{*}metadata")
        report.state(source, {} if stated is None else read_properties(stated, BOOK_PROPERTIES))
        title = report.title or file_stem(path)
        book = _Book(archive, package, root, source, report)
        spine = list(dict.fromkeys(reference.get("idref", "") for reference in package.iterfind("{*}spine/{*}itemref")))
        others = [
            name for name, item in book.items.items() if name not in spine and item.media_type in _PAGE_TYPES and not item.is_contents
        ]
        pages = list(book.pages(spine))
        if spine:
            report.leave_out(
                source,
                "page outside the reading order",
                [text for _, content in book.pages(others) if (text := _plain_text(content))],
                "pages outside the reading order",
            )
        elif pages := list(book.pages(others)):
            report.remark(source, "the book states no reading order: its pages are read in the order of its list of parts")
        book.close()
    if not pages:
        raise UnreadableError("a book without pages")
    for item, content in pages:
        if item.media_type == _PICTURE_TYPE:
            outline = _picture_outline(content)
        else:
            text = decode_text(content, detect_encoding(content, f"{source}/{item.name}", report))
            outline = html_outline(text, source, report, is_site=False)
        yield from section_documents(outline._replace(title=title), source, title)


def _plain_text(content: bytes) -> str:
    """Return the words of a page that is not read."""
    from lxml.etree import ParserError, strip_elements
    from lxml.html import fromstring

    try:
        root = fromstring(content)
    except (ParserError, ValueError):
        return ""
    strip_elements(root, "script", "style", "head", with_tail=False)
    return " ".join(" ".join(root.itertext()).split())


def _picture_outline(content: bytes) -> Outline:
    """Return the texts of a page that is an SVG picture, a line each."""
    texts = (" ".join("".join(text.itertext()).split()) for text in parse_xml(content).iter("{*}text"))
    body = "\n".join(text for text in texts if text)
    return Outline(None, [Section((), body)] if body else [])


def _encrypted_names(archive: ZipFile) -> set[str]:
    """Return the names of the parts that are encrypted."""
    if _ENCRYPTION not in archive.namelist():
        return set()
    references = parse_xml(archive.read(_ENCRYPTION)).iter("{*}CipherReference")
    return {normpath(unquote(reference.get("URI", ""))).lstrip("/") for reference in references}


READER = FormatReader(read_epub, {"lxml.html": "lxml"})
