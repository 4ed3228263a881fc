"""Tables of all formats: find the header, and join its rows."""

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise
from typing import NamedTuple

SEPARATOR = " | "
"""Between the cells of a row that is written as a line."""
_MAX_HEADER_ROWS = 20
_MAX_MARKED_ROWS = 5
_MAX_UNIT_CHARS = 8
_MIN_SHARE = 0.2
_VALUE = re.compile(
    r"\(?+[-+−]?+\s?+(?:[A-Z]{3}\s|[€$£¥]\s?+)?+[-+−]?+"  # a sign and a currency
    r"(?:[.,' \xa0\u202f]*+\d)++[.,]*+(?:[eE][-+]?+\d++)?+(?:/\d++)?+(?:\s*+[%‰€$£¥]|\s[A-Z]{3})?+\)?+"
    r"|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*|\d{1,2}:\d\d.*|TRUE|FALSE|true|false",
    re.DOTALL,
)
"""A number, an amount of money, a share, a fraction, a date, a time or a truth value."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./-]\d{1,2}[./-](?:\d\d)?\d\d|\d{1,2}[./]\d{4}|\d{1,2}:\d\d")
"""A date, a month or a time of day."""
_ADDRESS = re.compile(r"\w@\w|://")
_PLACEHOLDERS = frozenset(
    {"", "-", "–", "—", "n/a", "N/A", "#N/A", "NA", "?", "…", "x", "null", "NULL", "None", "NaN", "nan", "INF", "inf"}
)
"""What stands in a cell that has no value."""
_UNCOMPUTED = ("=", "#")
"""Begins of formulas and errors."""
_DIGITS = re.compile(r"\d+")


class Cell(NamedTuple):
    """A cell of a table: its text on one line, the columns and rows it spans, and whether the file marks it as part of a header."""

    text: str
    columns: int = 1
    rows: int = 1
    is_heading: bool = False


def header_span(grid: Sequence[Sequence[Cell]]) -> tuple[int, int]:
    """Return the first row of the header and the first one after it; (0, 0) if there is no header. Merged cells are the same object."""
    texts = [[cell.text.strip() for cell in row] for row in grid]
    counts = [sum(1 for place, cell in enumerate(row) if cell.text.strip() and not (place and row[place - 1] is cell)) for row in grid]
    usual = sorted(counts)[len(counts) // 2] if counts else 0
    is_group = [_has_merged(row) and (counts[place] > 1 or not row[0].text) for place, row in enumerate(grid)]
    top = next((row for row, count in enumerate(counts[:_MAX_HEADER_ROWS]) if count > 1 or is_group[row] or usual < 2), 0)
    marked = next((row for row in range(top, len(grid)) if not _is_marked(grid[row], row > top)), len(grid))
    if top < marked < len(grid) and marked - top <= _MAX_MARKED_ROWS:
        return top, _end_of_merged(grid, marked - 1) + 1
    several = min(2, max(map(len, grid), default=0))
    for least in (max(usual, several), several):  # a narrow row is a header only if no other row is
        for row in range(top, min(len(grid) - 1, _MAX_HEADER_ROWS)):
            if (counts[row] >= least or is_group[row]) and (span := _header_at(grid, texts, row)):
                above = row > top and counts[row - 1] > 1 and has_doubles(texts[row])
                return span[0] - above, span[1]
            if counts[row] >= max(usual, several) and not is_group[row]:
                break
    return 0, 0


def _header_at(grid: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]], first: int) -> tuple[int, int] | None:
    """Return the rows of a header that begins with a row, None if it is none."""
    last = first
    while last + 2 < len(grid) and _is_above(grid[last], grid[last + 1]) and is_header(texts[last + 1], texts[last + 2 :], grouped=True):
        last += 1
    last = _end_of_merged(grid, last)
    if not is_header(texts[last], texts[last + 1 :], grouped=_has_merged(grid[first]) or last > first):
        return None
    return first, last + (2 if _are_units(texts[last + 1], texts[last + 2 :]) else 1)


def join_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns: the texts of the header's rows from top to bottom, without repetitions ("Price, from 1 April").

    A name in an upper row reaches over the columns to its right whose names would be the same without it.
    """
    filled = [list(row) for row in rows]
    for row in filled[:-1]:
        for place in range(1, len(row)):
            if not row[place] and place < len(filled[-1]) and filled[-1].count(filled[-1][place]) > 1:
                row[place] = row[place - 1]
    return [", ".join(dict.fromkeys(text for text in column if text)) for column in zip(*filled, strict=False)]


def is_header(first: Sequence[str], below: Sequence[Sequence[str]], *, grouped: bool = False) -> bool:
    """Return whether the first row is a header: words, or a series of years, dates or numbers behind a name.

    grouped: it is part of a header of several rows, so that its names may be the same.
    """
    cells = _without_empty_end(first)
    named = [cell for cell in cells if cell]
    contrast = has_contrast(cells, below)
    if not named or len(cells) - len(named) > (max(1, len(cells) // 4) if contrast or grouped else 1):
        return False
    if any(_ADDRESS.search(cell) for cell in named):
        return False
    if len(set(named)) < len(named) and not (contrast or grouped):
        return False
    values = [place for place, cell in enumerate(cells) if is_value(cell)]
    if len(values) > (len(named) // 10 if contrast else 0):
        is_series = _is_series([cells[place] for place in values], len(values) < len(cells), grouped)
        return (is_series and not _is_series_below(cells, values, below)) or (len(values) < len(cells) and _is_scale(cells, values, below))
    return contrast or grouped or not _recurs(cells, below)


def is_value(text: str) -> bool:
    """Return whether a text is a number, an amount, a date or a time."""
    return _VALUE.fullmatch(text.strip()) is not None


def is_filled(text: str) -> bool:
    """Return whether a cell contains a value or word: it is not empty, or a placeholder, or a formula or error in the place of a value."""
    return text.strip() not in _PLACEHOLDERS and not text.startswith(_UNCOMPUTED)


def has_contrast(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has a word over a column that mostly contains values."""
    for place, cell in enumerate(first):
        if cell.strip() not in _PLACEHOLDERS and not is_value(cell):
            filled = [row[place] for row in below[:_MAX_HEADER_ROWS] if place < len(row) and is_filled(row[place])]
            if filled and sum(map(is_value, filled)) * 3 > len(filled) * 2:
                return True
    return False


def has_doubles(texts: Sequence[str]) -> bool:
    """Return whether columns have the same name."""
    named = [text for text in texts if text]
    return len(set(named)) < len(named)


def are_pairs(rows: Sequence[Sequence[str]], *, is_table: bool = True, is_preamble: bool = False, least: float = _MIN_SHARE) -> bool:
    """Return whether rows, after a title, are labels with values: most labels end with a colon, or the values are of several kinds.

    is_table: they could have a header. is_preamble: a wider table follows. least: the least share of numbers and of words.
    """
    pairs = list(dropwhile(lambda row: not all(row), rows))
    if len(pairs) < 2 or any(len(pair) != 2 or not all(pair) for pair in pairs):
        return False
    labels = [label for label, _ in pairs]
    if len(set(labels)) < len(labels) or any(map(is_value, labels)):
        return False
    if not is_table or sum(label.endswith(":") for label in labels) * 2 > len(labels):
        return True
    values = [value for _, value in pairs[1:] if is_filled(value)]
    share = sum(is_value(value) or value[0].isdigit() for value in values) / max(1, len(values))
    return least <= share <= 1 - least or (is_preamble and (share == 0 or len(pairs) == 2))


def _is_marked(row: Sequence[Cell], follows: bool) -> bool:
    """Return whether the file marks a row as a header; a row that follows one may be a marked row of totals."""
    texts = [cell.text.strip() for cell in row if cell.text.strip()]
    values = [text for text in texts if is_value(text)]
    is_total = follows and values and not _is_series(values, True, grouped=True)
    return not is_total and all(cell.is_heading for cell in row if cell.text)


def _has_merged(row: Sequence[Cell]) -> bool:
    """Return whether a row has a cell that spans several columns, but not all."""
    return any(place and row[place - 1] is cell and cell.text for place, cell in enumerate(row)) and any(cell is not row[0] for cell in row)


def _end_of_merged(grid: Sequence[Sequence[Cell]], row: int) -> int:
    """Return the last row that a merged cell of a header reaches into."""
    while row + 2 < len(grid) and any(cell.text and cell is above for cell, above in zip(grid[row + 1], grid[row], strict=False)):
        row += 1
    return row


def _is_above(row: Sequence[Cell], below: Sequence[Cell]) -> bool:
    """Return whether a row groups the columns that the next row names: beside its merged cells, nothing else is below it."""
    merged = {place for place, cell in enumerate(row) for near in (place - 1, place + 1) if 0 <= near < len(row) and row[near] is cell}
    return _has_merged(row) and all(
        place in merged or not cell.text or below[place].text in ("", cell.text) for place, cell in enumerate(row) if place < len(below)
    )


def _without_empty_end(row: Sequence[str]) -> list[str]:
    cells = [cell.strip() for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _are_units(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row below a header has words only over columns of values ("m", "kg")."""
    places = [place for place, cell in enumerate(row) if cell.strip()]
    return bool(places) and all(len(row[place]) <= _MAX_UNIT_CHARS and has_contrast([""] * place + [row[place]], below) for place in places)


def _is_series(values: Sequence[str], has_name: bool, grouped: bool) -> bool:
    """Return whether values can be names of columns: years, dates or times, or at least three numbers at equal distances."""
    distinct = list(dict.fromkeys(values)) if grouped else list(values)
    if len(set(distinct)) < len(distinct) or not has_name:
        return False
    if all(_YEAR.fullmatch(value) for value in distinct) or all(_MOMENT.fullmatch(value) for value in distinct):
        return True
    return len(distinct) >= (2 if grouped else 3) and _step(distinct) != 0


def _step(values: Sequence[str]) -> int:
    """Return the distance of whole numbers from each other, 0 if it is not the same or the values are others."""
    numbers = [int(value) for value in values if value.isdigit() and len(value) < _MAX_UNIT_CHARS]
    steps = {after - before for before, after in pairwise(numbers)}
    return steps.pop() if len(numbers) == len(values) and len(steps) == 1 else 0


def _is_scale(cells: Sequence[str], places: Sequence[int], below: Sequence[Sequence[str]]) -> bool:
    """Return whether cells are at least three growing numbers that are written unlike those below ("10 %", "20 %" over "4.1", "4.0")."""
    forms = {_DIGITS.sub("0", cells[place]) for place in places}
    numbers = [[int(digits) for digits in _DIGITS.findall(cells[place])] for place in places]
    filled = [row[place].strip() for row in below[:_MAX_HEADER_ROWS] for place in places if place < len(row) and is_filled(row[place])]
    alike = sum(_DIGITS.sub("0", text) in forms for text in filled)
    grows = all(before < after for before, after in pairwise(numbers))
    return len(places) > 2 and len(forms) == 1 and grows and bool(filled) and alike * 5 < len(filled)


def _is_series_below(cells: Sequence[str], places: Sequence[int], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows below have such series, too, so that the first is one of them."""
    rows = [[row[place].strip() for place in places if place < len(row) and row[place].strip()] for row in below[:_MAX_HEADER_ROWS]]
    for pattern in (_YEAR, _MOMENT):
        if all(pattern.fullmatch(cells[place]) for place in places):
            likely = sum(1 for row in rows if row and all(map(pattern.fullmatch, row)))
            return likely * 2 > len(rows) if len(places) > 2 else likely > 0
    step = _step([cells[place] for place in places])
    return sum(1 for row in rows if len(row) == len(places) and _step(row) == step) * 2 > len(rows)


def _recurs(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a cell is again in its column below, in a row that is not the same as a whole."""
    return any(
        place < len(row) and cell and row[place].strip() == cell
        for row in below
        if _without_empty_end(row) != list(cells)
        for place, cell in enumerate(cells)
    )
