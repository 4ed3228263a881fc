"""What a passage that begins within a table or record carries: the header and the row's name, or the record's first fields.

Tables are found in a text as readers write them: consecutive lines whose cells are separated by `|`, and as plain text has them: by tabs or
by two and more spaces.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.tables import SEPARATOR, has_contrast, is_header

_LINE = re.compile(
    r"^(?: {0,3}(?P<fence>`{3,}|~{3,})[^\n]*+|[^\n|\t]*+[|\t][^\n]*+|[^\n]*?[^\s] {2,}+[^\s][^\n]*+|[ \t]*+[-=+][-=+ \t]*+$)", re.MULTILINE
)
"""A code fence, a line that contains a bar, tab or gap, or a rule."""
_BORDERED, _BARS, _TABS, _GAPS = "||", SEPARATOR, "\t", "  "
"""How cells are separated; bordered rows also begin and end with a bar."""
_BAR = re.compile(r"(?<!\\)\|")
_SEPARATORS = {_BORDERED: _BAR, _BARS: _BAR, _TABS: re.compile(r"\t"), _GAPS: re.compile(r" {2,}")}
_RULE = re.compile(
    r"[ \t]*+(?:(?:\|[ \t]*+)?+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+|\+[-=+]++|[-=]++(?:[ \t]++[-=]++)*+)[ \t]*+"
)
"""The line below the header of a Markdown table or of columns, or between the rows of a grid."""
_FIELD = re.compile(r"[^\s:][^\n:]{0,80}: [^\n]*+(?:\n|$)")
_MIN_LINES = 3
_SAMPLE_ROWS = 20
_MIN_REGULAR_SHARE = 0.5
"""Least share of a table's rows that have as many cells as its header."""
_MIN_ALIKE_SHARE = 0.4
"""Least share of a column's cells that look like its first one in a list without a header."""
_MAX_NAME_CHARS = 80
_ELLIPSIS = "…"
"""Stands for cells, or the part of a cell, in the previous passage."""


class _TextTable(NamedTuple):
    """A table in a text: the span of its rows below the header, the header's line, and how its cells are separated."""

    start: int
    end: int
    header: str
    kind: str


class TableContext:
    """Finds what passages of a document carry from above; tables are searched when they are first asked for."""

    def __init__(self, document: Document) -> None:
        self._text = document.page_content
        self._is_record = "#" in str(document.metadata.get("source", ""))
        self._tables: list[_TextTable] | None = None

    def row_start(self, offset: int) -> int | None:
        """Return where the row that contains an offset begins; None outside of tables and in headers."""
        return None if self._table_at(offset) is None else self._text.rfind("\n", 0, offset) + 1

    def carried_lines(self, offset: int, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
        """Return the text to put before a passage that begins at an offset, in at most `max_tokens`; "" if it needs none.

        A header that is too long is shortened to the first word of each column, or left away.
        """
        table = self._table_at(offset) if offset else None
        if table is not None:
            name, short = self._row_name(table, offset), _first_words(table)
            forms = dict.fromkeys((f"{table.header}\n{name}", f"{short}\n{name}", name))
            return next((form for form in forms if form.strip() and count_tokens(form) <= max_tokens), "")
        return self._record_lines(offset, max_tokens // 2, count_tokens) if offset and self._is_record else ""

    def _table_at(self, offset: int) -> _TextTable | None:
        if self._tables is None:
            self._tables = list(_find_tables(self._text))
        place = bisect_right(self._tables, offset, key=attrgetter("start")) - 1
        return self._tables[place] if place >= 0 and offset < self._tables[place].end else None

    def _row_name(self, table: _TextTable, offset: int) -> str:
        """Return the first cell of the row that contains an offset, and an ellipsis for each further cell above; "" at its beginning."""
        above = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        *cells, begun = _SEPARATORS[table.kind].split(above.lstrip().removeprefix("|") if table.kind == _BORDERED else above)
        if not cells:
            return ""
        shown = [_shorten(cells[0].strip()), *(_ELLIPSIS for _ in cells[1:]), f"{_ELLIPSIS} " if begun.strip() else ""]
        return f"| {SEPARATOR.join(shown)}" if table.kind == _BORDERED else table.kind.join(shown)

    def _record_lines(self, offset: int, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
        """Return the first fields of a record, and the name of the field that contains an offset; "" if the text is not a record."""
        end, carried = 0, ""
        while (field := _FIELD.match(self._text, end)) and field.end() <= offset and count_tokens(carried + field[0]) <= max_tokens:
            carried, end = carried + field[0], field.end()
        begun = ""
        for name in _FIELD.finditer(self._text, self._text.rfind("\n", 0, offset) + 1, offset):
            begun = name[0].partition(": ")[0] + f": {_ELLIPSIS} "
        return carried + begun if _FIELD.match(self._text) else ""


def _shorten(name: str) -> str:
    return name if len(name) <= _MAX_NAME_CHARS else name[:_MAX_NAME_CHARS].rsplit(None, 1)[0] + _ELLIPSIS


def _first_words(table: _TextTable) -> str:
    """Return a header with the first word of each column."""
    words = ["".join(cell.split(maxsplit=1)[:1]) for cell in _row_cells(table.header, table.kind)]
    return f"| {SEPARATOR.join(words)} |" if table.kind == _BORDERED else table.kind.join(words)


def _find_tables(text: str) -> Iterator[_TextTable]:
    """Yield the tables of a text that have a header, except those in code fences."""
    fence, block, kind, end = "", list[tuple[int, str]](), "", -1
    for line in _LINE.finditer(text) if any(sign in text for sign in ("|", _TABS, _GAPS)) else ():
        mark = line["fence"] or ""
        is_rule = not mark and _RULE.fullmatch(line[0]) is not None
        own = "" if mark else kind if is_rule else _row_kind(line[0])
        if block and (line.start() != end + 1 or not (is_rule or own) or own != (kind or own)):
            yield from _read_block(block, kind)
            block, kind = [], ""
        if mark and (mark.startswith(fence) if fence else mark[0] == "`" or text.endswith("\n\n", 0, line.start())):
            fence = "" if fence else mark
        elif not mark and not fence and (is_rule or own):
            block.append((line.start(), line[0]))
            kind, end = kind or own, line.end()
    yield from _read_block(block, kind)


def _row_kind(line: str) -> str:
    """Return how the cells of a row are separated, "" if a line is no row."""
    stripped = line.strip()
    if SEPARATOR in f" {stripped} " or _has_borders(stripped):
        return _BARS
    return _TABS if _TABS in stripped else _GAPS if _GAPS in stripped else ""


def _has_borders(line: str) -> bool:
    return len(line) > 1 and line[0] == line[-1] == "|"


def _read_block(block: Sequence[tuple[int, str]], kind: str) -> Iterator[_TextTable]:
    """Yield the table in consecutive rows, if it has a header: the row above a rule, else the first one that is no title."""
    if not kind:
        return
    lines = [line.strip() for _, line in block]
    is_ruled = len(lines) > 2 and any(_RULE.fullmatch(line) for line in lines[1:3])
    header = sum(1 for _ in takewhile(lambda line: _RULE.fullmatch(line) or len({*filter(None, _row_cells(line, kind))}) < 2, lines))
    if len(block) < max(_MIN_LINES, header + 2):
        return
    kind = _BORDERED if _has_borders(lines[header]) else kind
    cells, *below = [_row_cells(line, kind) for line in lines[header : header + 1 + _SAMPLE_ROWS] if not _RULE.fullmatch(line)]
    regular = sum(len(row) == len(cells) for row in below)
    differs = has_contrast(cells, below) if kind in (_TABS, _GAPS) else _differs(cells, below)
    if len(cells) > 1 and below and regular >= _MIN_REGULAR_SHARE * len(below) and (is_ruled or (differs and is_header(cells, below))):
        last, line = block[-1]
        yield _TextTable(block[header + 1][0], last + len(line), lines[header], kind)


def _differs(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the texts of a header look different from those below, in any column; the first row of a list does not."""
    for column, name in enumerate(header):
        shapes = [_shape(row[column]) for row in below if column < len(row) and row[column]]
        if name and shapes and shapes.count(_shape(name)) < _MIN_ALIKE_SHARE * len(shapes):
            return True
    return False


def _shape(cell: str) -> tuple[bool, bool, bool, int]:
    """Return whether a cell begins in upper case, has digits, has signs, and its number of words up to three."""
    words = cell.split()
    return (
        cell[:1].isupper(),
        any(map(str.isdigit, cell)),
        any(not sign.isalnum() and sign not in " .-" for sign in cell),
        min(len(words), 3),
    )


def _row_cells(line: str, kind: str) -> list[str]:
    return [cell.strip() for cell in _SEPARATORS[kind].split(line.strip("|") if kind == _BORDERED else line)]
