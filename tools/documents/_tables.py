"""Tables of all formats: fill merged cells, find the header, join its rows, and write the rows as lines."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SEPARATOR = " | "
"""Between the cells of a row that is written as a line."""
_MAX_SPAN = 1000
_MAX_CELLS = 1_000_000
"""Limits of what merged cells are filled into."""
_NUMBER = re.compile(r"[-+]?(?:[.,' ]*+\d)++[.,]*+\s*+[%€$£]?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Cell(NamedTuple):
    """A cell of a table: its text on one line, the columns and rows it spans, and whether the file marks it as part of a header."""

    text: str
    columns: int = 1
    rows: int = 1
    is_heading: bool = False


class Table(NamedTuple):
    """A table: the rows above its header, the names of its columns (empty without a header), and the rows below, of equal length."""

    above: list[list[str]]
    columns: list[str]
    rows: list[list[str]]


def fill_spans(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """Return the rows with a cell in each column: merged cells are repeated in all columns and rows that they span."""
    filled: list[list[Cell]] = []
    open_cells: dict[int, tuple[int, Cell]] = {}
    """Cells that reach into the next rows, by column, with the number of rows left."""
    count = 0
    for row in rows:
        cells: dict[int, Cell] = {column: cell for column, (_, cell) in open_cells.items()}
        below = {column: (left - 1, cell) for column, (left, cell) in open_cells.items() if left > 1}
        column = 0
        for cell in row:
            while column in cells:
                column += 1
            for place in range(column, column + max(1, min(cell.columns, _MAX_SPAN))):
                cells.setdefault(place, cell)
                if cell.rows > 1:
                    below.setdefault(place, (min(cell.rows, _MAX_SPAN) - 1, cell))
        open_cells = below if count < _MAX_CELLS else {}
        count += len(cells)
        width = max(cells, default=-1) + 1
        filled.append([cells.get(place, Cell("")) for place in range(width)])
    width = max(map(len, filled), default=0)
    return [row + [Cell("")] * (width - len(row)) for row in filled] if width * len(filled) <= _MAX_CELLS else filled


def read_table(rows: Sequence[Sequence[Cell]]) -> Table:
    """Return a table with its merged cells filled and the rows of its header joined."""
    grid = fill_spans(rows)
    texts = [[cell.text for cell in row] for row in grid]
    first, last = _header_span(grid, texts)
    return Table(texts[:first], join_header(texts[first:last]), texts[last:])


def _header_span(grid: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the first row of the header and the first one after it."""
    marked = next((place for place, row in enumerate(grid) if not all(cell.is_heading for cell in row)), len(grid))
    if 0 < marked < len(grid):
        return 0, marked
    if len(texts) > 1 and is_header(texts[0], texts[1:]):
        return 0, 1
    return 0, 0


def join_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns: the texts of the header's rows from top to bottom, without repetitions ("Price, from 1 April")."""
    return [", ".join(dict.fromkeys(text for text in column if text)) for column in zip(*rows, strict=False)]


def table_lines(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """Yield a table as lines: its header on one line, and a line for each row, with empty cells in their place."""
    table = read_table(rows)
    for row in (*table.above, *([table.columns] if table.columns else ()), *table.rows):
        if any(row):
            yield SEPARATOR.join(row)


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header: distinct words, and no numbers except years."""
    cells = [cell.strip() for cell in first]
    named = [cell for cell in cells if cell]
    if not named or len(set(named)) < len(named) or len(named) < len(cells) - 1:
        return False
    if not any(_NUMBER.fullmatch(cell) for cell in named):
        return True
    numbered = [place for place, cell in enumerate(cells) if _NUMBER.fullmatch(cell)]
    years = all(_YEAR.fullmatch(cells[place]) for place in numbered) and len(numbered) < len(named)
    return years and not any(_YEAR.fullmatch(row[place].strip()) for row in below for place in numbered if place < len(row))
