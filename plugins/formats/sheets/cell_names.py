"""Names of cells in spreadsheets ("B7", "A1:C3"), and formulas that refer to them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_PLACE = re.compile(r"([A-Za-z]{1,3})(\d{1,7})")
_REFERENCE = re.compile(r'"[^"]*"|\'[^\']*\'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)(\d{1,7})(?![\w(.])')


class Span(NamedTuple):
    """A range of cells: rows from 1, columns from 0."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


def move_formula(formula: str, rows: int, columns: int) -> str:
    """Return a formula with its relative references moved."""
    return _REFERENCE.sub(lambda found: found[0] if found[1] is None else _moved(found, rows, columns), formula)


def _moved(found: re.Match[str], rows: int, columns: int) -> str:
    column = found[2] if found[1] else column_name(max(0, column_number(found[2]) + columns))
    return f"{found[1]}{column}{found[3]}{found[4] if found[3] else int(found[4]) + rows}"


def column_name(column: int) -> str:
    """Return the letters of a column, from 0."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


@lru_cache(maxsize=4096)
def _letters_number(letters: str) -> int:
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column - 1


def column_number(place: str) -> int:
    """Return the column, from 0, of a place such as "B7"."""
    return _letters_number(place.rstrip("0123456789").upper())


def cell_spans(references: str) -> Iterator[Span]:
    """Yield the ranges of a reference such as "A1:B2"."""
    for reference in references.split():
        first, _, last = reference.replace("$", "").partition(":")
        begin, end = _PLACE.fullmatch(first), _PLACE.fullmatch(last or first)
        if begin and end:
            yield Span(int(begin[2]), column_number(begin[1]), int(end[2]), column_number(end[1]))
