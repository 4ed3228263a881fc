"""Drop what is printed on page after page: running headers, footers, page numbers."""

import re
from collections import Counter
from collections.abc import Sequence

from ramify.tools.documents.pdf.lines import Line

_ROUNDS = 2
"""How many lines a header or footer may have."""
_REPEATED = 3
_USUAL = 0.4
"""A place at the edge is the header's where this share of the pages has a line that stands there, apart."""
_APART = 1.4
"""Of the usual distance between lines: what sets a header apart from the text."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:page\s+|p\.\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\d{1,4}|[ivxlc]{1,7})\s.*|.*\s(?:\d{1,4}|[ivxlc]{1,7})", re.IGNORECASE)


def without_furniture(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the pages without the lines that recur at their edges."""
    left = [list(lines) for lines in pages]
    for _ in range(_ROUNDS):
        for upper in (True, False):
            found = [_edge(lines, upper) for lines in left]
            for lines, line in zip(left, _recurring(left, found, upper), strict=True):
                if line is not None:
                    lines.remove(line)
    return left


def _edge(lines: list[Line], upper: bool) -> Line | None:
    if not lines:
        return None
    return max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)


def _recurring(pages: Sequence[list[Line]], edges: Sequence[Line | None], upper: bool) -> list[Line | None]:
    """Keep those edge lines that are furniture, None for the others."""
    present = [line for line in edges if line is not None]
    shapes = Counter(_shape(line) for line in present)
    places = Counter(_place(line) for line in present)
    usual = max(_REPEATED, _USUAL * len(pages))

    def is_furniture(line: Line, lines: list[Line]) -> bool:
        if shapes[_shape(line)] >= _REPEATED:
            return True
        if _PAGE_NUMBER.fullmatch(line.text):
            return places[_place(line)] >= min(_REPEATED, len(pages)) and _apart(line, lines, upper)
        return bool(_NUMBERED.fullmatch(line.text)) and places[_place(line)] >= usual and _apart(line, lines, upper)

    return [line if line is not None and is_furniture(line, lines) else None for line, lines in zip(edges, pages, strict=True)]


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
