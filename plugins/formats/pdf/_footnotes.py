"""Move the footnotes of a PDF's page behind the paragraphs that refer to them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from ramify.formats.pdf._lines import PrintedLine

_SMALL_PRINT = 0.92
_PARAGRAPH_GAP = 1.18
_INDENT = 0.7
_NOTE_MARK = re.compile(r"\[(\d{1,3})\]|(\d{1,3})(?=\D)|([*†‡])")


def move_footnotes(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Move footnotes behind the paragraph that refers to them, or before a paragraph that continues on the next page."""
    sizes = Counter[float]()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0.0)
    small = len(list(takewhile(lambda line: line.size < _SMALL_PRINT * usual, reversed(lines))))
    body = list(lines[: len(lines) - small])
    if not small or not body:
        return list(lines)
    begins = [0, *_paragraph_begins(body), len(body)]
    behind: dict[int, list[PrintedLine]] = {}
    for note in _split_notes(lines[len(body) :]):
        behind.setdefault(_paragraph_end(body, begins, note[0].text), []).extend(note)
    return [line for place in range(len(body) + 1) for line in (*behind.get(place, ()), *body[place : place + 1])]


def _split_notes(lines: Sequence[PrintedLine]) -> Iterator[list[PrintedLine]]:
    """Split small print into notes, each beginning with a mark."""
    note: list[PrintedLine] = []
    for line in lines:
        if note and _NOTE_MARK.match(line.text):
            yield note
            note = []
        note.append(line)
    yield note


def _paragraph_end(body: Sequence[PrintedLine], begins: Sequence[int], note: str) -> int:
    """Return the end of the paragraph that refers to a note, or its beginning if it is the last of the page."""
    mark = _NOTE_MARK.match(note)
    sign = re.escape(mark[mark.lastindex or 0]) if mark else ""
    referring = re.compile(rf"[^\W\d_][)\]’”\"'.,;:]?{sign}(?!\d)|\S ?\[{sign}\]") if mark else None
    place = next((place for place, line in enumerate(body) if referring and referring.search(line.text)), len(body) - 1)
    paragraph = max(number for number, begin in enumerate(begins[:-1]) if begin <= place)
    end = begins[paragraph + 1]
    return end if end < len(body) or paragraph == 0 else begins[paragraph]


def _paragraph_begins(body: Sequence[PrintedLine]) -> Iterator[int]:
    """Yield the line indices where paragraphs begin: after a wider gap, at an indent or a change of font size."""
    gaps = [above.bottom - below.top for above, below in pairwise(body) if above.bottom > below.top]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    for place, (above, line) in enumerate(pairwise(body), start=1):
        indented = line.left > above.left + _INDENT * line.size
        if above.bottom - line.top > _PARAGRAPH_GAP * usual or abs(above.size - line.size) > 0.5 or indented:
            yield place
