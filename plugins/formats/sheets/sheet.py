"""A sheet's tables as documents: a record for each row under a header, and text for everything else."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.records import record_document, row_fields
from ramify.tools.documents.tables import SEPARATOR, Cell, are_pairs, has_contrast, header_span, is_value, join_header
from ramify.tools.quoting import pluralize

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
    return _REFERENCE.sub(lambda match: match[0] if match[1] is None else _moved(match, rows, columns), formula)


def _moved(match: re.Match[str], rows: int, columns: int) -> str:
    column = match[2] if match[1] else column_name(max(0, column_number(match[2]) + columns))
    return f"{match[1]}{column}{match[3]}{match[4] if match[3] else int(match[4]) + rows}"


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


_MAX_SCANNED_ROWS = 40
"""Rows of a table from which its header is found."""
_MAX_FILLED = 1_000_000
"""Cells that merged cells are filled into."""
_MAX_TITLE_CHARS = 120
_MIN_NOTE_CHARS = 40
_NOTE_BEGINS = ("*", "†", "Note", "Source")
"""A text alone in the last row of a table is a note if it is long or begins like one."""
_MAX_SPARSE = 50
"""Columns for each filled cell of a line, up to which empty cells keep their place."""
_MAX_NAMED_CELLS = 8
Row = tuple[int, dict[int, str]]
"""A row: its number from 1, and its non-empty cells by column from 0."""


class Sheet(NamedTuple):
    """What is visible of a sheet: rows in order, merged cells, numbers of bold and hidden rows, hidden columns, notes, texts of shapes."""

    name: str
    rows: list[Row]
    spans: Sequence[Span] = ()
    bold_rows: Set[int] = frozenset()
    hidden_rows: Collection[int] = frozenset()
    hidden_columns: Collection[int] = frozenset()
    notes: Mapping[int, list[str]] = {}
    drawn: Sequence[str] = ()


class _Block(NamedTuple):
    """Rows that follow each other, and the columns that are filled in them."""

    rows: list[Row]
    columns: list[int]


class _Table(NamedTuple):
    """The table that rows belong to: its columns, their names, its title, and the number of rows directly above its header."""

    columns: list[int]
    names: dict[int, str]
    title: str
    above: int


def sheet_documents(sheet: Sheet, source: str, title: str, report: ReadReport) -> Iterator[Document]:
    """Yield the documents of a sheet: a record for each row below a header; titles, notes and rows without a header as text."""
    return _SheetWriter(sheet, source, title, report).documents()


class _SheetWriter:
    """Writes a sheet block by block; text is collected until a record follows it."""

    def __init__(self, sheet: Sheet, source: str, title: str, report: ReadReport) -> None:
        self._sheet, self._source, self._title, self._report = sheet, source, title, report
        self._merged = _fill_merged(sheet, source, report)
        self._table: _Table | None = None
        self._lines: list[str] = []
        self._title_line = ""
        """The first of the last lines, if they may be the title of the table that follows."""
        self._lines_place = "end"
        self._is_begun = False
        self._first_column = min((column for _, row in sheet.rows for column in row), default=0)
        self._notes = {number: [f"Note: {note}" for note in notes] for number, notes in sheet.notes.items()}
        report.add(*("Note:" for notes in sheet.notes.values() for _ in notes))

    def documents(self) -> Iterator[Document]:
        blocks = [block for group in self._groups() for block in self._side_by_side(group)]
        widest = list(accumulate((len(block.columns) for block in reversed(blocks)), max))[::-1]
        for block, most in zip(blocks, widest, strict=True):
            yield from self._block_documents(block, is_preamble=most > len(block.columns))
        self._lines += [note for notes in self._notes.values() for note in notes]
        self._lines += self._sheet.drawn
        yield from self._text_documents()

    def _groups(self) -> Iterator[_Block]:
        """Yield the blocks between blank rows; hidden rows are not blank."""
        rows: list[Row] = []
        for number, row in self._sheet.rows:
            if not row:
                continue
            if rows and not self._is_next(rows[-1][0], number, row):
                yield self._block(rows)
                rows = []
            rows.append((number, row))
        if rows:
            yield self._block(rows)

    def _is_next(self, before: int, number: int, row: Mapping[int, str]) -> bool:
        """Return whether only hidden rows, or rows of a merged cell, are between two rows."""
        if all(between in self._sheet.hidden_rows for between in range(before + 1, number)):
            return True
        return any((cell := self._merged.get((number, column))) and cell is self._merged.get((before, column)) for column in row)

    def _block(self, rows: list[Row]) -> _Block:
        """Return a block with its columns, but for those that only merged cells from the left reach into."""
        columns = {column for number, row in rows for column in row if not self._is_repeated(number, column)}
        return _Block(rows, sorted(columns))

    def _is_repeated(self, number: int, column: int) -> bool:
        cell = self._merged.get((number, column))
        return cell is not None and self._merged.get((number, column - 1)) is cell

    def _side_by_side(self, block: _Block) -> list[_Block]:
        """Return the tables that stand side by side, or the block as it is."""
        parts: list[list[int]] = []
        for column in block.columns:
            if parts and column == parts[-1][-1] + 1:
                parts[-1].append(column)
            else:
                parts.append([column])
        if len(parts) < 2 or any(len(part) < 2 for part in parts):
            return [block]
        blocks = []
        for part in parts:
            rows = [(number, {column: row[column] for column in part if column in row}) for number, row in block.rows]
            blocks.append(_Block([(number, row) for number, row in rows if row], part))
        return blocks if all(self._is_named_table(table) for table in blocks) else [block]

    def _is_named_table(self, block: _Block) -> bool:
        """Return whether a block has a header, and names of rows in its first column."""
        span = header_span(self._grid(block))
        below = block.rows[span[1] :] if span[1] else []
        return bool(below) and not any(is_value(row.get(block.columns[0], "")) for _, row in below)

    def _grid(self, block: _Block) -> list[list[Cell]]:
        """Return the first rows of a block as rows of cells; merged ones are the same object."""
        return [
            [
                self._merged.get((number, column)) or Cell(row.get(column, ""), is_heading=number in self._sheet.bold_rows)
                for column in block.columns
            ]
            for number, row in block.rows[:_MAX_SCANNED_ROWS]
        ]

    def _block_documents(self, block: _Block, *, is_preamble: bool) -> Iterator[Document]:
        """Yield the documents of a block: under its own header, or that of the table above; text is only collected."""
        grid = self._grid(block)
        texts = [[cell.text for cell in row] for row in grid]
        first, last = header_span(grid) if len(block.columns) > 1 else (0, 0)
        is_titled = self._table is not None and 0 < first == self._table.above
        is_clear = last > 0 and (is_titled or grid[first][0].is_heading or has_contrast(texts[last - 1], texts[last:]))
        continues = self._table is not None and set(block.columns) <= set(self._table.columns) and len(block.columns) > 1 and not is_clear
        has_bold_header = last > 0 and grid[first][0].is_heading and not grid[-1][0].is_heading
        if self._table is not None and continues:
            yield from self._text_documents()
            yield from self._record_documents(block.rows, self._table)
        elif len(block.rows) == len(grid) and not has_bold_header and are_pairs(texts, is_table=last > 0, is_preamble=is_preamble):
            self._add_lines(block, ": ")
        elif last:
            self._add_lines(block._replace(rows=block.rows[:first]))
            names = {column: name for column, name in zip(block.columns, join_header(texts[first:last]), strict=True) if name}
            title = self._title_line
            yield from self._text_documents()
            self._table = _Table(block.columns, names, title, first)
            unused = set(names)
            for _, row in block.rows[last:]:
                unused.difference_update(row)
            self._report.leave_out(self._source, "name of an empty column", [names[column] for column in unused], "names of empty columns")
            yield from self._record_documents(block.rows[last:], self._table)
        else:
            self._add_lines(block)

    def _place(self, number: int, columns: Sequence[int]) -> str:
        """Return where a row is: its number, with the column of a table that does not begin in the first one."""
        return f"{column_name(columns[0])}{number}" if columns[0] > self._first_column else f"{number}"

    def _add_lines(self, block: _Block, separator: str = SEPARATOR) -> None:
        """Add rows as lines of text: merged cells once, empty ones in their place."""
        has_title = False
        for number, row in block.rows:
            self._lines_place = self._lines_place if self._lines else self._place(number, block.columns)
            cells = {column: " ".join(text.split()) for column, text in row.items() if text and not self._is_repeated(number, column)}
            columns = sorted(cells)
            if block.columns[-1] - block.columns[0] < len(cells) * _MAX_SPARSE:
                columns = [column for column in range(block.columns[0], block.columns[-1] + 1) if column not in self._sheet.hidden_columns]
            line = separator.join(cells.get(column, "") for column in columns).rstrip(SEPARATOR)
            if separator != SEPARATOR:
                line = line.replace(f":{separator}", separator, 1)
            if len(cells) == 1:
                (line,) = (row[column].strip() for column in cells)
            is_title = len(cells) == 1 and len(line) <= _MAX_TITLE_CHARS and not line.endswith(".")
            if not (has_title and is_title):
                self._title_line = line if is_title else ""
            has_title = is_title
            self._lines += [line] if cells else []
            self._lines += self._notes.pop(number, [])

    def _text_documents(self) -> Iterator[Document]:
        """Yield the collected lines as a document."""
        if self._lines:
            place = f"{self._source}#{self._sheet.name}" + (f"!{self._lines_place}" if self._is_begun else "")
            metadata = {"source": place, "title": self._title, "sheet": self._sheet.name}
            yield Document("\n".join(self._lines), id=place, metadata=metadata)
            self._is_begun = True
        self._lines, self._title_line = [], ""

    def _record_documents(self, rows: Sequence[Row], table: _Table) -> Iterator[Document]:
        """Yield rows as records; a row that is one label for those below is text, and so are notes at the end."""
        end = self._notes_begin(rows, table)
        section = ""
        for number, row in rows[:end]:
            if row == table.names:  # the header again, as on each page
                continue
            if label := self._section_label(number, row, table):
                section = label
                self._add_lines(_Block([(number, row)], table.columns))
                continue
            yield from self._text_documents()
            fields = row_fields(table.names, sorted(row.items()), self._report)
            fields += [("", note) for note in self._notes.pop(number, [])]
            within = f"{self._sheet.name}!{self._place(number, table.columns).removesuffix(str(number))}"
            document = record_document(fields, self._source, number, within, is_row=True)
            heading = " > ".join(part for part in (table.title, section) if part)
            shown = {"title": document.metadata["title"] or self._title, "sheet": self._sheet.name}
            document.metadata = {**document.metadata, **shown, **({"heading": heading} if heading else {})}
            yield document
        self._is_begun = True
        self._add_lines(_Block(list(rows[end:]), table.columns))

    def _section_label(self, number: int, row: Mapping[int, str], table: _Table) -> str:
        """Return the text of a row that is merged over the whole table, or bold and alone in it; else ""."""
        first = self._merged.get((number, table.columns[0]))
        is_merged = first is not None and all(self._merged.get((number, column)) is first for column in table.columns)
        is_alone = len(row) == 1 and table.columns[0] in row and number in self._sheet.bold_rows
        return next(iter(row.values())) if len(table.columns) > 1 and (is_merged or is_alone) else ""

    def _notes_begin(self, rows: Sequence[Row], table: _Table) -> int:
        """Return the index of the first of the last rows that are notes: one long text in the first column."""
        end = len(rows)
        while end and len(table.columns) > 1:
            number, row = rows[end - 1]
            text = row.get(table.columns[0], "")
            is_alone = len([column for column in row if not self._is_repeated(number, column)]) == 1
            if not (is_alone and text and (len(text) >= _MIN_NOTE_CHARS or text.startswith(_NOTE_BEGINS))):
                break
            end -= 1
        return end


UNCOMPUTED = ("formulas without a stored value", "open the file in a spreadsheet program and save it")
ERRORS = ("errors", "correct the formulas")
"""Kinds of cells that a person has to look at, and the remedy."""


def remark_cells(report: ReadReport, source: str, sheet: str, kind: tuple[str, str], cells: Sequence[str]) -> None:
    """Report cells of a sheet that a person has to look at, the first of them by name."""
    things, remedy = kind
    if cells:
        more = " …" if len(cells) > _MAX_NAMED_CELLS else ""
        names = f"{', '.join(cells[:_MAX_NAMED_CELLS])}{more}"
        report.remark(source, f"{things} in {pluralize(len(cells), 'cell')} of sheet {sheet!r}: {names}; {remedy}")


def _fill_merged(sheet: Sheet, source: str, report: ReadReport) -> dict[tuple[int, int], Cell]:
    """Fill merged cells into the rows and used columns that they span, and return the filled places with their common cell."""
    numbers = [number for number, _ in sheet.rows]
    last_used = max((column for _, row in sheet.rows for column in row), default=0)
    merged: dict[tuple[int, int], Cell] = {}
    for span in sheet.spans:
        first, end = bisect_left(numbers, span.first_row), bisect_right(numbers, span.last_row)
        columns = range(span.first_column, min(span.last_column, last_used) + 1)
        if len(merged) + (end - first) * len(columns) > _MAX_FILLED:
            continue
        text, *covered = [text for _, row in sheet.rows[first:end] for column in columns if (text := row.get(column))] or [""]
        report.leave_out(source, "cell covered by a merged one", covered, "cells covered by merged ones")
        is_bold = span.first_row in sheet.bold_rows
        cell = Cell(text, span.last_column - span.first_column + 1, span.last_row - span.first_row + 1, is_bold)
        for number, row in sheet.rows[first:end] if text else ():
            if row:
                row.update(dict.fromkeys(columns, text))
                merged.update(dict.fromkeys(((number, column) for column in columns), cell))
    return merged
