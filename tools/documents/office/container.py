"""Zip containers of XML (office documents, books): opened within limits, parsed without entities, and their Dublin Core properties."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.text import MOST_BYTES, content_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_MOST_PARTS = 20_000
_MOST_RATIO = 200
"""More than this from one byte is no document, once it is more than a few MB."""
_FEW_BYTES = 1 << 25
_OLDER_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 0x1


@contextmanager
def container(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a container and look through it: UnreadableError for one that is damaged, secret or a bomb."""
    with io.BytesIO(content_of(path)) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        if file.read(4) == _OLDER_OFFICE:
            raise UnreadableError("protected by a password, or of an older format with this ending")
        try:
            with zipfile.ZipFile(file) as archive:
                _check_directory(archive)
                yield archive
        except (zipfile.BadZipFile, NotImplementedError, KeyError, UnicodeDecodeError) as error:
            raise UnreadableError(f"not a readable document: {str(error).strip(chr(34))}") from error


@contextmanager
def office_file(path: Path) -> Iterator[BinaryIO]:
    """Open a container of XML for a library that reads it: it is within limits and declares no entities."""
    with container(path) as archive:
        for part in archive.infolist():
            if b"<!ENTITY" in archive.read(part).replace(b"\0", b""):
                raise UnreadableError(f"declares entities in {part.filename!r}, which no program writes")
        file = archive.fp
        assert file is not None
        file.seek(0)
        yield io.BytesIO(file.read())


def parse_xml(content: bytes) -> "_Element":
    """Parse a part of a container: no entities, no network, nothing huge."""
    from lxml import etree

    if b"<!ENTITY" in content.replace(b"\0", b""):
        raise UnreadableError("declares entities, which no program writes")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True)
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"not readable XML: {error.msg}") from error


def _check_directory(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise UnreadableError("protected by a password")
    if len(parts) > _MOST_PARTS:
        raise UnreadableError(f"has {len(parts):,} parts, more than any document")
    if unpacked > MOST_BYTES or unpacked > max(_MOST_RATIO * packed, _FEW_BYTES):
        raise UnreadableError(f"would unpack {packed:,} bytes to {unpacked:,}, more than any document")


_CORE = {
    "title": "title", "creator": "author", "created": "date", "modified": "modified", "subject": "subject", "description": "description",
    "keywords": "tags", "category": "category", "language": "language",
}  # fmt: skip
_META = {
    "title": "title", "initial-creator": "author", "creator": "author", "creation-date": "date", "date": "modified", "subject": "subject",
    "description": "description", "keyword": "tags", "language": "language",
}  # fmt: skip
BOOK = {
    "title": "title", "creator": "author", "date": "date", "subject": "tags", "description": "description", "language": "language",
    "publisher": "publisher",
}  # fmt: skip
"""The elements of each, and the names that all formats share; of two elements of one name the first that says something."""
_SEVERAL = ("author", "tags")


def state_core(file: BinaryIO, source: str, report: ReadReport) -> None:
    """Tell the core properties of a file of Microsoft's formats."""
    with ZipFile(file) as archive:
        _state(archive, "docProps/core.xml", _CORE, source, report)


def state_meta(archive: ZipFile, source: str, report: ReadReport) -> None:
    """Tell the properties of a file of OpenDocument."""
    _state(archive, "meta.xml", _META, source, report)


def dublin_core(element: "_Element", names: Mapping[str, str]) -> dict[str, Any]:
    """Return what the elements below one say, by the names given for them."""
    found: dict[str, Any] = {}
    for local, name in names.items():
        texts = [" ".join(one.text.split()) for one in element.iter(f"{{*}}{local}") if one.text and one.text.strip()]
        if texts:
            found.setdefault(name, texts if name in _SEVERAL and len(texts) > 1 else texts[0])
    return found


def _state(archive: ZipFile, part: str, names: Mapping[str, str], source: str, report: ReadReport) -> None:
    if part not in archive.namelist():
        return
    try:
        report.state(source, dublin_core(parse_xml(archive.read(part)), names))
    except UnreadableError as error:
        report.remark(source, f"its properties cannot be read: {error}")
