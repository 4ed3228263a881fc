"""Read Excel workbooks, and the rows of any workbook as documents."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import Any, BinaryIO

from langchain_core.documents import Document

from ramify.tools.documents._records import record_document, row_record
from ramify.tools.documents._tables import is_header
from ramify.tools.documents._text import file_stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import open_office_file

_MAX_HEADER_ROWS = 20
Row = tuple[int, dict[int, str]]
"""A non-empty row: its number from 1, and its non-empty cells by column from 0."""


def read_xlsx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets, with the values that its formulas had when it was saved."""
    with open_office_file(path, source, report) as file, _open_workbook(file) as workbook:
        for sheet in workbook.worksheets:
            yield from sheet_documents(_stored_rows(sheet), source, sheet.title, file_stem(path))


def read_first_sheet(path: Path) -> list[Row]:
    """Return the non-empty rows of a workbook's first sheet; UnreadableError if the file is not a workbook."""
    with open_office_file(path, "", ReadReport()) as file, _open_workbook(file) as workbook:
        return _nonempty_rows(_stored_rows(workbook.worksheets[0]))


@contextmanager
def _open_workbook(file: BinaryIO) -> Iterator[Any]:
    """Open a workbook, with the values that its formulas had when it was saved."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        yield load_workbook(file, read_only=True, data_only=True)
    except (InvalidFileException, SyntaxError, LookupError, ValueError, TypeError) as error:
        raise UnreadableError(f"not a readable workbook: {type(error).__name__}: {error}") from error


def _nonempty_rows(rows: Iterable[Row]) -> list[Row]:
    return [(number, kept) for number, row in rows if (kept := {place: cell for place, cell in sorted(row.items()) if cell})]


def _stored_rows(sheet: Any) -> Iterator[Row]:
    """Yield a sheet's stored rows; openpyxl's own iterator creates every cell up to the last one."""
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    with sheet._get_source() as content:
        for number, cells in WorkSheetParser(content, sheet._shared_strings, data_only=True, epoch=book.epoch, **dates).parse():
            yield number, {cell["column"] - 1: _format_cell(cell["value"]) for cell in cells}


def sheet_documents(rows: Iterable[Row], source: str, sheet: str, title: str) -> Iterator[Document]:
    """Yield a sheet as documents: the rows above the header as one, then one per row; without a header one for all."""
    filled = _nonempty_rows(rows)
    header = _find_header(filled)
    above = filled if header is None else filled[:header]
    if above:
        text = "\n".join(" | ".join(row.values()) for _, row in above)
        yield Document(text, id=f"{source}#{sheet}", metadata={"source": f"{source}#{sheet}", "title": title, "sheet": sheet})
    if header is None:
        return
    columns = _row_values(filled[header][1], max(filled[header][1]))
    for number, row in filled[header + 1 :]:
        document = record_document(row_record(columns, row.items()), source, number, within=f"{sheet}!")
        document.metadata = {**document.metadata, "title": document.metadata["title"] or title, "sheet": sheet}
        yield document


def _find_header(rows: list[Row]) -> int | None:
    """Return the index of the header row: the first that is about as wide as the table and contains distinct words."""
    widths = sorted(len(row) for _, row in rows)
    usual = widths[len(widths) // 2] if widths else 0
    for place, (_, row) in enumerate(rows[:_MAX_HEADER_ROWS]):
        below, last = rows[place + 1 : place + 1 + _MAX_HEADER_ROWS], max(row)
        if len(row) < max(2, usual) or len(row) < last or not below:  # a header has no gaps, but for one
            continue
        if is_header(_row_values(row, last), [_row_values(cells, last) for _, cells in below]):
            return place
    return None


def _row_values(row: dict[int, str], last: int) -> list[str]:
    """Return a row's cells up to a column, "" for missing ones."""
    return [row.get(place, "") for place in range(last + 1)]


def _format_cell(value: Any) -> str:
    """Return a cell's value as text: an integer without a decimal point, a date without a time of midnight."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"  # as many digits as a workbook keeps
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    return str(value).strip()
