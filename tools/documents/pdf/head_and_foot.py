"""What stands at a page's head and foot: running titles and page numbers are dropped, footnotes go behind what refers to them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from ramify.tools.documents.pdf.lines import Line

_ROUNDS = 2
"""How many lines a header or footer may have."""
_REPEATED = 3
_OFTEN, _USUAL = 0.2, 0.4
"""A place at the edge is the header's where this share of the pages has a line there: one that recurs, or one with the page's number."""
_MOSTLY = 0.5
"""Where fewer of the lines at a place are furniture, it is where the text ends."""
_APART, _CLOSE = 1.4, 2.0
"""Of the size of the letters: what sets a header apart from the text, and what holds its lines together."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:page\s+|p\.\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,4}")
_SMALLER = 0.92
_PARTED = 1.18
_INDENT = 0.7
_NOTE_MARK = re.compile(r"\d{1,3}(?=\D)|[*†‡]")


def without_furniture(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the pages without the lines that recur at their edges."""
    left = [list(lines) for lines in pages]
    for upper in (True, False):
        edges = [_edge(lines, upper) for lines in left]
        for _ in range(_ROUNDS):
            found = _recurring(left, edges, upper)
            for lines, line in zip(left, found, strict=True):
                if line is not None:
                    lines.remove(line)
            edges = [_next(lines, line, upper) for lines, line in zip(left, found, strict=True)]
    return left


def _next(lines: list[Line], removed: Line | None, upper: bool) -> Line | None:
    """Return the line that may belong to the same header as one that was removed: the one close to it."""
    line = _edge(lines, upper) if removed is not None else None
    return line if line is not None and removed is not None and abs(line.top - removed.top) < _CLOSE * line.size else None


def _edge(lines: list[Line], upper: bool) -> Line | None:
    if not lines:
        return None
    return max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)


def _recurring(pages: Sequence[list[Line]], edges: Sequence[Line | None], upper: bool) -> list[Line | None]:
    """Keep those edge lines that are furniture, None for the others."""
    present = [(number, line) for number, line in enumerate(edges) if line is not None]
    shapes = Counter(_shape(line) for _, line in present)
    places = Counter(_place(line) for _, line in present)
    steps = Counter(step for number, line in present for step in _steps(line, number))
    some, most = min(_REPEATED, len(pages)), max(_REPEATED, _USUAL * len(pages))

    def is_furniture(number: int, line: Line) -> bool:
        if shapes[_shape(line)] >= most:
            return True
        if shapes[_shape(line)] >= _REPEATED and places[_place(line)] >= _OFTEN * len(pages) and _apart(line, pages[number], upper):
            return True
        counted = max((steps[step] for step in _steps(line, number)), default=0)
        if _PAGE_NUMBER.fullmatch(line.text):
            return places[_place(line)] >= some and (counted >= some or line.text.isalpha()) and _apart(line, pages[number], upper)
        return counted >= most and places[_place(line)] >= most and _apart(line, pages[number], upper)

    found = {number: line for number, line in present if is_furniture(number, line)}
    held = Counter(_place(line) for line in found.values())
    kept = {number: line for number, line in found.items() if held[_place(line)] >= _MOSTLY * places[_place(line)]}
    return [kept.get(number) for number in range(len(pages))]


def _steps(line: Line, page: int) -> set[int]:
    """Return by how much the numbers at a line's ends are ahead of the page: page numbers keep their distance."""
    words = line.text.split()
    return {int(word) - page for word in (words[0], words[-1]) if _WHOLE.fullmatch(word)}


def _shape(line: Line) -> tuple[str, int]:
    return _NUMBER.sub("#", line.text.casefold()), _place(line)


def _place(line: Line) -> int:
    return round(line.top / 4)


def _apart(line: Line, lines: list[Line], upper: bool) -> bool:
    others = [other for other in lines if other is not line]
    if not others:
        return True
    gap = line.bottom - max(other.top for other in others) if upper else min(other.bottom for other in others) - line.top
    return gap > _APART * line.size


def notes_in_place(lines: Sequence[Line]) -> list[Line]:
    """Move small print at a page's foot behind the paragraph with its mark, or before one that goes on overleaf: sentences stay whole."""
    sizes = Counter[float]()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0.0)
    small = len(list(takewhile(lambda line: line.size < _SMALLER * usual, reversed(lines))))
    body = list(lines[: len(lines) - small])
    if not small or not body:
        return list(lines)
    begins = [0, *_paragraph_begins(body), len(body)]
    behind: dict[int, list[Line]] = {}
    for note in _notes(lines[len(body) :]):
        behind.setdefault(_paragraph_end(body, begins, note[0].text), []).extend(note)
    return [line for place in range(len(body) + 1) for line in (*behind.get(place, ()), *body[place : place + 1])]


def _notes(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Cut small print where a line begins with a mark."""
    note: list[Line] = []
    for line in lines:
        if note and _NOTE_MARK.match(line.text):
            yield note
            note = []
        note.append(line)
    yield note


def _paragraph_end(body: Sequence[Line], begins: Sequence[int], note: str) -> int:
    """Return where the paragraph that refers to a note ends; where it begins if the page ends with it."""
    mark = _NOTE_MARK.match(note)
    referring = re.compile(rf"[^\W\d_][)\]’”\"'.,;:]?{re.escape(mark[0])}(?!\d)") if mark else None
    place = next((place for place, line in enumerate(body) if referring and referring.search(line.text)), len(body) - 1)
    paragraph = max(number for number, begin in enumerate(begins[:-1]) if begin <= place)
    end = begins[paragraph + 1]
    return end if end < len(body) or paragraph == 0 else begins[paragraph]


def _paragraph_begins(body: Sequence[Line]) -> Iterator[int]:
    """Yield where paragraphs begin: at a wider gap, an indent or other print."""
    gaps = [above.bottom - below.top for above, below in pairwise(body) if above.bottom > below.top]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    for place, (above, line) in enumerate(pairwise(body), start=1):
        indented = line.left > above.left + _INDENT * line.size
        if above.bottom - line.top > _PARTED * usual or abs(above.size - line.size) > 0.5 or indented:
            yield place
