"""Find what stands side by side on a PDF's page, and tell columns of running text, which are read one after the other, from tables."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ramify.formats.pdf._lines import PrintedLine
from ramify.formats.pdf._pieces import COLUMN_GAP

_SAME_BASELINE, _MAX_ROW_DISTANCE, _MAX_STEP_UP, _MAX_STEP_DOWN, _MIN_STRIP = 0.4, 3.2, 14.0, 8.0, 0.5
"""In multiples of the font size: greatest difference of baselines in a row, distance of rows, step up to the next cell and down to the last
line of one; least free strip between columns."""
_MAX_SIZE_RATIO = 1.4
_MAX_HEADER_ROWS, _MIN_APART = 2, 1.8
_MAX_ROWS, _ROWS_AHEAD = 150, 12
_MIN_SPANNED_SHARE = 0.5
_MAX_TEXT_PITCH, _MIN_TEXT_WORDS, _MIN_TEXT_LINES, _MIN_TEXT_CHARACTERS = 1.75, 3, 3, 8
_MIN_FILLED, _MIN_FILLED_SHARE, _MIN_RUNNING_SHARE = 0.75, 0.5, 0.25
_MAX_COLUMNS_OF_TEXT, _MAX_RUNS = 4, 60
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MIN_SIMILAR_WIDTH = 0.75


class Placed(NamedTuple):
    """A piece of a line, and the number of the line on its page."""

    number: int
    piece: PrintedLine


Row = list[Placed]


class Block(NamedTuple):
    """Rows of pieces that stand side by side, from the top; the lines of the page that it takes; and the edges of its columns."""

    rows: list[Row]
    numbers: range
    columns: list[tuple[float, float]]

    def size(self) -> float:
        """Return the usual font size."""
        return median(placed.piece.size for row in self.rows for placed in row)

    def spanned(self, piece: PrintedLine) -> list[int]:
        """Return the columns that a piece stands in."""
        nearest = min(range(len(self.columns)), key=lambda column: _distance(piece, *self.columns[column]))
        return [
            column
            for column, (left, right) in enumerate(self.columns)
            if min(right, piece.right) - max(left, piece.left) > 0.2 * piece.size or column == nearest
        ]


def _distance(piece: PrintedLine, left: float, right: float) -> float:
    return max(left - piece.right, piece.left - right, 0.0) or -(min(right, piece.right) - max(left, piece.left))


def find_blocks(lines: Sequence[Sequence[PrintedLine]]) -> Iterator[Block]:
    """Yield the blocks of a page whose lines are drawn row by row, or cell by cell."""
    steps = [
        number for number, (above, line) in enumerate(pairwise(lines)) if line[0].top > above[-1].bottom - _SAME_BASELINE * line[0].size
    ]
    number = 0
    while number < len(lines):
        while steps and steps[0] < number:
            steps.pop(0)
        is_near = bool(steps) and steps[0] < number + _ROWS_AHEAD and _is_beside(lines, number)
        rows = _grow(lines, number) if is_near or gaps_of(lines[number]) else []
        end = max(_last_number(rows), number) + 1 if rows else number + 1
        if sum(len(row) > 1 for row in rows) > 1 and len(columns := _find_columns(rows)) > 1:
            yield Block(rows, range(_first_number(rows), end), columns)
        number = end


def _is_beside(lines: Sequence[Sequence[PrintedLine]], number: int) -> bool:
    """Return whether one of the next lines stands beside a line."""
    first = lines[number][0]
    return any(
        abs(other[0].top - first.top) < _SAME_BASELINE * first.size and not _overlap(other[0], first)
        for other in lines[number + 1 : number + _ROWS_AHEAD]
    )


def _overlap(one: PrintedLine, other: PrintedLine) -> bool:
    return one.left < other.right and other.left < one.right


def gaps_of(pieces: Sequence[PrintedLine]) -> list[tuple[float, float]]:
    """Return the gaps of a row that are wide enough to part columns."""
    return [(one.right, other.left) for one, other in pairwise(pieces) if other.left - one.right > COLUMN_GAP * max(one.size, other.size)]


def _grow(lines: Sequence[Sequence[PrintedLine]], start: int) -> list[Row]:
    """Return the rows from a line on, as far as they stand close together and have gaps in common."""
    rows: list[Row] = []
    usual, lowest = lines[start][0].size, lines[start][0].top + 1
    gaps: list[tuple[float, float]] = []
    for number in range(start, len(lines)):
        line = lines[number]
        first = line[0]
        if not usual / _MAX_SIZE_RATIO < first.size < usual * _MAX_SIZE_RATIO or len(rows) >= _MAX_ROWS:
            break
        near = rows[-_ROWS_AHEAD:] if first.top > lowest - _SAME_BASELINE * usual else ()
        row = next((row for row in near if abs(row[0].piece.top - first.top) < _SAME_BASELINE * usual), None)
        if row is None:
            if (rows and not _is_next(rows[0][0].piece, lowest, lines[number - 1], first)) or (gaps and _crosses(gaps, line)):
                break
            row = []
            rows.append(row)
        elif any(_overlap(piece, other.piece) for piece in line for other in row):
            break
        row += [Placed(number, piece) for piece in line]
        row.sort(key=lambda placed: placed.piece.left)
        gaps = gaps_of([placed.piece for placed in row]) or gaps
        lowest = min(lowest, line[-1].bottom)
    return _trim(sorted(rows, key=lambda row: -row[0].piece.top))


def _is_next(top: PrintedLine, lowest: float, above: Sequence[PrintedLine], piece: PrintedLine) -> bool:
    """Return whether a line is the next row, or begins the next cell, which may be above the last line of the previous one."""
    if piece.top < lowest:
        return lowest - piece.top < _MAX_STEP_DOWN * piece.size
    if 0 < above[-1].bottom - piece.top < _MAX_ROW_DISTANCE * piece.size and _overlap(above[-1], piece):
        return True
    is_within = piece.top < top.top + 2 * piece.size
    return is_within and piece.top - lowest < _MAX_STEP_UP * piece.size and piece.left > above[-1].left


def _crosses(gaps: Sequence[tuple[float, float]], line: Sequence[PrintedLine]) -> bool:
    """Return whether a line has no gap where the last row with gaps has one."""
    return all(any(piece.left < right and piece.right > left for piece in line) and not _shares(line, left, right) for left, right in gaps)


def _shares(line: Sequence[PrintedLine], left: float, right: float) -> bool:
    """Return whether a strip of the gap stays free in a line."""
    taken = sorted((max(piece.left, left), min(piece.right, right)) for piece in line if piece.left < right and piece.right > left)
    edge, widest = left, 0.0
    for begin, end in taken:
        widest, edge = max(widest, begin - edge), max(edge, end)
    return max(widest, right - edge) >= _MIN_STRIP * line[0].size


def _trim(rows: list[Row]) -> list[Row]:
    """Return the rows that stand close together, from the first to the last that has gaps, and those that the file draws among them."""
    for place in range(1, len(rows)):
        above, below = rows[place - 1], rows[place]
        is_far = _bottom(above) - below[0].piece.top > _MAX_ROW_DISTANCE * below[0].piece.size
        if is_far and _last_number(rows[:place]) < _first_number(rows[place:]):
            rows = rows[:place]
            break
    rows = _without_page_header(rows)
    wide = [place for place, row in enumerate(rows) if gaps_of([placed.piece for placed in row])]
    if not wide:
        return []
    first, end = wide[0], wide[-1] + 1
    while end < len(rows) and (
        _first_number(rows[end:]) < _last_number(rows[first:end]) or _is_rest(rows[wide[-1]], rows[end - 1], rows[end])
    ):
        end += 1
    while first > 0 and _last_number(rows[:first]) > _first_number(rows[first:end]):
        first -= 1
    return rows[first:end]


def _without_page_header(rows: list[Row]) -> list[Row]:
    """Return the rows without first ones that stand apart from the others and have fewer pieces."""
    distances = [_bottom(above) - below[0].piece.top for above, below in pairwise(rows)]
    usual, most = median(distances) if distances else 0.0, max(map(len, rows))
    first = 0
    while first < min(_MAX_HEADER_ROWS, len(distances)) and distances[first] > _MIN_APART * usual and len(rows[first]) < most:
        first += 1
    return rows[first:] if first and _last_number(rows[:first]) < _first_number(rows[first:]) else rows


def _first_number(rows: Sequence[Row]) -> int:
    return min(placed.number for row in rows for placed in row)


def _last_number(rows: Sequence[Row]) -> int:
    return max(placed.number for row in rows for placed in row)


def _is_rest(full: Row, above: Row, row: Row) -> bool:
    """Return whether a row is the rest of a cell of the last full row that is not the first one."""
    piece = row[0].piece
    is_within = full[0].piece.right < piece.left and row[-1].piece.right < full[-1].piece.right + _MAX_ROW_DISTANCE * piece.size
    return is_within and _bottom(above) - piece.top < _MAX_TEXT_PITCH * piece.size


def _bottom(row: Row) -> float:
    return min(placed.piece.bottom for placed in row)


def _find_columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the edges of the columns: what stands between the strips that are free in all rows but for cells over several columns."""
    gaps = [gaps_of([placed.piece for placed in row]) for row in rows]
    wide = sum(map(bool, gaps))

    def is_spanning(piece: PrintedLine) -> bool:
        near = _MIN_STRIP * piece.size
        within = sum(any(piece.left < left + near and right - near <= piece.right for left, right in row) for row in gaps)
        return within >= _MIN_SPANNED_SHARE * wide

    most = max(map(len, rows))
    pieces = [placed.piece for row in rows for placed in row if len(row) == most or not is_spanning(placed.piece)]
    pieces.sort(key=lambda piece: piece.left)
    columns: list[tuple[float, float]] = []
    for piece in pieces:
        if columns and piece.left < columns[-1][1] + _MIN_STRIP * piece.size:
            columns[-1] = columns[-1][0], max(columns[-1][1], piece.right)
        else:
            columns.append((piece.left, piece.right))
    return columns


def is_running_text(block: Block) -> bool:
    """Return whether the columns of a block are running text: lines of words that fill their column and go on within sentences."""
    if len(block.columns) > _MAX_COLUMNS_OF_TEXT:
        return False
    columns: list[list[PrintedLine]] = [[] for _ in block.columns]
    for row in block.rows:
        for placed in row:
            columns[block.spanned(placed.piece)[0]].append(placed.piece)
    return all(_is_text_column(pieces, left, right) for pieces, (left, right) in zip(columns, block.columns, strict=True))


def _is_text_column(pieces: Sequence[PrintedLine], left: float, right: float) -> bool:
    if len(pieces) < _MIN_TEXT_LINES:
        return False
    pitches = [(above.top - below.top) / below.size for above, below in pairwise(pieces) if above.top > below.top]
    if not pitches or median(pitches) > _MAX_TEXT_PITCH:
        return False
    texts = [piece.text for piece in pieces]
    letters = sum(character.isalpha() for text in texts for character in text)
    if 2 * letters < sum(map(len, texts)):
        return False
    cased = [text for text in texts if text.lower() != text.upper()]
    running = sum(text[:1].islower() for text in cased) >= _MIN_RUNNING_SHARE * len(cased) if 2 * len(cased) > len(texts) else True
    long = median(len(text.split()) for text in texts) >= _MIN_TEXT_WORDS if 2 * len(cased) > len(texts) else True
    filled = sum(piece.right - piece.left > _MIN_FILLED * (right - left) for piece in pieces)
    return running and long and median(map(len, texts)) >= _MIN_TEXT_CHARACTERS and filled >= _MIN_FILLED_SHARE * len(pieces)


def read_columns(block: Block, lines: Sequence[Sequence[PrintedLine]]) -> tuple[range, list[list[PrintedLine]]]:
    """Return the lines that columns of text take, with those above and below that fill one of them, and their order of reading."""
    first, end = block.numbers.start, block.numbers.stop
    while first > 0 and _belongs(block, lines[first - 1], lines[first][0]):
        first -= 1
    while end < len(lines) and _belongs(block, lines[end], lines[end - 1][0]):
        end += 1
    columns: list[list[list[PrintedLine]]] = [[] for _ in block.columns]
    for line in lines[first:end]:
        parts: dict[int, list[PrintedLine]] = {}
        for piece in line:
            parts.setdefault(block.spanned(piece)[0], []).append(piece)
        for column, pieces in parts.items():
            columns[column].append(pieces)
    if sum(len(_RIGHT_TO_LEFT.findall(line[0].text)) > len(line[0].text) / 4 for line in lines[first:end]) > (end - first) / 2:
        columns.reverse()
    return range(first, end), [line for column in columns for line in sorted(column, key=lambda line: -line[0].top)]


def _belongs(block: Block, line: Sequence[PrintedLine], near: PrintedLine) -> bool:
    """Return whether a line continues one column of a block: close to a line of it, and within its edges."""
    is_close = abs(near.top - line[0].top) < _MAX_TEXT_PITCH * line[0].size and abs(near.size - line[0].size) < 0.1 * near.size
    return is_close and any(left - line[0].size < line[0].left and line[-1].right < right + line[0].size for left, right in block.columns)


def order_columns(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines with columns of text that are drawn from right to left put in order."""
    runs: list[list[PrintedLine]] = []
    left = right = 0.0
    for line in lines:
        above = runs[-1][-1] if runs else None
        is_same = above is not None and line.top < above.bottom and abs(line.size - above.size) < 0.1 * above.size
        if is_same and line.left < right and line.right > left:
            runs[-1].append(line)
            left, right = min(left, line.left), max(right, line.right)
        else:
            runs.append([line])
            left, right = line.left, line.right
    if len(runs) > _MAX_RUNS:
        return list(lines)
    place = 1
    while place < len(runs):
        if place > 0 and _is_left_of(runs[place], runs[place - 1]):
            runs[place - 1 : place + 1] = [runs[place], runs[place - 1]]
            place -= 1
        else:
            place += 1
    return [line for run in runs for line in run]


def _left(run: Sequence[PrintedLine]) -> float:
    return min(line.left for line in run)


def _right(run: Sequence[PrintedLine]) -> float:
    return max(line.right for line in run)


def _is_left_of(run: Sequence[PrintedLine], other: Sequence[PrintedLine]) -> bool:
    """Return whether a column of text stands to the left of another that is drawn before it."""
    if min(len(run), len(other)) < _MIN_TEXT_LINES or _right(run) > _left(other):
        return False
    narrow, wide = sorted((_right(run) - _left(run), _right(other) - _left(other)))
    common = min(run[0].top, other[0].top) - max(run[-1].bottom, other[-1].bottom)
    is_beside = common > 0.5 * min(run[0].top - run[-1].bottom, other[0].top - other[-1].bottom)
    is_text = all(_is_text_column(column, _left(column), _right(column)) for column in (run, other))
    is_from_the_right = sum(bool(_RIGHT_TO_LEFT.search(line.text)) for line in other) > len(other) / 2
    return is_beside and narrow > _MIN_SIMILAR_WIDTH * wide and is_text and not is_from_the_right
