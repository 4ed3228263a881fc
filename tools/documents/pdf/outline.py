"""Where the sections of a PDF begin: its bookmarks, else lines in larger print."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ramify.tools.documents.pdf.lines import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument

_DEEPEST = 15
_HEADING_LINES = 3
_LARGER = 1.12
_LONGEST = 120
_RAREST = 0.2
_LEVELS = 4
_LEADERS = re.compile(r"(?:\.\s?){4,}")
_NOT_SAID = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:chapter|part|section|appendix|kapitel|chapitre)?(?:\d+[a-z]?|[a-z]\d*|[ivxlc]{1,6})?")


class Cut(NamedTuple):
    """A section's beginning: page and line (both from 0), how many lines its heading takes there, its level and its title."""

    page: int
    line: int
    taken: int
    level: int
    title: str


def bookmarked(document: "PdfDocument", pages: Sequence[list[Line]]) -> list[Cut]:
    """Return the sections that the bookmarks name, in the order of the pages."""
    cuts: list[Cut] = []
    for mark in document.get_toc(max_depth=_DEEPEST):
        title = " ".join(mark.get_title().split())
        target = _target(mark, len(pages))
        if not title or target is None:
            continue
        page, height = target
        begin = cuts[-1].line + cuts[-1].taken if cuts and cuts[-1].page == page else 0
        if cuts and page < cuts[-1].page:
            page, begin, height = cuts[-1].page, cuts[-1].line + cuts[-1].taken, None
        cuts.append(Cut(page, *_place(pages[page], begin, title, height), mark.level, title))
    return cuts


def _target(mark: "PdfBookmark", pages: int) -> tuple[int, float | None] | None:
    destination = mark.get_dest()
    page = destination.get_index() if destination else None
    if destination is None or page is None or not 0 <= page < pages:
        return None
    _, view = destination.get_view()
    return page, float(view[1]) if len(view) == 3 else float(view[0]) if len(view) == 1 else None


def _place(lines: Sequence[Line], begin: int, title: str, height: float | None) -> tuple[int, int]:
    """Find the heading's lines from `begin` on: by its words, else by its height on the page."""
    said = _said(title)
    written = [_said(line.text) for line in lines]
    found = [
        (place, taken)
        for place in range(begin, len(lines))
        for taken in range(1, _HEADING_LINES + 1)
        if said and _is_heading("".join(written[place : place + taken]), said)
    ]
    if found:
        return min(found, key=lambda one: (abs(lines[one[0]].top - height) if height is not None else 0.0, one))
    below = (place for place in range(begin, len(lines)) if height is not None and lines[place].top <= height)
    return (begin if height is None else next(below, len(lines))), 0


def _is_heading(written: str, said: str) -> bool:
    return written.endswith(said) and bool(_NUMBERING.fullmatch(written[: len(written) - len(said)]))


def _said(text: str) -> str:
    return _NOT_SAID.sub("", text.casefold())


def by_print(pages: Sequence[list[Line]]) -> list[Cut]:
    """Return sections by their headings' larger print; none where larger print is nothing rare."""
    cuts = larger_print(pages)
    if sum(cut.taken for cut in cuts) > _RAREST * sum(len(lines) for lines in pages):
        return []
    sizes = sorted({cut.level for cut in cuts}, reverse=True)
    return [cut._replace(level=min(sizes.index(cut.level), _LEVELS - 1)) for cut in cuts]


def larger_print(pages: Sequence[list[Line]]) -> list[Cut]:
    """Return the lines in larger print than most; their level is ten times the size of their letters."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[_size(line)] += len(line.text)
    usual = max(letters, key=lambda size: (letters[size], -size), default=0.0)
    return [Cut(page, *run) for page, lines in enumerate(pages) for run in _larger(lines, usual)]


def _size(line: Line) -> float:
    return round(2 * line.size) / 2


def _larger(lines: Sequence[Line], usual: float) -> Iterator[tuple[int, int, int, str]]:
    """Yield runs of lines in larger print as (place, lines taken, ten times the size, text)."""
    place = 0
    while place < len(lines):
        size, end = _size(lines[place]), place
        while end < len(lines) and _size(lines[end]) == size and size >= _LARGER * usual:
            end += 1
        text = " ".join(line.text for line in lines[place:end])
        if end > place and len(text) <= _LONGEST and any(letter.isalpha() for letter in text) and not _LEADERS.search(text):
            yield place, end - place, round(10 * size), text
        place = max(end, place + 1)
