"""Footnotes: put behind the paragraph that refers to them, so that a sentence that goes on on the next page stays together."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from ramify.tools.documents.pdf.lines import Line

_SMALLER = 0.92
_PARTED = 1.18
_INDENT = 0.7
_NUMBER = re.compile(r"\d{1,3}(?=\D)|[*†‡]")


def notes_in_place(lines: Sequence[Line]) -> list[Line]:
    """Move the small print at a page's foot behind the paragraph with its mark, or before one that goes on on the next page."""
    sizes = Counter[float]()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0.0)
    small = len(list(takewhile(lambda line: line.size < _SMALLER * usual, reversed(lines))))
    body = list(lines[: len(lines) - small])
    if not small or not body:
        return list(lines)
    begins = [0, *_begins(body), len(body)]
    behind: dict[int, list[Line]] = {}
    for note in _notes(lines[len(body) :]):
        behind.setdefault(_end(body, begins, note[0].text), []).extend(note)
    return [line for place in range(len(body) + 1) for line in (*behind.get(place, ()), *body[place : place + 1])]


def _notes(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Cut small print where a line begins with a mark."""
    note: list[Line] = []
    for line in lines:
        if note and _NUMBER.match(line.text):
            yield note
            note = []
        note.append(line)
    yield note


def _end(body: Sequence[Line], begins: Sequence[int], note: str) -> int:
    """Return where the paragraph that refers to a note ends; where it begins if the page ends with it."""
    mark = _NUMBER.match(note)
    referring = re.compile(rf"[^\W\d_][)\]’”\"'.,;:]?{re.escape(mark[0])}(?!\d)") if mark else None
    place = next((place for place, line in enumerate(body) if referring and referring.search(line.text)), len(body) - 1)
    paragraph = max(number for number, begin in enumerate(begins[:-1]) if begin <= place)
    end = begins[paragraph + 1]
    return end if end < len(body) or paragraph == 0 else begins[paragraph]


def _begins(body: Sequence[Line]) -> Iterator[int]:
    """Yield where paragraphs begin: at a wider gap, an indent or other print."""
    gaps = [above.bottom - below.top for above, below in pairwise(body) if above.bottom > below.top]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    for place, (above, line) in enumerate(pairwise(body), start=1):
        indented = line.left > above.left + _INDENT * line.size
        if above.bottom - line.top > _PARTED * usual or abs(above.size - line.size) > 0.5 or indented:
            yield place
