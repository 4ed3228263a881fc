"""The printed lines of a PDF's pages, and joining them to paragraphs across columns and pages."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

HYPHEN = "\ufffe"
"""PDFium's character for a hyphen at the end of a line."""


class PrintedLine(NamedTuple):
    """A printed line: left and right edge, first and last baseline (from the bottom of the page), and font size, all in points."""

    left: float
    right: float
    top: float
    bottom: float
    size: float
    text: str
    cells: int = 0
    """The number of columns, if the line is a row of a table; -1 for the row of a form, a line of its own."""


Pages = list[list[int]]
"""Where pages begin in a text: [offset, page counted from 1]."""

_PARAGRAPH_GAP = 1.18
"""In multiples of the usual line distance: least gap between paragraphs."""
_MAX_SIZE_DIFFERENCE = 0.1
_INDENT = 0.7
_MIN_FREE_WIDTH = 1.0
"""In multiples of the font size: an indent, and the free width after which a line break is intended."""
_NEIGHBOR_LINES = 10
_MIN_FREE_HEIGHT = 0.3
"""Of the height of its first line: least height of the last line of a page that ends before it is full."""
_UNFINISHED = f",-–—({HYPHEN}"
_MIN_ROW_SPACING = 1.2
_LABEL = re.compile(r"(?=[^\W\d_a-z])[^\W\d_][\w()/.-]*(?: [\w()/.-]+){0,3}:(?:\s|$)")
"""The label of a field, in a form or a record: up to four words, the first with a capital letter."""
_ITEM = re.compile(r"(\d{1,3})([.)])\s")
_RECORD_START = re.compile(r"\d|(?![a-z])[^\W\d_]")
_MAX_RECORD, _MIN_RECORD_LINES = 30, 3
_BULLETS = "•◦▪‣●○■–—"
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*\d{0,2}$")
_ADDRESS_START = re.compile(r"\bhttps?:/")
_ADDRESS_SIGNS = "/_=&?.-"
_ADDRESS = re.compile(r"(?://|www\.)\S*+\Z")
"""The beginning of an address, in which hyphens at line ends are part of it."""
_MAX_ADDRESS_CHARS = 200
_HYPHENATED = re.compile(rf"(?<![^\W\d_])([^\W\d_]++)(?:{HYPHEN}|-\n)\s*([^\W_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class PagedLine(NamedTuple):
    """A line and its page, counted from 1."""

    page: int
    line: PrintedLine


def join_lines(lines: Sequence[PagedLine], words: set[str]) -> tuple[str, Pages]:
    """Return the text in paragraphs and the offsets of pages; `words`, the document's vocabulary, decides which hyphens stay."""
    pitch = _line_pitch(lines)
    parts: list[str] = []
    length = 0
    pages: Pages = []
    lines = list(_without_repeated_headers(lines))
    for place, (page, line) in enumerate(lines):
        between = _separator(lines, place, pitch) if place else ""
        text = _without_line_hyphens(line.text, words)
        if between == " " and parts[-1].endswith("-") and text[:1].islower():
            between, whole = "", _without_line_hyphens(f"{parts[-1]}\n{text}", words)
            length += len(whole) - len(text) - len(parts[-1])
            parts[-1] = whole[: len(whole) - len(text)]
        parts += [between, text]
        length += len(between) + len(text)
        if not pages or pages[-1][1] != page:
            pages.append([length - len(text), page])
    return "".join(parts), pages


def _without_repeated_headers(lines: Sequence[PagedLine]) -> Iterator[PagedLine]:
    """Yield the lines without the header of a table where it is repeated at the top of the next page."""
    header = ""
    for above, here in pairwise([None, *lines]):
        continues = above is not None and here is not None and here.line.cells > 0 and above.line.cells == here.line.cells
        if here is None or (continues and above is not None and above.page != here.page and here.line.text == header):
            continue
        if not continues:
            header = here.line.text if here.line.cells else ""
        yield here


def vocabulary(pages: Sequence[Sequence[PrintedLine]]) -> set[str]:
    """Return the words of a document that are not broken across lines, in lower case."""
    return {word for lines in pages for word in _WORD.findall("\n".join(line.text for line in lines).casefold())}


def _without_line_hyphens(text: str, words: set[str]) -> str:
    """Remove end-of-line hyphens from words, except from words that have the hyphen elsewhere, too."""

    def mend(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        whole, parted = f"{first}{second}", f"{first}-{second}"
        if _ADDRESS.search(text, max(0, match.start() - _MAX_ADDRESS_CHARS), match.start()):
            return parted
        meant = second[0].isupper() or second[0].isdigit() or parted.casefold() in words
        return parted if meant and whole.casefold() not in words else whole

    if HYPHEN not in text and "-\n" not in text:
        return text
    return _HYPHENATED.sub(mend, text).replace("-\n", "-").replace(HYPHEN, "-")


def _line_pitch(lines: Sequence[PagedLine]) -> float:
    """Return the median line distance, in multiples of the font size."""
    gaps = [
        (above.line.bottom - below.line.top) / below.line.size
        for above, below in pairwise(lines)
        if above.page == below.page and abs(above.line.size - below.line.size) < 0.5
    ]
    near = [gap for gap in gaps if 0.8 < gap < 3]
    return median(near) if near else 1.2


def _separator(lines: Sequence[PagedLine], place: int, pitch: float) -> str:
    """Return the separator before a line: a space within a paragraph, an intended line break, or a blank line."""
    above, line = lines[place - 1], lines[place].line
    gap = above.line.bottom - line.top
    if above.line.cells or line.cells:
        return "\n" if above.line.cells == line.cells else "\n\n"
    if abs(above.line.size - line.size) > _MAX_SIZE_DIFFERENCE * line.size:
        return "\n\n"
    meant = _ends_paragraph(lines, place) or _is_next_item(lines, place) or _is_record(lines, place)
    follows = above.page == lines[place].page and gap > 0
    if not follows:  # another column or page
        meant = meant or (above.page != lines[place].page and _ends_page(lines, place))
        return "\n\n" if meant or _SENTENCE_END.search(above.line.text) else " "
    if gap > _PARAGRAPH_GAP * pitch * line.size:
        return "\n\n"
    if meant or line.text[0] in _BULLETS or _LABEL.match(line.text) or _is_row(above.line) or _is_row(line):
        return "\n"
    if above.line.text.endswith(tuple(_ADDRESS_SIGNS)) and _ADDRESS_START.search(above.line.text.split()[-1]):
        return ""
    indented = line.left > above.line.left + _INDENT * line.size
    return "\n" if (indented or line.left < above.line.left - _INDENT * line.size) and _SENTENCE_END.search(above.line.text) else " "


def _ends_paragraph(lines: Sequence[PagedLine], place: int) -> bool:
    """Return whether the next word would have fitted on the previous line, judging by the width of neighbouring lines."""
    above, line = lines[place - 1].line, lines[place].line
    if above.text.endswith(",") and line.text[0].islower():  # goes on, though the program broke the line early
        return False
    word = line.text.split(maxsplit=1)[0]
    width = len(word) * (line.right - line.left) / max(len(line.text), 1)
    needed = above.right + width + _MIN_FREE_WIDTH * line.size
    near = [other for _, other in lines[max(0, place - 1 - _NEIGHBOR_LINES) : place - 1 + _NEIGHBOR_LINES] if other.right > needed]
    most = max(1.0, _MAX_SIZE_DIFFERENCE * above.size)
    return any(_same_column(other, above) and abs(other.size - above.size) < most for other in near)


def _is_next_item(lines: Sequence[PagedLine], place: int) -> bool:
    """Return whether a line begins with the number that follows that of an item above it."""
    item = _ITEM.match(lines[place].line.text)
    if item is None:
        return False
    before = re.compile(rf"{int(item[1]) - 1}{re.escape(item[2])}\s")
    return any(before.match(above.line.text) for above in lines[max(0, place - _NEIGHBOR_LINES) : place])


def _is_record(lines: Sequence[PagedLine], place: int) -> bool:
    """Return whether all lines near a line are short and begin with a capital letter or a digit, as in an address."""
    near = [paged.line for paged in lines[max(0, place - _NEIGHBOR_LINES) : place + _NEIGHBOR_LINES]]
    return len(near) > _MIN_RECORD_LINES and all(len(line.text) <= _MAX_RECORD and _RECORD_START.match(line.text) for line in near)


def _ends_page(lines: Sequence[PagedLine], place: int) -> bool:
    """Return whether a page ends before it is full, and the next one begins with a capital letter or a number."""
    page, last = lines[place - 1].page, lines[place - 1].line
    first = next((number for number in range(place - 1, -1, -1) if lines[number].page != page), -1) + 1
    height = max(line.top for _, line in lines[first:place])
    return last.bottom > _MIN_FREE_HEIGHT * height and not lines[place].line.text[0].islower() and last.text[-1] not in _UNFINISHED


def _is_row(line: PrintedLine) -> bool:
    """Return whether a line is a table row: few characters, wide apart."""
    return line.right - line.left > _MIN_ROW_SPACING * line.size * len(line.text)


def _same_column(one: PrintedLine, other: PrintedLine) -> bool:
    return one.left < other.right and other.left < one.right
