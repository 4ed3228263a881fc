"""Read the tables of Word documents: merged cells, rows that repeat as header, and tables that are only layout."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.office.runs import DELETED
from ramify.formats.tables import table_lines
from ramify.formats.word._parts import find_value, is_on, name_of, number_value
from ramify.formats.word._runs import REMOVED, plain_text
from ramify.tools.documents.sections import word_count
from ramify.tools.documents.tables import Cell

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_CELL_WORDS = 200
"""Longest cell that is part of a table; a table with longer ones is layout."""
_MAX_HEADING_ROWS = 4
"""Of more rows that are marked as header, none is one."""
_MAX_LAYOUT_ROWS = 2
"""Tables with more rows are data, even if headings or tables are in their cells."""


class Block(NamedTuple):
    """A paragraph or a table: its text, and its level if it is a heading."""

    text: str
    level: int = 0
    is_title: bool = False
    is_item: bool = False
    """Whether it is part of a list."""
    is_bold: bool = False
    has_page_number: bool = False
    role: str | None = None
    """"contents" or "index" for entries of these."""
    rows: Sequence[Sequence[Cell]] = ()
    """Of a table."""


class _TableCell(NamedTuple):
    """A cell as it is stored: its blocks, the columns it spans, and whether it begins ("restart") or goes on ("continue") a merged cell."""

    blocks: list[Block]
    columns: int
    merge: str
    is_heading: bool


def read_table(
    table: "_Element", read_cell: "Callable[[_Element], list[Block]]", leave_out: Callable[[str, Iterable[str]], None]
) -> Iterator[Block]:
    """Yield a table as a block; of a table that is only layout, yield the content of its cells."""
    rows = [list(_row_cells(row, read_cell, leave_out)) for row in _outermost(table, "w:tr")]
    rows = [row for row in rows if row]
    last = next((number for number, row in enumerate(rows) if not row[0].is_heading), len(rows))
    if last > _MAX_HEADING_ROWS:
        rows = [[cell._replace(is_heading=False) for cell in row] for row in rows]
    if _is_layout(rows):
        yield from (block for row in rows for cell in row for block in cell.blocks)
    elif text := "\n".join(table_lines(grid := _merge_down(rows))):
        yield Block(text, rows=grid)


def _row_cells(
    row: "_Element", read_cell: "Callable[[_Element], list[Block]]", leave_out: Callable[[str, Iterable[str]], None]
) -> Iterator[_TableCell]:
    properties = row.find("{*}trPr")
    is_heading = properties is not None and is_on(properties.find("{*}tblHeader"))
    if properties is not None and (properties.find("{*}del") is not None or is_on(properties.find("{*}hidden"))):
        leave_out(DELETED if properties.find("{*}del") is not None else "hidden row", filter(str.strip, [plain_text(row)]))
        return
    if properties is not None and (before := number_value(properties, "{*}gridBefore")) > 0:
        yield _TableCell([], before, "", is_heading)
    for cell in _outermost(row, "w:tc"):
        stated = cell.find("{*}tcPr")
        if stated is None:
            yield _TableCell(read_cell(cell), 1, "", is_heading)
        elif stated.find("{*}cellDel") is not None:
            leave_out(DELETED, filter(str.strip, [plain_text(cell)]))
        else:
            merge = stated.find("{*}vMerge")
            span = max(number_value(stated, "{*}gridSpan"), 1)
            yield _TableCell(read_cell(cell), span, "" if merge is None else find_value(merge, ".") or "continue", is_heading)


def _outermost(element: "_Element", name: str) -> "Iterator[_Element]":
    """Yield the elements of a name within an element, without those nested in another of them and without deleted ones."""
    for child in element:
        own = name_of(child)
        if own == name:
            yield child
        elif own not in REMOVED and own not in ("", "w:tblPr", "w:tblGrid", "w:trPr", "w:tblPrEx", "w:sdtPr"):
            yield from _outermost(child, name)


def _is_layout(rows: Sequence[Sequence[_TableCell]]) -> bool:
    """Return whether a table only places text: one cell, very long ones, or headings and tables in a few."""
    cells = [cell for row in rows for cell in row]
    if len(cells) <= 1 or any(sum(word_count(block.text) for block in cell.blocks) > _MAX_CELL_WORDS for cell in cells):
        return True
    is_small = len(rows) <= _MAX_LAYOUT_ROWS or all(len(row) == 1 for row in rows)
    return is_small and any(block.level or block.rows for cell in cells for block in cell.blocks)


def _merge_down(rows: Sequence[Sequence[_TableCell]]) -> list[list[Cell]]:
    """Return the rows with the number of rows that each cell spans, without those that go on a cell above."""
    grid: list[list[Cell]] = []
    above: dict[int, tuple[int, int]] = {}
    """The row and place in it of the merged cell above a column."""
    for number, row in enumerate(rows):
        cells: list[Cell] = []
        below: dict[int, tuple[int, int]] = {}
        column = 0
        for cell in row:
            text = _cell_text(cell.blocks)
            if cell.merge == "continue" and column in above and not text:
                top, place = below[column] = above[column]
                if top < number:
                    grid[top][place] = grid[top][place]._replace(rows=number - top + 1)
            else:
                if cell.merge:
                    below[column] = (number, len(cells))
                cells.append(Cell(text, cell.columns, is_heading=cell.is_heading))
            column += cell.columns
        grid.append(cells)
        above = below
    return grid


def _cell_text(blocks: Sequence[Block]) -> str:
    """Return the text of a cell on one line; rows of a table within it are separated by semicolons."""
    return " ".join(" ".join(_nested_text(block.rows) if block.rows else block.text for block in blocks).split())


def _nested_text(rows: Sequence[Sequence[Cell]]) -> str:
    return "; ".join(", ".join(cell.text for cell in row if cell.text) for row in rows)
