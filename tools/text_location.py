"""Where a text lies: the file as a reader would name it, the headings above it, and the link that opens it.

What an index keeps beside a passage may come from a document. So a link is only ever made of the path of the very file that the source
names, and only ever opens that file.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ramify.tools.quoting import CONTROL

PAGED = frozenset({".pdf"})
"""Files whose viewers open at `#page=N`."""
MARKED_UP = frozenset({".html", ".htm", ".xhtml"})
"""Files that a browser opens at an id."""
_SLIDES = frozenset({".pptx", ".odp"})
_CRUMBS = " > "


def path_of(source: str, metadata: Mapping[str, Any]) -> str:
    """Give the absolute path of the file that a source names; empty where none is known, or one that is not the source's."""
    path = metadata.get("path")
    if not isinstance(path, str) or not path or CONTROL.search(path) or path.startswith(("//", "\\\\")):
        return ""
    pure = PurePath(path)
    if not pure.is_absolute() or ".." in pure.parts:
        return ""
    return path if any(pure.as_posix().endswith(f"/{file}") for file in _files(source)) else ""


def page_of(metadata: Mapping[str, Any]) -> int | None:
    """Give the page, counted from 1; None where there is none."""
    page = metadata.get("page")
    return page if isinstance(page, int) and not isinstance(page, bool) and page > 0 else None


def printed_page(source: str, page: int | None) -> str:
    """Name a page, or a slide of a presentation, by its number; empty where there is none."""
    slides = PurePath(source.lower().removesuffix(".gz")).suffix in _SLIDES
    return f"{'slide' if slides else 'page'} {page}" if page else ""


def link_of(source: str, metadata: Mapping[str, Any]) -> str:
    """Give the address that opens a passage's file, at its page or heading where the format has one; empty where no path is known."""
    path = path_of(source, metadata)
    if not path:
        return ""
    address, suffix = PurePath(path).as_uri(), PurePath(path).suffix.lower()
    page, fragment = page_of(metadata), metadata.get("fragment")
    if suffix in PAGED and page is not None:
        return f"{address}#page={page}"
    if suffix in MARKED_UP and isinstance(fragment, str) and fragment:
        return f"{address}#{quote(fragment, safe='', errors='replace')}"
    return address


def crumbs(title: str, heading: str) -> list[str]:
    """List the headings above a text, outermost first, without those that only repeat the title or each other."""
    parts = [" ".join(part.replace("¶", " ").split()) for part in heading.split(_CRUMBS)]
    told = " ".join(title.split()).casefold()
    return [part for part in dict.fromkeys(parts) if part and not (told and _repeats(part.casefold(), told))]


def _repeats(part: str, title: str) -> bool:
    return part.startswith(title) or title.startswith(part)


def names(places: Sequence[tuple[str, str]]) -> list[str]:
    """Name files, given as sources and paths, by their ends: from the folder that was given on, or as far up as tells them apart."""
    shown = [_ends(source, path) for source, path in places]
    told = [next(ends) for ends in shown]
    while clashes := _clashes(told, places):
        longer = {number: name for number in clashes if (name := next(shown[number], None)) is not None}
        if not longer:
            break
        told = [longer.get(number, name) for number, name in enumerate(told)]
    return told


def _clashes(told: Sequence[str], places: Sequence[tuple[str, str]]) -> list[int]:
    """Number the names that stand for different files."""
    files: dict[str, set[str]] = {}
    for name, (_, path) in zip(told, places, strict=True):
        files.setdefault(name, set()).add(path)
    return [number for number, (name, (_, path)) in enumerate(zip(told, places, strict=True)) if path and len(files[name]) > 1]


def _ends(source: str, path: str) -> Iterator[str]:
    """Give the names that a file may go by, the shortest first; without a path its source alone."""
    file = next((file for file in _files(source) if f"/{PurePath(path).as_posix()}".endswith(f"/{file}")), "") if path else ""
    if not file:
        yield source
        return
    above = PurePath(path).as_posix()[: -len(file)].strip("/").split("/")
    for count in range(1, len(above) + 1):
        folders = "/".join(above[-count:])
        yield f"{folders}/{source}" if folders else source


def _files(source: str) -> Iterator[str]:
    """Give what of a source may be the file: all of it, or what is before the `#` of a record."""
    yield source
    for at, sign in enumerate(source):
        if sign == "#" and at:
            yield source[:at]
