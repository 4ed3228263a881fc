"""Join lines to paragraphs: within a page, across columns and across pages."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ramify.tools.documents.pdf.lines import HYPHEN, Line

Pages = list[list[int]]
"""Where pages begin in a text: [offset, page counted from 1]."""

_SPREAD = 1.18
"""Of the usual distance between lines: what parts paragraphs."""
_OTHER_SIZE = 0.1
_INDENT = 0.7
_SLACK = 1.0
"""Of the size of the letters: an indent; room left on a line that shows that its end was meant."""
_NEIGHBOURS = 10
_WIDE = 1.2
_BULLETS = "•◦▪‣●○■–—"
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*\d{0,2}$")
_ADDRESS = re.compile(r"\bhttps?:/\S*[/_=&?.-]$")
_HYPHENATED = re.compile(rf"([^\W\d_]+)(?:{HYPHEN}|-\n)\s*([^\W_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class Placed(NamedTuple):
    """A line and the page that it stands on, counted from 1."""

    page: int
    line: Line


def joined(lines: Sequence[Placed], words: set[str]) -> tuple[str, Pages]:
    """Return the lines' text by paragraphs and where pages begin in it; `words` tell which hyphens belong to a word."""
    pitch = _pitch(lines)
    parts: list[str] = []
    length = 0
    pages: Pages = []
    for place, (page, line) in enumerate(lines):
        between = _between(lines, place, pitch) if place else ""
        text = _mended(line.text, words)
        if between == " " and parts[-1].endswith("-") and text[:1].islower():
            between, whole = "", _mended(f"{parts[-1]}\n{text}", words)
            length += len(whole) - len(text) - len(parts[-1])
            parts[-1] = whole[: len(whole) - len(text)]
        parts += [between, text]
        length += len(between) + len(text)
        if not pages or pages[-1][1] != page:
            pages.append([length - len(text), page])
    return "".join(parts), pages


def vocabulary(pages: Sequence[Sequence[Line]]) -> set[str]:
    """Return the words that a document writes without a line's end in them."""
    return {word.casefold() for lines in pages for line in lines for word in _WORD.findall(line.text)}


def _mended(text: str, words: set[str]) -> str:
    """Take the hyphens of line ends out of words, but leave those that a word has elsewhere too."""

    def mend(found: re.Match[str]) -> str:
        first, second = found[1], found[2]
        whole, parted = f"{first}{second}", f"{first}-{second}"
        meant = second[0].isupper() or second[0].isdigit() or parted.casefold() in words
        return parted if meant and whole.casefold() not in words else whole

    if HYPHEN not in text and "-\n" not in text:
        return text
    return _HYPHENATED.sub(mend, text).replace("-\n", "-").replace(HYPHEN, "-")


def _pitch(lines: Sequence[Placed]) -> float:
    """Return the usual distance of lines, as a multiple of the size of their letters."""
    gaps = [
        (above.line.bottom - below.line.top) / below.line.size
        for above, below in pairwise(lines)
        if above.page == below.page and abs(above.line.size - below.line.size) < 0.5
    ]
    near = [gap for gap in gaps if 0.8 < gap < 3]
    return median(near) if near else 1.2


def _between(lines: Sequence[Placed], place: int, pitch: float) -> str:
    """Say what parts a line from the one before it: a space within a paragraph, a line break that was meant, or a blank line."""
    above, line = lines[place - 1], lines[place].line
    gap = above.line.bottom - line.top
    if abs(above.line.size - line.size) > _OTHER_SIZE * line.size:
        return "\n\n"
    meant = _was_meant(lines, place)
    follows = above.page == lines[place].page and gap > 0
    if not follows:  # another column or page
        return "\n\n" if meant or _ENDED.search(above.line.text) else " "
    if gap > _SPREAD * pitch * line.size:
        return "\n\n"
    if meant or line.text[0] in _BULLETS or _is_row(above.line) or _is_row(line):
        return "\n"
    if _ADDRESS.search(above.line.text):
        return ""
    indented = line.left > above.line.left + _INDENT * line.size
    return "\n" if (indented or line.left < above.line.left - _INDENT * line.size) and _ENDED.search(above.line.text) else " "


def _was_meant(lines: Sequence[Placed], place: int) -> bool:
    """Tell whether the line before ends where the next word would still have fitted on it: lines near it are longer."""
    above, line = lines[place - 1].line, lines[place].line
    word = line.text.split(maxsplit=1)[0]
    width = len(word) * (line.right - line.left) / max(len(line.text), 1)
    needed = above.right + width + _SLACK * line.size
    near = lines[max(0, place - 1 - _NEIGHBOURS) : place - 1 + _NEIGHBOURS]
    return any(other.right > needed and _same_column(other, above) and abs(other.size - above.size) < 1 for _, other in near)


def _is_row(line: Line) -> bool:
    """Tell whether a line is a row of a table: few letters, wide apart."""
    return line.right - line.left > _WIDE * line.size * len(line.text)


def _same_column(one: Line, other: Line) -> bool:
    return one.left < other.right and other.left < one.right
