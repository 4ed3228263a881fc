"""Drop what is printed on page after page: running headers, footers, page numbers."""

import re
from collections import Counter
from collections.abc import Sequence

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
