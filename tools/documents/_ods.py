"""Read workbooks of OpenDocument."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from ramify.tools.documents._odf_xml import NAMESPACES, find_body, outermost, qualified_name, text_of
from ramify.tools.documents._text import file_stem
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.office import open_container, report_properties
from ramify.tools.documents.sheets import Row, sheet_documents

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_REPETITIONS = 1000
"""Cells and rows repeated more often than this are read once."""


def read_ods(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets: a record a row where there is a header."""
    with open_container(path) as archive:
        body = find_body(archive, "office:spreadsheet")
        report_properties(archive, source, report)
    for sheet in body.iterfind("table:table", NAMESPACES):
        yield from sheet_documents(_rows(sheet), source, sheet.get(qualified_name("table:name")) or "", report.title or file_stem(path))


def _rows(sheet: "_Element") -> Iterator[Row]:
    number = 1
    for row in outermost(sheet, {"table:table-row"}):
        cells: dict[int, str] = {}
        place = 0
        for cell in row:
            text, times = text_of(cell).strip(), _repetitions(cell, "number-columns-repeated")
            if text:
                cells |= dict.fromkeys(range(place, place + (times if times <= _MAX_REPETITIONS else 1)), text)
            place += times
        times = _repetitions(row, "number-rows-repeated")
        if cells:
            yield from ((number + after, cells) for after in range(times if times <= _MAX_REPETITIONS else 1))
        number += times


def _repetitions(element: "_Element", name: str) -> int:
    return int(element.get(qualified_name(f"table:{name}")) or 1)
