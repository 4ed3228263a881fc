"""Tables with merged cells, as lines: a line for the header, and one for each row."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ramify.tools.documents.tables import SEPARATOR, Cell, header_span, join_header

_MAX_SPAN = 1000
_MAX_CELLS = 1_000_000
"""Limits of what merged cells are filled into."""


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
    first, last = header_span(grid)
    return Table(texts[:first], join_header(texts[first:last]), texts[last:])


def table_lines(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """Yield a table as lines: its header on one line, and a line for each row, with empty cells in their place."""
    table = read_table(rows)
    for row in (*table.above, *([table.columns] if table.columns else ()), *table.rows):
        if any(row):
            yield SEPARATOR.join(row)
