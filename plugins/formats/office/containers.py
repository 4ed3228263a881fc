"""Open the ZIP containers of office formats within limits, parse their XML parts, and read their metadata."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.text import MAX_BYTES, read_unpacked

if TYPE_CHECKING:
    from lxml.etree import _Element

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
        reason = "too deeply nested" if "xcessive depth" in str(error.msg) else f"not readable XML: {error.msg}"
        raise UnreadableError(reason) from error


def iterate_xml(content: bytes, *names: str) -> Iterator["_Element"]:
    """Yield the elements with these local names of a long XML part, each without those before it, so that memory stays small."""
    from lxml import etree

    if b"<!ENTITY" in content.replace(b"\0", b""):
        raise UnreadableError("declares entities, which no program writes")
    elements = etree.iterparse(
        io.BytesIO(content), tag=tuple(f"{{*}}{name}" for name in names), resolve_entities=False, no_network=True, load_dtd=False
    )
    try:
        for _, element in elements:
            yield element
            element.clear()
            while (before := element.getprevious()) is not None:
                before.getparent().remove(before)
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
    parts = archive.namelist()
    for part, names in (("docProps/core.xml", _CORE_PROPERTIES), ("meta.xml", _META_PROPERTIES)):
        if part in parts:
            try:
                report.state(source, read_properties(parse_xml(archive.read(part)), names))
            except UnreadableError as error:
                report.remark(source, f"its metadata cannot be read: {error}")


def read_properties(element: "_Element", names: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts of elements, under the names given for them."""
    properties: dict[str, Any] = {}
    for local, name in names.items():
        texts = [" ".join(inner.text.split()) for inner in element.iter(f"{{*}}{local}") if inner.text and inner.text.strip()]
        if texts:
            properties.setdefault(name, texts if name in _LIST_PROPERTIES and len(texts) > 1 else texts[0])
    return properties
