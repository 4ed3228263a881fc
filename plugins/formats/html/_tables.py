"""Collect the rows of a table of a web page, and write them as lines with the ids in their cells."""

from collections.abc import Sequence
from typing import NamedTuple

from lxml import html

from ramify.formats.tables import fill_spans, read_table
from ramify.tools.documents.tables import SEPARATOR, Cell

_MAX_COLUMNS, _MAX_ROWS = 1000, 65_534
"""Largest spans in HTML."""
_MAX_SPANNING = 50
"""Most columns beside the cells of a row into which cells of rows above reach."""
_GROUPS = {"thead": 0, "tfoot": 2}
"""Order of the parts of a table; rows elsewhere come between."""
Marks = Sequence[tuple[int, str]]
"""Offsets in a text, each with the id that begins there."""


class TableLine(NamedTuple):
    """A row on one line, and the ids within it."""

    text: str
    marks: list[tuple[int, str]]


class TableRows:
    """Collects the cells of a table, row by row."""

    def __init__(self, table: html.HtmlElement) -> None:
        self.table = table
        self._rows: list[tuple[int, html.HtmlElement, list[Cell]]] = []
        self._marks: dict[int, Marks] = {}
        """Ids by cell, which is the same object wherever it is filled into."""

    def owns(self, element: html.HtmlElement) -> bool:
        """Return whether a row or cell belongs to this table, not to one in its cells."""
        parent = element.getparent() if element.tag == "tr" else element.getparent().getparent()
        return parent is self.table or (
            parent is not None and parent.tag in ("thead", "tbody", "tfoot") and parent.getparent() is self.table
        )

    def begin_row(self, row: html.HtmlElement) -> None:
        """Begin a row."""
        parent = row.getparent()
        self._rows.append((_GROUPS.get(parent.tag, 1) if parent is not None else 1, parent, []))

    def add_cell(self, element: html.HtmlElement, text: str, marks: Marks) -> None:
        """Append a cell to the row."""
        if not self._rows:
            self.begin_row(element)
        group, _, cells = self._rows[-1]
        is_heading = group == 0 or (element.tag == "th" and not element.get("scope", "").startswith("row"))
        rows = _span(element, "rowspan", _MAX_ROWS)
        cell = Cell(" ".join(text.split()), max(1, _span(element, "colspan", _MAX_COLUMNS)), rows or _MAX_ROWS, is_heading)
        cells.append(cell)
        self._marks[id(cell)] = marks

    def lines(self) -> list[TableLine]:
        """Return the titles above, the header, and a line for each row, with merged cells filled into what they span."""
        grid = self._without_joined_columns(self._filled())
        titles = 0
        while titles < len(grid) - 1 and _is_one_cell(grid[titles]):
            titles += 1
        plain = [[Cell(cell.text, is_heading=cell.is_heading) for cell in row] for row in grid[titles:]]
        table = read_table(plain)
        first = titles + len(table.above)
        body = len(grid) - len(table.rows)
        lines = [self._line([row[0].text], [row[:1]]) for row in grid[:titles]]
        lines += [self._line(texts, [row]) for texts, row in zip(table.above, grid[titles:], strict=False)]
        lines += [self._line(table.columns, grid[first:body])] if table.columns else []
        for texts, row in zip(table.rows, grid[body:], strict=True):
            lines.append(self._line(texts[:1], [row[:1]]) if _is_one_cell(row) else self._line(texts, [row]))
        return [line for line in lines if line.text.strip(" |")]

    def _filled(self) -> list[list[Cell]]:
        """Return a grid of the rows, head first and foot last; no cell reaches into the next part of the table."""
        ordered = sorted(self._rows, key=lambda row: row[0])
        most = max((len(cells) for _, _, cells in ordered), default=0)
        spanning = sum(cell.rows > 1 for _, _, cells in ordered for cell in cells)
        width = min(_MAX_COLUMNS, most + min(spanning, _MAX_SPANNING))
        grid: list[list[Cell]] = []
        begin = 0
        for place in range(1, len(ordered) + 1):
            if place == len(ordered) or ordered[place][1] is not ordered[begin][1]:
                rows = [cells for _, _, cells in ordered[begin:place]]
                grid += self._fill_group(rows, width)
                begin = place
        columns = max(map(len, grid), default=0)
        return [row + [_EMPTY] * (columns - len(row)) for row in grid] if columns <= _MAX_COLUMNS else grid

    def _fill_group(self, rows: list[list[Cell]], width: int) -> list[list[Cell]]:
        limited = []
        for place, cells in enumerate(rows):
            limited.append([self._limit(cell, width, len(rows) - place) for cell in cells])
        return fill_spans(limited)

    def _limit(self, cell: Cell, columns: int, rows: int) -> Cell:
        if cell.columns <= columns and cell.rows <= rows:
            return cell
        limited = cell._replace(columns=min(cell.columns, columns), rows=min(cell.rows, rows))
        self._marks[id(limited)] = self._marks.pop(id(cell), ())
        return limited

    def _without_joined_columns(self, grid: list[list[Cell]]) -> list[list[Cell]]:
        """Return the rows without columns in which no cell begins: every cell there is that of the column before."""
        width = max(map(len, grid), default=0)
        begins: set[int] = set()
        for row in grid:
            first = {id(cell): place for place, cell in reversed(list(enumerate(row)))}
            begins.update(place for cell, place in first.items() if cell in self._marks)
        begun = [place for place in range(width) if not place or place in begins]
        return [[row[place] if place < len(row) else _EMPTY for place in begun] for row in grid]

    def _line(self, texts: Sequence[str], rows: Sequence[Sequence[Cell]]) -> TableLine:
        """Return texts as a line; ids stand where the cells of `rows` first begin."""
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text) + len(SEPARATOR))
        marks: dict[int, list[tuple[int, str]]] = {}
        for row in rows:
            for start, cell in zip(starts, row, strict=False):
                place = id(cell)
                if self._marks.get(place):
                    marks[place] = [(start + (offset if len(rows) == 1 else 0), name) for offset, name in self._marks.pop(place)]
        return TableLine(SEPARATOR.join(texts), sorted(mark for listed in marks.values() for mark in listed))


_EMPTY = Cell("")


def _span(element: html.HtmlElement, name: str, most: int) -> int:
    """Return the columns or rows that a cell spans; 0 rows reach to the end of the table's part."""
    stated = element.get(name, "1").strip()
    if not stated.isascii() or not stated.isdigit():
        return 1
    return most if len(stated) > len(str(most)) else min(int(stated), most)


def _is_one_cell(row: Sequence[Cell]) -> bool:
    """Return whether a row is one cell over several columns, such as a title."""
    return len(row) > 1 and bool(row[0].text) and all(cell is row[0] for cell in row)
