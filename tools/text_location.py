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
_FEWEST_WORDS, _END_WORDS = 3, 5
"""Words of a line that are looked for in an HTML file at least, and those of each end of a long one."""


def path_of(source: str, metadata: Mapping[str, Any]) -> str:
    """Return the absolute path of a source's file; empty if none is known, or one that is not the source's."""
    path = metadata.get("path")
    if not isinstance(path, str) or not path or CONTROL.search(path) or path.startswith(("//", "\\\\")):
        return ""
    pure = PurePath(path)
    if not pure.is_absolute() or ".." in pure.parts:
        return ""
    return path if any(pure.as_posix().endswith(f"/{file}") for file in _files(source)) else ""


def page_of(metadata: Mapping[str, Any]) -> int | None:
    """Return the page, counted from 1, if there is one."""
    page = metadata.get("page")
    return page if isinstance(page, int) and not isinstance(page, bool) and page > 0 else None


def printed_page(source: str, page: int | None) -> str:
    """Return the name of a page or slide by its number; empty if there is none."""
    slides = PurePath(source.lower().removesuffix(".gz")).suffix in _SLIDES
    return f"{'slide' if slides else 'page'} {page}" if page else ""


def link_of(source: str, metadata: Mapping[str, Any], quoted: str = "") -> str:
    """Return the URL of a passage's file, at its page or heading if the format has one; empty if no path is known.

    A browser scrolls an HTML file to what is `quoted` from it and highlights that (a text fragment), where a line of it is long enough.
    """
    path = path_of(source, metadata)
    if not path:
        return ""
    address, suffix = PurePath(path).as_uri(), PurePath(path).suffix.lower()
    page, fragment = page_of(metadata), metadata.get("fragment")
    if suffix in PAGED and page is not None:
        return f"{address}#page={page}"
    if suffix in MARKED_UP:
        at = quote(fragment, safe="", errors="replace") if isinstance(fragment, str) else ""
        marked = _text_fragment(quoted)
        return f"{address}#{at}{marked}" if at or marked else address
    return address


def _text_fragment(quoted: str) -> str:
    """Write the directive that marks a quotation: its longest line whole, or by its first and last words where that is long."""
    words = max((line.split() for line in quoted.splitlines()), key=len, default=[])
    if len(words) < _FEWEST_WORDS:
        return ""
    ends = [words] if len(words) <= 2 * _END_WORDS else [words[:_END_WORDS], words[-_END_WORDS:]]
    # A comma or a hyphen would be read as part of the directive.
    return ":~:text=" + ",".join(quote(" ".join(part), safe="", errors="replace").replace("-", "%2D") for part in ends)


def crumbs(title: str, heading: str) -> list[str]:
    """List the headings above a text, outermost first, without those that only repeat the title or each other."""
    parts = [" ".join(part.replace("¶", " ").split()) for part in heading.split(_CRUMBS)]
    name = " ".join(title.split()).casefold()
    folded = {part: part.casefold() for part in parts if part}
    return [part for part, low in folded.items() if not (name and (low.startswith(name) or name.startswith(low)))]


def names(places: Sequence[tuple[str, str]]) -> list[str]:
    """Name files, given as sources and paths, by their ends: from the folder that was given on, or as far up as tells them apart."""
    shown = [_ends(source, path) for source, path in places]
    chosen = [next(ends) for ends in shown]
    while True:
        files: dict[str, set[str]] = {}
        for name, (_, path) in zip(chosen, places, strict=True):
            files.setdefault(name, set()).add(path)
        clashes = [number for number, (name, (_, path)) in enumerate(zip(chosen, places, strict=True)) if path and len(files[name]) > 1]
        longer = {number: further for number in clashes if (further := next(shown[number], None)) is not None}
        if not longer:
            return chosen
        chosen = [longer.get(number, name) for number, name in enumerate(chosen)]


def _ends(source: str, path: str) -> Iterator[str]:
    """Yield the names of a file, the shortest first; without a path its source alone."""
    file = next((file for file in _files(source) if f"/{PurePath(path).as_posix()}".endswith(f"/{file}")), "") if path else ""
    if not file:
        yield source
        return
    above = PurePath(path).as_posix()[: -len(file)].strip("/").split("/")
    for count in range(1, len(above) + 1):
        folders = "/".join(above[-count:])
        yield f"{folders}/{source}" if folders else source


def _files(source: str) -> Iterator[str]:
    """Yield what of a source may be the file: all of it, or the part before the `#` of a record."""
    yield source
    for at, sign in enumerate(source):
        if sign == "#" and at:
            yield source[:at]
