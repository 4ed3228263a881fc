"""Recognise tables among the rows of a PDF's page, by alignment and ruling lines, and write them row by row."""

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.pdf._characters import turn_box
from ramify.formats.pdf._layout import Block
from ramify.formats.pdf._lines import HYPHEN, PrintedLine
from ramify.formats.tables import table_lines
from ramify.tools.documents.tables import Cell

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_MAX_OBJECTS = 4000
_MAX_RULE_WIDTH = 3.0
"""In points."""
_MIN_ROWS, _MIN_ROWS_OF_WORDS = 3, 6
_MAX_CELL_WORDS, _MAX_CELL_LINES = 7, 4
_MIN_FILLED, _MIN_ALIGNED, _MIN_NUMBERS, _MIN_WORDS = 0.5, 0.6, 0.5, 0.2
_MIN_FULL, _MIN_FULL_RULED = 0.6, 0.4
_MAX_UNIT, _MAX_HEADER_ROWS, _MAX_HEADER_WORDS = 3, 2, 4
_SAME_WIDTH, _MIN_TYPEWRITTEN = 0.01, 0.8
_ALIGNED, _SAME_ROW, _TIGHT, _CLOSER = 0.35, 0.85, 1.4, 0.8
"""In multiples of the font size: greatest difference of aligned edges, distances of lines that are one row, and that may be one; of the
usual distance of rows: greatest distance of a line that continues the row above."""
_LEADERS = re.compile(r"[.·…_\s]{4,}|(?:\.\s?){4,}")
_MIN_DOTS = 4
_MIN_NUMBERS_AFTER_DOTS = 2
_LIST_MARK = re.compile(r"[^\w\s]|\[[^\]]{1,12}\]|\(?\w{1,3}[.):]|\(?\d{1,3}(?:\.\d{1,3}){0,3}[.):]?")
_EQUATION_NUMBER = re.compile(r"\(\w{1,3}(?:\.\w{1,3})*\)")
_PAGE_NUMBER = re.compile(r"\d{1,4}")
_WORD = re.compile(r"[^\W\d_]{3}")


class Rulings(NamedTuple):
    """The ruling lines of a page: horizontal ones as (left, right, height), vertical ones as (bottom, top, place)."""

    horizontal: list[tuple[float, float, float]]
    vertical: list[tuple[float, float, float]]


def find_rulings(page: "PdfPage", turn: int) -> Rulings:
    """Return the ruling lines of a page, and the edges of its boxes."""
    import pypdfium2.raw as pdfium

    rulings = Rulings([], [])
    limits, edges = page.get_mediabox(), [ctypes.c_float() for _ in range(4)]
    for number in range(min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH or not pdfium.FPDFPageObj_GetBounds(item, *edges):
            continue
        left, bottom, right, top = turn_box((edges[0].value, edges[1].value, edges[2].value, edges[3].value), turn, limits)
        if right - left > _MAX_RULE_WIDTH:
            rulings.horizontal.extend((left, right, height) for height in ({top, bottom} if top - bottom > _MAX_RULE_WIDTH else {top}))
        if top - bottom > _MAX_RULE_WIDTH:
            rulings.vertical.extend((bottom, top, place) for place in ({left, right} if right - left > _MAX_RULE_WIDTH else {left}))
    return rulings


class _Grid(NamedTuple):
    """The rows of a block as cells: the pieces in each column, and the columns that the first of them spans."""

    cells: list[list[list[PrintedLine]]]
    spans: list[list[int]]
    tops: list[float]
    bottoms: list[float]

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell, without the dots that lead to the next one."""
        text = " ".join(piece.text for piece in self.cells[row][column])
        shorter = text.rstrip(" .")
        return shorter if len(text) - len(shorter) >= _MIN_DOTS else text

    def column(self, column: int) -> list[str]:
        return [text for row in range(len(self.cells)) if (text := self.text(row, column))]


def read_block(block: Block, page_rulings: Callable[[], Rulings]) -> list[PrintedLine]:
    """Return the lines of a block as rows of a table; none if it is no table. The ruling lines of its page are read only if needed."""
    size = block.size()
    if not _may_be_table(block):
        return []
    rulings = page_rulings()
    has_bars = _has_bars(block, rulings)
    rulings = rulings if has_bars else rulings._replace(vertical=[])
    left, right = block.columns[0][0], block.columns[-1][1]
    lines = sorted(
        (
            height
            for begin, end, height in rulings.horizontal
            if min(end, right) - max(begin, left) > 0.5 * (right - left) / len(block.columns)
            and block.rows[-1][-1].piece.bottom - 2 * size < height < block.rows[0][0].piece.top + 3 * size
        ),
        reverse=True,
    )
    grid = _fill(block, rulings)
    is_ruled = has_bars or _distinct(lines, size) > max(2, len(block.rows) // 2)
    if not _is_table(grid, block, size, ruled=is_ruled, lined=bool(lines)):
        return []
    rows = _merge_rows(grid, _row_groups(grid, lines), _drawn_together(block), size)
    full = sum(sum(any(grid.cells[line][column] for line in row) for column in range(len(block.columns))) > 1 for row in rows)
    return list(_write(grid, rows, block, size)) if full >= (_MIN_FULL_RULED if is_ruled else _MIN_FULL) * len(rows) else []


def _distinct(heights: Sequence[float], size: float) -> int:
    return sum(above - below > size / 2 for above, below in pairwise(heights)) + bool(heights)


def _has_bars(block: Block, rulings: Rulings) -> bool:
    """Return whether a vertical ruling line runs between two columns."""
    top, bottom = block.rows[0][0].piece.top, block.rows[-1][-1].piece.bottom
    between = [(left, right) for (_, left), (right, _) in pairwise(block.columns)]
    return any(
        min(high, top) - max(low, bottom) > 0.5 * (top - bottom) and any(left <= place <= right for left, right in between)
        for low, high, place in rulings.vertical
    )


def _spanned(block: Block, piece: PrintedLine, rulings: Rulings) -> list[int]:
    """Return the columns that a piece spans: those between the vertical ruling lines beside it, or above the ruling line below it."""
    spanned = block.spanned(piece)
    height, near = piece.top + piece.size / 4, piece.size / 2
    bars = [place for low, high, place in rulings.vertical if low - near < height < high + near]
    left = max((place for place in bars if place < piece.left + near), default=None)
    right = min((place for place in bars if place > piece.right - near), default=None)
    if left is None or right is None:
        if piece.top < block.rows[:_MAX_HEADER_ROWS][-1][0].piece.top or len(piece.text.split()) > _MAX_HEADER_WORDS:
            return spanned[:1]
        below = [(end - begin, begin, end) for begin, end, place in rulings.horizontal if 0 < height - place < 2 * piece.size]
        under = [line for line in below if line[1] < piece.left + near and line[2] > piece.right - near]
        if not under:
            return spanned
        _, left, right = min(under)
    within = [column for column, edges in enumerate(block.columns) if left < sum(edges) / 2 < right]
    return within if len(spanned) < len(within) < len(block.columns) else spanned


def _fill(block: Block, rulings: Rulings) -> _Grid:
    cells, spans = [], []
    for row in block.rows:
        texts: list[list[PrintedLine]] = [[] for _ in block.columns]
        wide = [1] * len(block.columns)
        for placed in row:
            spanned = _spanned(block, placed.piece, rulings)
            texts[spanned[0]].append(placed.piece)
            wide[spanned[0]] = max(wide[spanned[0]], len(spanned))
        cells.append(texts)
        spans.append(wide)
    tops = [row[0].piece.top for row in block.rows]
    return _Grid(cells, spans, tops, [min(placed.piece.bottom for placed in row) for row in block.rows])


def _may_be_table(block: Block) -> bool:
    """Return whether a block has words, or a first row or column of words, and no column of dots as contents have."""
    texts = [placed.piece.text for row in block.rows for placed in row]
    first_row, first_column = [placed.piece.text for placed in block.rows[0]], [row[0].piece.text for row in block.rows]
    has_words = _share_of_words(texts) >= _MIN_WORDS or max(_share_of_words(first_row), _share_of_words(first_column)) > 0.5
    return has_words and not any(_LEADERS.fullmatch(text) for text in texts)


def _share_of_words(texts: Sequence[str]) -> float:
    return sum(_WORD.search(text) is not None for text in texts) / len(texts)


def _is_table(grid: _Grid, block: Block, size: float, ruled: bool, lined: bool) -> bool:
    """Return whether a block is a table: rows of short texts that are aligned, and neither a list, a program, equations nor contents."""
    columns = [grid.column(column) for column in range(len(block.columns))]
    texts = [text for column in columns for text in column]
    rows = sum(len(row) > 1 for row in block.rows)
    if rows < (2 if ruled else _MIN_ROWS) or not all(columns):
        return False
    numbers = [sum(map(is_number, column)) / len(column) for column in columns]
    if not ruled and max(numbers[1:]) < _MIN_NUMBERS and _is_typewritten(block):
        return False
    behind = [len(row) - place for row in block.rows for place, placed in enumerate(row, start=1) if _LEADERS.search(placed.piece.text)]
    if behind and median(behind) < _MIN_NUMBERS_AFTER_DOTS:
        return False
    if not ruled and max(numbers[:-1]) < _MIN_NUMBERS and all(map(_PAGE_NUMBER.fullmatch, columns[-1])) and _rises(columns[-1]):
        return False
    if len(columns) == 2:
        if all(_LIST_MARK.fullmatch(text) for text in columns[0]) or all(_EQUATION_NUMBER.fullmatch(text) for text in columns[1]):
            return False
        if not ruled and max(numbers) < _MIN_NUMBERS and not lined and not _are_pairs(grid, size):
            return False
    filled = sum(map(len, columns)) >= _MIN_FILLED * len(columns) * rows
    short = median(len(text.split()) for text in texts) <= _MAX_CELL_WORDS
    return (ruled or (filled and short and _in_order(block))) and all(_is_aligned(grid, column, size) for column in range(len(columns)))


def _is_typewritten(block: Block) -> bool:
    """Return whether all characters are equally wide, as in a program."""
    pieces = [placed.piece for row in block.rows for placed in row if len(placed.piece.text) > 2]
    widths = [(piece.right - piece.left) / len(piece.text) / piece.size for piece in pieces]
    usual = median(widths) if widths else 0.0
    return sum(abs(width - usual) < _SAME_WIDTH for width in widths) > _MIN_TYPEWRITTEN * len(widths)


def _are_pairs(grid: _Grid, size: float) -> bool:
    """Return whether rows of two texts are a table: many, or apart from each other with both cells filled."""
    distances = [above - below for above, below in pairwise(grid.tops)]
    is_apart = median(distances) > _TIGHT * size and all(all(row) for row in grid.cells)
    return len(grid.cells) >= (_MIN_ROWS_OF_WORDS if not is_apart else _MIN_ROWS + 1)


def is_number(text: str) -> bool:
    """Return whether a cell is a number, with its unit or currency."""
    digits = sum(character.isdigit() for character in text)
    letters = sum(character.isalpha() for character in text)
    return digits > letters or (digits > 0 and letters <= _MAX_UNIT)


def _rises(texts: Sequence[str]) -> bool:
    return all(int(one) <= int(other) for one, other in pairwise(texts))


def _in_order(block: Block) -> bool:
    """Return whether the rows are drawn one after the other, not the columns."""
    steps = [(above[0].number, below[0].number) for above, below in pairwise(block.rows)]
    return sum(above <= below + _MAX_CELL_LINES for above, below in steps) >= 0.8 * len(steps)


def _is_aligned(grid: _Grid, column: int, size: float) -> bool:
    """Return whether most cells of a column have the same left edge, right edge or middle."""
    pieces = [row[column] for row, spans in zip(grid.cells, grid.spans, strict=True) if row[column] and spans[column] == 1]
    places = [
        [cell[0].left for cell in pieces],
        [cell[-1].right for cell in pieces],
        [(cell[0].left + cell[-1].right) / 2 for cell in pieces],
    ]
    return (
        any(
            max(sum(abs(one - other) < _ALIGNED * size for other in edges) for one in edges[:40]) >= _MIN_ALIGNED * len(edges)
            for edges in places
            if edges
        )
        or not pieces
    )


def _row_groups(grid: _Grid, lines: Sequence[float]) -> list[int]:
    """Return the number of ruling lines above each row."""
    return [sum(line > top for line in lines) for top in grid.tops]


def _drawn_together(block: Block) -> list[bool]:
    """Return for each row whether the file draws it, or one below it, before the end of the row above: they are lines of one row."""
    firsts = [min(placed.number for placed in row) for row in block.rows]
    lasts = [max(placed.number for placed in row) for row in block.rows]
    following = [*accumulate(reversed(firsts), min)][::-1]
    together = [False, *(first < last for first, last in zip(following[1:], lasts, strict=False))]
    return together if not all(together[1:]) else [False] * len(together)


def _merge_rows(grid: _Grid, groups: Sequence[int], together: Sequence[bool], size: float) -> list[list[int]]:
    """Return the lines of each row: those between two ruling lines, if they have one line in some column, else those that stand close."""
    by_group = Counter(groups)
    is_ruled = len(by_group) > 2
    distances = [above - below for above, below in zip(grid.bottoms, grid.tops[1:], strict=False)]
    apart = [distance for distance, same in zip(distances, together[1:], strict=True) if distance > _SAME_ROW * size and not same]
    usual = median(apart) if apart else size
    rows: list[list[int]] = [[0]]
    for row, (above, below) in enumerate(pairwise(range(len(grid.tops))), start=1):
        if is_ruled and by_group[groups[row]] > 1 and _is_one_row(grid, groups, groups[row]):
            joined = groups[above] == groups[below]
        elif is_ruled and groups[above] != groups[below]:
            joined = False
        else:
            joined = together[row] or _continues_row(grid, row, distances[row - 1], usual, size)
        if joined:
            rows[-1].append(row)
        else:
            rows.append([row])
    return rows


def _is_one_row(grid: _Grid, groups: Sequence[int], group: int) -> bool:
    """Return whether the lines between two ruling lines are one row: some column has one line only."""
    lines = [row for row, number in enumerate(groups) if number == group]
    filled = [sum(bool(grid.cells[row][column]) for row in lines) for column in range(len(grid.cells[0]))]
    return 1 in filled


def _continues_row(grid: _Grid, row: int, distance: float, usual: float, size: float) -> bool:
    if distance < _SAME_ROW * size:
        return True
    if distance > _TIGHT * size:
        return False
    filled = [column for column, cell in enumerate(grid.cells[row]) if cell]
    if distance < _CLOSER * usual:
        return True
    return filled[0] > 0 and not any(is_number(grid.text(row, column)) for column in filled)


def _write(grid: _Grid, rows: Sequence[Sequence[int]], block: Block, size: float) -> Iterator[PrintedLine]:
    """Yield the rows as lines."""
    cells = []
    for row in rows:
        written: list[Cell] = []
        column = 0
        while column < len(block.columns):
            span = max(grid.spans[line][column] for line in row)
            written.append(Cell(_join([text for line in row if (text := grid.text(line, column))]), span))
            column += span
        cells.append(written)
    texts = list(table_lines(cells))
    left, right = block.columns[0][0], block.columns[-1][1]
    for text, row in zip(texts, [rows[0], *rows[len(rows) - len(texts) + 1 :]], strict=True):
        yield PrintedLine(left, right, grid.tops[row[0]], grid.bottoms[row[-1]], size, text, len(block.columns))


def _join(texts: Sequence[str]) -> str:
    """Join the lines of a cell."""
    joined = ""
    for text in texts:
        joined += text if not joined or joined.endswith(HYPHEN) else f" {text}"
    return joined
