"""Find where the sections of a PDF begin: by its bookmarks, or by lines in larger print."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.pdf._lines import PrintedLine

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument

_MAX_BOOKMARK_DEPTH = 15
_MAX_HEADING_LINES = 3
_MIN_HEADING_SIZE = 1.12
_MIN_RECORDS, _MIN_RECORD_SHARE = 3, 0.8
_DIGITS = re.compile(r"\d+")
_MAX_HEADING_CHARS = 120
_MAX_HEADING_SHARE = 0.2
_MAX_LEVELS = 4
_LEADERS = re.compile(r"(?:\.\s?){4,}")
_NON_WORD = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:chapter|part|section|appendix|kapitel|chapitre)?(?:\d+[a-z]?|[a-z]\d*|[ivxlc]{1,6})?")


class SectionStart(NamedTuple):
    """The start of a section: page and line (from 0), the number of lines of its heading, its level and title."""

    page: int
    line: int
    taken: int
    level: int
    title: str


def section_starts_by_bookmarks(document: "PdfDocument", pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return the section starts given by the bookmarks, in page order."""
    cuts: list[SectionStart] = []
    for mark in document.get_toc(max_depth=_MAX_BOOKMARK_DEPTH):
        title = " ".join(mark.get_title().split())
        target = _bookmark_target(mark, len(pages))
        if not title or target is None:
            continue
        page, height = target
        begin = cuts[-1].line + cuts[-1].taken if cuts and cuts[-1].page == page else 0
        if cuts and page < cuts[-1].page:
            page, begin, height = cuts[-1].page, cuts[-1].line + cuts[-1].taken, None
        place, taken = _find_heading(pages[page], begin, title, height)
        printed = " ".join(line.text for line in pages[page][place : place + taken])
        cuts.append(SectionStart(page, place, taken, mark.level, title if _heading_key(printed) in ("", _heading_key(title)) else printed))
    return cuts


def _bookmark_target(mark: "PdfBookmark", pages: int) -> tuple[int, float | None] | None:
    destination = mark.get_dest()
    page = destination.get_index() if destination else None
    if destination is None or page is None or not 0 <= page < pages:
        return None
    _, view = destination.get_view()
    return page, float(view[1]) if len(view) == 3 else float(view[0]) if len(view) == 1 else None


def _find_heading(lines: Sequence[PrintedLine], begin: int, title: str, height: float | None) -> tuple[int, int]:
    """Return the line of a heading from `begin` on, and its number of lines: found by its words, else by its height on the page."""
    said = _heading_key(title)
    written = [_heading_key(line.text) for line in lines]
    spans = [
        (place, taken)
        for place in range(begin, len(lines))
        for taken in range(1, _MAX_HEADING_LINES + 1)
        if said and _is_heading("".join(written[place : place + taken]), said)
    ]
    if spans:
        return min(spans, key=lambda span: (abs(lines[span[0]].top - height) if height is not None else 0.0, span))
    below = (place for place in range(begin, len(lines)) if height is not None and lines[place].top <= height)
    return (begin if height is None else next(below, len(lines))), 0


def _is_heading(written: str, said: str) -> bool:
    return written.endswith(said) and bool(_NUMBERING.fullmatch(written[: len(written) - len(said)]))


def _heading_key(text: str) -> str:
    return _NON_WORD.sub("", text.casefold())


def section_starts_by_records(pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return the start of each record in a document of one record a page: its first line is the same on most pages, but for its number.

    The line, such as "Invoice 2024-0113", is the section's title and stays in its text.
    """
    firsts = {number: lines[0].text for number, lines in enumerate(pages) if lines and not lines[0].cells}
    shapes = {number: _DIGITS.sub("#", text.casefold()) for number, text in firsts.items()}
    (shape, count), *_ = Counter(shapes.values()).most_common(1) or [("", 0)]
    titles = {number: firsts[number] for number, own in shapes.items() if own == shape}
    is_numbered = any(letter.isalpha() for letter in shape) and len(set(titles.values())) == count
    if not is_numbered or count < max(_MIN_RECORDS, _MIN_RECORD_SHARE * len(pages)):
        return []
    return [SectionStart(number, 0, 0, 0, title) for number, title in titles.items() if len(title) <= _MAX_HEADING_CHARS]


def section_starts_by_size(pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return section starts by the font size of headings; none if larger print is frequent."""
    cuts = larger_lines(pages)
    if sum(cut.taken for cut in cuts) > _MAX_HEADING_SHARE * sum(len(lines) for lines in pages):
        return []
    sizes = sorted({cut.level for cut in cuts}, reverse=True)
    return [cut._replace(level=min(sizes.index(cut.level), _MAX_LEVELS - 1)) for cut in cuts]


def larger_lines(pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return the lines in larger print than usual; their level is ten times the font size."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[_size(line)] += len(line.text)
    usual = max(letters, key=lambda size: (letters[size], -size), default=0.0)
    return [SectionStart(page, *run) for page, lines in enumerate(pages) for run in _larger_runs(lines, usual)]


def _size(line: PrintedLine) -> float:
    return round(2 * line.size) / 2


def _larger_runs(lines: Sequence[PrintedLine], usual: float) -> Iterator[tuple[int, int, int, str]]:
    """Yield runs of lines in larger print as (place, lines taken, ten times the size, text)."""
    place = 0
    while place < len(lines):
        size, end = _size(lines[place]), place
        while end < len(lines) and _size(lines[end]) == size and size >= _MIN_HEADING_SIZE * usual:
            end += 1
        text = " ".join(line.text for line in lines[place:end])
        if end > place and len(text) <= _MAX_HEADING_CHARS and any(letter.isalpha() for letter in text) and not _LEADERS.search(text):
            yield place, end - place, round(10 * size), text
        place = max(end, place + 1)
