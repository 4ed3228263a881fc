"""Read tables of separated values: find their separator, what stands above the header, and the header."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.records import record_document, row_fields
from ramify.tools.documents.tables import Cell, are_pairs, has_contrast, has_doubles, header_span, is_value, join_header
from ramify.tools.documents.text import MAX_LINE_CHARS, stream_lines

_MAX_SAMPLE_ROWS = 50
_MAX_SAMPLE_CHARS = 1 << 20
"""Rows and characters from which a table's dialect is detected."""
_MAX_ABOVE = 20
"""Rows above a header."""
_SEPARATORS = ",;\t|~^"
_NO_SEPARATOR = "\x1f"
_RARE = "~^"
_COSTS = {",": 2.0, ";": 1.0, "|": 1.0, "\t": 4.0}
"""How unlikely it is that a cell contains the character, but no space behind it."""
_MIN_SHARE = 0.6
"""Share of rows with the usual number of cells, from which a character is taken for the separator."""
_RAGGED_SCORE, _RARE_SCORE = 0.1, 0.3
"""For rows of many lengths, and for characters that rarely separate cells."""
_MIN_PAIRS_SHARE = 0.3
"""Least share of numbers, and of words, among the values of labels; tables of two columns are more frequent."""
_DIRECTIVE = re.compile(r'"?sep=(\\t|.)"?(?:\1|\s)*', re.IGNORECASE)
_COMMENT = "#"


class Dialect(NamedTuple):
    """A table's separator and quote character; whether a backslash stands before quotes in cells, and a space before each cell."""

    separator: str
    quote: str = '"'
    is_escaped: bool = False
    is_spaced: bool = False

    def reader(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[list[str]]:
        """Return an iterator of rows."""
        return csv.reader(
            lines,
            delimiter=self.separator,
            quotechar=self.quote,
            escapechar="\\" if self.is_escaped else None,
            doublequote=not self.is_escaped,
            skipinitialspace=self.is_spaced,
            strict=strict,
        )


def read_csv(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a table as one document per row, under its header if it has one; what stands above the header is text."""
    csv.field_size_limit(MAX_LINE_CHARS)
    lines = (
        line for text in stream_lines(path, source, report) for line in io.StringIO(text, newline="")
    )  # old files end lines with a lone \r
    sample = list(_sample_lines(lines))
    begin = next((place for place, line in enumerate(sample) if line.strip()), 0)
    directive = _DIRECTIVE.fullmatch(sample[begin]) if sample else None
    if directive:
        sample[begin] = "\n"
    dialect = detect_dialect(sample)
    separator = directive[1].replace("\\t", "\t") if directive else ""
    if separator and any(separator in line for line in sample):
        dialect = dialect._replace(separator=separator)
    elif path.name.lower().removesuffix(".gz").endswith(".tsv"):
        dialect = dialect._replace(separator="\t")
    rows = _RowReader(chain(sample, lines), dialect)
    numbers = count(1)
    for table, numbered in groupby(_number_tables(rows.read()), key=itemgetter(0)):
        place = f"{source}#table {table + 1}" if table else source
        yield from _table_documents((row for _, row in numbered), source, place, dialect.separator, report, numbers)
    if rows.literal:
        places = ", ".join(map(str, rows.literal[:_MAX_SAMPLE_ROWS]))
        report.remark(source, f"quotes that do not enclose a cell are read as text, in line {places}")
    if rows.error:
        raise UnreadableError(f"not a readable table: {rows.error}") from rows.error


class _RowReader:
    """Reads rows up to the end or the first error; a line whose quotes do not fit is read without them."""

    def __init__(self, lines: Iterator[str], dialect: Dialect) -> None:
        self._lines, self._dialect = lines, dialect
        self._taken: list[str] = []
        """Lines of the row that is read."""
        self._number = 0
        self.literal: list[int] = []
        """Numbers of lines whose quotes are read as text."""
        self.error: csv.Error | None = None

    def read(self) -> Iterator[list[str]]:
        while self.error is None:
            reader = self._dialect.reader(self._take_lines(), strict=True)
            try:
                for row in reader:
                    self._number += len(self._taken)
                    self._taken.clear()
                    yield row
                return
            except csv.Error as error:
                if not self._taken or "limit" in str(error):
                    self.error = error
                    return
            first, *rest = self._taken
            self._number += 1
            self.literal.append(self._number)
            self._taken, self._lines = [], chain(rest, self._lines)
            yield next(csv.reader([first], delimiter=self._dialect.separator, quoting=csv.QUOTE_NONE), [])

    def _take_lines(self) -> Iterator[str]:
        for line in self._lines:
            self._taken.append(line)
            yield line


def _sample_lines(lines: Iterator[str]) -> Iterator[str]:
    characters = 0
    for line in islice(lines, _MAX_SAMPLE_ROWS):
        characters += len(line)
        yield line
        if characters > _MAX_SAMPLE_CHARS:
            return


def _number_tables(rows: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its table; after a blank row, one with a header of its own may begin."""
    number = width = 0
    for is_blank, block in groupby(rows, key=lambda row: not any(row)):
        if is_blank:
            continue
        begin = list(islice(block, _MAX_SAMPLE_ROWS))
        first, last = _find_header(begin)
        if last and has_contrast(begin[last - 1], begin[last:]):
            number += len(begin[first]) < 2 * width
            width = len(begin[first])
        for row in chain(begin, block):
            yield number, row


def _table_documents(
    rows: Iterator[list[str]], source: str, place: str, separator: str, report: ReadReport, numbers: Iterator[int]
) -> Iterator[Document]:
    """Yield rows as records, under their header if there is one; what stands above it, and labels with values, as text at a place."""
    begin = list(islice(rows, _MAX_SAMPLE_ROWS))
    first, last = _find_header(begin)
    header = join_header([[cell.strip() for cell in row] for row in begin[first:last]])
    if header and all(len(row) == len(header) + 1 and row[-1] for row in begin[last:]):  # as R writes tables: row names have no name
        header = ["", *header]
    names = {column: name for column, name in enumerate(header) if name}
    if header and header[0].startswith(_COMMENT):
        names[0] = header[0].lstrip(f"{_COMMENT} ")
    lines = [line for row in begin[:first] if (line := separator.join(row).rstrip(separator).strip())]
    if len(begin) < _MAX_SAMPLE_ROWS and are_pairs(begin[first:], least=_MIN_PAIRS_SHARE):
        lines += [": ".join(filter(None, row)).replace(":: ", ": ", 1) for row in begin[first:]]
        last, names = len(begin), {}
    if lines:
        yield Document("\n".join(lines), id=place, metadata={"source": place, "title": ""})
    if names and last == len(begin):
        raise UnreadableError(f"contains only the names of columns: {', '.join(names.values())}")
    unused = dict(names)
    for row in chain(begin[last:], rows):
        if unused:
            for column in [column for column, cell in enumerate(row) if cell]:
                unused.pop(column, None)
        number = next(numbers)
        if not header or [cell.strip() for cell in row] != header:  # else the header again, as where files were joined
            yield record_document(row_fields(names, enumerate(row), report), source, number, is_row=True)
    report.leave_out(source, "name of an empty column", unused.values(), "names of empty columns")


def _find_header(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the index of the first row of the table, and that of the first row below its header."""
    if len(rows) == 1 and len(rows[0]) > 1 and not any(map(is_value, rows[0])):
        return 0, 1
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    usual = _usual_width(filled)
    begin = single = 0
    while begin < min(len(rows), _MAX_ABOVE) and (rows[begin][0].startswith(_COMMENT) or filled[begin] <= max(1, usual // 2) < usual):
        is_single = single == begin and (filled[begin] == 1 or rows[begin][0].startswith(_COMMENT))
        begin, single = begin + 1, single + is_single
    if begin == len(rows):
        return 0, 0
    comment = rows[begin - 1] if begin and rows[begin - 1][0].startswith(_COMMENT) and 1 < filled[begin - 1] == usual else []
    if comment and (any(map(is_value, rows[begin])) or not comment[0].startswith(f"{_COMMENT} ")):
        return begin - 1, begin
    for start in dict.fromkeys((begin, single)):
        width = max(map(len, rows[start:]))
        span = header_span([[Cell(cell) for cell in row] + [Cell("")] * (width - len(row)) for row in rows[start:]])
        if span[1]:
            first, last = start + span[0], start + span[1]
            while first and filled[first - 1] > 1 and not rows[first - 1][0].strip() and has_doubles(join_header(rows[first:last])):
                first -= 1
            return first, last
    return single, single


def _usual_width(widths: Sequence[int]) -> int:
    """Return the most frequent number of cells of rows with several, the largest of equally frequent ones; 1 if there are none."""
    counts = Counter(width for width in widths if width > 1)
    return max(counts, key=lambda width: (counts[width], width), default=1)


def detect_dialect(sample: Sequence[str]) -> Dialect:
    """Return the dialect whose separator gives rows of equal length, with cells that contain no other separator."""
    quote = "'" if not any('"' in line for line in sample) and sum(line.count("'") >= 2 and line[:1] == "'" for line in sample) > 1 else '"'
    is_escaped = any('\\"' in line for line in sample) and not any('""' in line for line in sample)
    best, most = Dialect(_NO_SEPARATOR, quote, is_escaped), 0.0
    for separator in _SEPARATORS:
        dialect = Dialect(separator, quote, is_escaped)
        try:
            rows = [row for row in dialect.reader(sample) if any(row)]
        except csv.Error:  # a cell is too long; reading reports it
            continue
        is_spaced = all(not cell or cell[0] == " " for row in rows for cell in row[1:])
        score = _separator_score(rows, separator, is_spaced)
        if score > most:
            best, most = dialect._replace(is_spaced=is_spaced), score
    return best


def _separator_score(rows: Sequence[Sequence[str]], separator: str, is_spaced: bool) -> float:
    """Return how well a separator fits: the share of rows of the usual length, less for cells that contain other separators."""
    widths = list(map(len, rows))
    usual = _usual_width(widths)
    are_decimals = separator == "," and usual == 2 and all(cell.lstrip("-").isdigit() for row in rows[1:] for cell in row)
    if usual == 1 or ((is_spaced or are_decimals) and widths[0] == 1):  # words and commas of sentences, or one column of numbers
        return 0.0
    begin = widths.index(usual)
    if widths[begin:].count(usual) < _MIN_SHARE * len(widths[begin:]):
        several = sum(width > 1 for width in widths)
        is_prose = widths[0] == 1 and any(cell[:1] == " " for row in rows for cell in row[1:])
        return _RAGGED_SCORE * several / len(widths) if several * 2 >= len(widths) and not is_prose else 0.0
    cells = [cell for row in rows[begin:] for cell in row if not is_value(cell)]
    cost = sum(_cell_cost(cell, separator) for cell in cells) / sum(widths[begin:])
    return (widths.count(usual) / len(widths)) ** 2 / (1 + cost) * (_RARE_SCORE if separator in _RARE else 1)


def _cell_cost(cell: str, separator: str) -> float:
    """Return how unlikely a cell is that is not quoted: it contains other separators, but for commas of sentences."""
    return sum(cost for other, cost in _COSTS.items() if other != separator and other in cell and f"{other} " not in cell)
