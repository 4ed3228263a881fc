"""Read Excel workbooks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langchain_core.documents import Document

from ramify.formats.office.containers import open_container, report_properties
from ramify.formats.sheets._workbook import Workbook
from ramify.formats.sheets._xlsx_sheet import visible_sheets
from ramify.formats.sheets.sheet import Row, Sheet, sheet_documents
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import file_stem


def read_xlsx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets, with the values that its formulas had when it was saved."""
    with _open_sheets(path, source, report) as sheets:
        for sheet in sheets:
            yield from sheet_documents(sheet, source, file_stem(path), report)


def read_first_sheet(path: Path) -> list[Row]:
    """Return the rows of a workbook's first sheet with text; UnreadableError if the file is not a workbook."""
    with _open_sheets(path, "", ReadReport()) as sheets:
        return next((sheet.rows for sheet in sheets), [])


@contextmanager
def _open_sheets(path: Path, source: str, report: ReadReport) -> Iterator[Iterator[Sheet]]:
    """Open a workbook and yield an iterator of its visible sheets."""
    with open_container(path) as archive:
        report_properties(archive, source, report)
        try:
            yield visible_sheets(Workbook(archive), source, report)
        except (LookupError, ValueError, OverflowError) as error:
            raise UnreadableError(f"not a readable workbook: {type(error).__name__}: {error}") from error


READER = FormatReader(read_xlsx, {"lxml.etree": "lxml"}, records=True)
