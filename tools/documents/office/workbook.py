"""Excel's workbooks (xlsx): a record a row where a sheet is a table with a header, else the sheet's rows as they stand."""

from collections.abc import Iterable, Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.office.container import office_file
from ramify.tools.documents.office.document_properties import state_core
from ramify.tools.documents.records import record_document
from ramify.tools.documents.tables import is_header, row_record
from ramify.tools.documents.text import stem

_LOOKED_AT = 20
Row = tuple[int, dict[int, str]]
"""A row that has something in it: its number from 1, and its cells that have something in them by their places from 0."""


def read_xlsx(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a workbook's sheets, with the values that its formulas had when it was saved."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    with office_file(path) as file:
        state_core(file, source, told)
        try:
            workbook = load_workbook(file, read_only=True, data_only=True)
            for sheet in workbook.worksheets:
                yield from sheet_documents(_rows(sheet), source, sheet.title, stem(path))
        except (InvalidFileException, SyntaxError, LookupError, ValueError, TypeError) as error:
            raise UnreadableError(f"not a readable workbook: {type(error).__name__}: {error}") from error


def _rows(sheet: Any) -> Iterator[Row]:
    """Yield a sheet's rows as they are stored; openpyxl's own iterator makes every cell up to the farthest one."""
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    with sheet._get_source() as content:
        for number, cells in WorkSheetParser(content, sheet._shared_strings, data_only=True, epoch=book.epoch, **dates).parse():
            yield number, {cell["column"] - 1: _written(cell["value"]) for cell in cells}


def sheet_documents(rows: Iterable[Row], source: str, sheet: str, title: str) -> Iterator[Document]:
    """Turn a sheet's rows into documents: what stands above the header as one, then a record a row; without a header all as one."""
    filled = [(number, kept) for number, row in rows if (kept := {place: cell for place, cell in sorted(row.items()) if cell})]
    header = _header(filled)
    above = filled if header is None else filled[:header]
    if above:
        text = "\n".join(" | ".join(row.values()) for _, row in above)
        yield Document(text, id=f"{source}#{sheet}", metadata={"source": f"{source}#{sheet}", "title": title, "sheet": sheet})
    if header is None:
        return
    columns = _filled_up(filled[header][1], max(filled[header][1]))
    for number, row in filled[header + 1 :]:
        document = record_document(row_record(columns, row.items()), source, number, within=f"{sheet}!")
        document.metadata = {**document.metadata, "title": document.metadata["title"] or title, "sheet": sheet}
        yield document


def _header(rows: list[Row]) -> int | None:
    """Return which row names the columns: the first that is about as wide as the table and has different words in it."""
    widths = sorted(len(row) for _, row in rows)
    usual = widths[len(widths) // 2] if widths else 0
    for place, (_, row) in enumerate(rows[:_LOOKED_AT]):
        below, last = rows[place + 1 : place + 1 + _LOOKED_AT], max(row)
        if len(row) < max(2, usual) or len(row) < last or not below:  # a header has no gaps, but for one
            continue
        if is_header(_filled_up(row, last), [_filled_up(cells, last) for _, cells in below]):
            return place
    return None


def _filled_up(row: dict[int, str], last: int) -> list[str]:
    """Return a row's cells up to a place, "" where there is none."""
    return [row.get(place, "") for place in range(last + 1)]


def _written(value: Any) -> str:
    """Write a cell's value as its reader sees it: a whole number without a point, a day without an hour."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"  # as many digits as a workbook keeps
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    return str(value).strip()
