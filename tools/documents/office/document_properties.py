"""What office files and books say of themselves: elements of Dublin Core in a part of the container."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.office.container import parsed

if TYPE_CHECKING:
    from lxml.etree import _Element

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


def state_core(file: BinaryIO, source: str, told: Told) -> None:
    """Tell the core properties of a file of Microsoft's formats."""
    with ZipFile(file) as archive:
        _state(archive, "docProps/core.xml", _CORE, source, told)


def state_meta(archive: ZipFile, source: str, told: Told) -> None:
    """Tell the properties of a file of OpenDocument."""
    _state(archive, "meta.xml", _META, source, told)


def dublin_core(element: "_Element", names: Mapping[str, str]) -> dict[str, Any]:
    """Return what the elements below one say, by the names given for them."""
    found: dict[str, Any] = {}
    for local, name in names.items():
        texts = [" ".join(one.text.split()) for one in element.iter(f"{{*}}{local}") if one.text and one.text.strip()]
        if texts:
            found.setdefault(name, texts if name in _SEVERAL and len(texts) > 1 else texts[0])
    return found


def _state(archive: ZipFile, part: str, names: Mapping[str, str], source: str, told: Told) -> None:
    if part not in archive.namelist():
        return
    try:
        told.state(source, dublin_core(parsed(archive.read(part)), names))
    except UnreadableError as error:
        told.remark(source, f"its properties cannot be read: {error}")
