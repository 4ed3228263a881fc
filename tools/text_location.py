"""The location of a text: a readable name of its file, the headings above it, and a link that opens it.

A passage's metadata may come from an untrusted document. So a link is only made from the path of the file that the source names, and opens
only that file.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ramify.tools.quoting import CONTROL

PAGE_FORMATS = frozenset({".pdf"})
"""Formats whose viewers open at `#page=N`."""
HTML_FORMATS = frozenset({".html", ".htm", ".xhtml"})
"""Formats that a browser opens at an id."""
CONTAINER_FORMATS = (".zip", ".eml", ".mbox")
"""Formats of files that contain files: a link opens the outer one."""
_SLIDES = frozenset({".pptx", ".odp"})
_HEADING_SEPARATOR = " > "
_MIN_FRAGMENT_WORDS, _FRAGMENT_END_WORDS = 3, 5
"""Least words of a text fragment, and the words of each end of a longer one."""


def source_path(source: str, metadata: Mapping[str, Any]) -> str:
    """Return the absolute path of a source's file; empty if it is unknown or belongs to another file."""
    path = metadata.get("path")
    if not isinstance(path, str) or not path or CONTROL.search(path) or path.startswith(("//", "\\\\")):
        return ""
    pure = PurePath(path)
    if not pure.is_absolute() or ".." in pure.parts:
        return ""
    return path if any(pure.as_posix().endswith(f"/{file}") for file in _candidate_files(source)) else ""


def page_number(metadata: Mapping[str, Any]) -> int | None:
    """Return the page, counted from 1, if there is one."""
    page = metadata.get("page")
    return page if isinstance(page, int) and not isinstance(page, bool) and page > 0 else None


def printed_page(source: str, page: int | None, read_by: object = None) -> str:
    """Return the name of a page or slide by its number, and whether it was read with OCR; empty if there is neither."""
    slides = PurePath(source.lower().removesuffix(".gz")).suffix in _SLIDES
    return ", ".join([f"{'slide' if slides else 'page'} {page}"] * bool(page) + ["OCR"] * (read_by == "ocr"))


def source_link(source: str, metadata: Mapping[str, Any], quoted: str = "") -> str:
    """Return the URL of a passage's file, at its page or heading if the format has one; empty if no path is known.

    `quoted`: text that a browser highlights in an HTML file (a text fragment), if one of its lines is long enough.
    """
    path = source_path(source, metadata)
    if not path:
        return ""
    address, suffix = PurePath(path).as_uri(), PurePath(path).suffix.lower()
    page, fragment = page_number(metadata), metadata.get("fragment")
    if suffix in PAGE_FORMATS and page is not None:
        return f"{address}#page={page}"
    if suffix in HTML_FORMATS:
        at = quote(fragment, safe="", errors="replace") if isinstance(fragment, str) else ""
        marked = _text_fragment(quoted)
        return f"{address}#{at}{marked}" if at or marked else address
    return address


def _text_fragment(quoted: str) -> str:
    """Return the text fragment directive of a quotation: its longest line, or the first and last words of that."""
    words = max((line.split() for line in quoted.splitlines()), key=len, default=[])
    if len(words) < _MIN_FRAGMENT_WORDS:
        return ""
    ends = [words] if len(words) <= 2 * _FRAGMENT_END_WORDS else [words[:_FRAGMENT_END_WORDS], words[-_FRAGMENT_END_WORDS:]]
    # A comma or a hyphen would be read as part of the directive.
    return ":~:text=" + ",".join(quote(" ".join(part), safe="", errors="replace").replace("-", "%2D") for part in ends)


def heading_path(title: str, heading: str) -> list[str]:
    """Return the headings above a text, outermost first, without repetitions of the title or each other."""
    parts = [" ".join(part.replace("¶", " ").split()) for part in heading.split(_HEADING_SEPARATOR)]
    name = " ".join(title.split()).casefold()
    folded = {part: part.casefold() for part in parts if part}
    return [part for part, low in folded.items() if not (name and (low.startswith(name) or name.startswith(low)))]


def distinct_names(places: Sequence[tuple[str, str]]) -> list[str]:
    """Return short names for files, given as (source, path): the source, with as many parent folders as make the names distinct."""
    shown = [_candidate_names(source, path) for source, path in places]
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


def _candidate_names(source: str, path: str) -> Iterator[str]:
    """Yield possible names of a file, the shortest first; without a path only its source."""
    file = next((file for file in _candidate_files(source) if f"/{PurePath(path).as_posix()}".endswith(f"/{file}")), "") if path else ""
    if not file:
        yield source
        return
    above = PurePath(path).as_posix()[: -len(file)].strip("/").split("/")
    for count in range(1, len(above) + 1):
        folders = "/".join(above[-count:])
        yield f"{folders}/{source}" if folders else source


def _candidate_files(source: str) -> Iterator[str]:
    """Yield the parts of a source that may be the file name: all of it, or the part before the `#` of a record or the `/` of a member."""
    yield source
    for at, sign in enumerate(source):
        if (sign == "#" and at) or (sign == "/" and source[:at].lower().removesuffix(".gz").endswith(CONTAINER_FORMATS)):
            yield source[:at]
