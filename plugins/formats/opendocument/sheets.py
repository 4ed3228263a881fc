"""Read workbooks of OpenDocument: the cells as they are shown, which the file contains as text."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.formats.office.containers import open_container, parse_xml, report_properties
from ramify.formats.opendocument._xml import NAMESPACES, find_body
from ramify.formats.sheets.sheet import ERRORS, UNCOMPUTED, Sheet, Span, column_name, remark_cells, sheet_documents
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import file_stem

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_REPETITIONS = 1000
"""Cells and rows repeated more often than this are read once."""
_MAX_SPACES = 100
_MAX_PARENTS = 30
"""Styles that a style is made from."""
_TABLE, _OFFICE, _TEXT, _DRAW = (f"{{{NAMESPACES[prefix]}}}" for prefix in ("table", "office", "text", "draw"))
_CELL, _COVERED_CELL, _PARAGRAPH, _ANNOTATION = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell", f"{_TEXT}p", f"{_OFFICE}annotation"
_FORMULA, _COLUMNS_SPANNED, _ROWS_SPANNED = (f"{_TABLE}{name}" for name in ("formula", "number-columns-spanned", "number-rows-spanned"))
_STYLE_NAME = f"{_TABLE}style-name"
_REPEATED = {kind: f"{_TABLE}number-{kind}-repeated" for kind in ("columns", "rows")}
_VALUES = [f"{_OFFICE}{name}" for name in ("value", "date-value", "time-value", "boolean-value", "string-value")]
_ERRORS = ("#", "Err:")
"""Begins of what a formula with an error shows."""
_INLINE_TEXTS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_UNREAD = {_ANNOTATION, f"{_TEXT}ruby-text"}
"""Elements in a paragraph that are not part of its text."""


class _Style(NamedTuple):
    """A style, with what it has from its parents; `is_hidden` is that of a sheet."""

    is_struck: bool = False
    is_bold: bool = False
    is_hidden: bool = False


def read_ods(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a workbook's sheets: a record for each row below a header."""
    with open_container(path) as archive:
        body = find_body(archive, "office:spreadsheet")
        report_properties(archive, source, report)
        styles = _read_styles(archive)
    for table in body.iterchildren(f"{_TABLE}table"):
        is_hidden = styles.get(table.get(f"{_TABLE}style-name", ""), _Style()).is_hidden
        sheet = _SheetReader(table, styles, source, ReadReport() if is_hidden else report).read()
        if is_hidden:
            report.leave_out(source, "hidden sheet", [" ".join(text for _, row in sheet.rows for text in row.values())])
        else:
            yield from sheet_documents(sheet, source, report.title or file_stem(path), report)


def _read_styles(archive: ZipFile) -> dict[str, _Style]:
    """Return the styles of a workbook by name."""
    elements: dict[str, _Element] = {}
    for part in ("styles.xml", "content.xml"):
        if part not in archive.namelist():
            continue
        elements |= {_attribute(style, "name"): style for style in parse_xml(archive.read(part)).iter("{*}style")}
    styles: dict[str, _Style] = {}

    def resolve(name: str, depth: int = 0) -> _Style:
        if name not in elements or depth > _MAX_PARENTS:
            return _Style()
        if name not in styles:
            style = elements[name]
            parent = resolve(_attribute(style, "parent-style-name"), depth + 1)
            line = _property(style, "text-line-through-style") or _property(style, "text-line-through-type")
            weight, display = _property(style, "font-weight"), _property(style, "display")
            is_struck = line != "none" if line else parent.is_struck
            styles[name] = _Style(is_struck, weight == "bold" if weight else parent.is_bold, display == "false")
        return styles[name]

    for name in elements:
        resolve(name)
    return styles


class _SheetReader:
    """Reads a sheet."""

    def __init__(self, table: "_Element", styles: Mapping[str, _Style], source: str, report: ReadReport) -> None:
        self._table, self._styles, self._source, self._report = table, styles, source, report
        self._name = table.get(f"{_TABLE}name", "")
        self._hidden_columns: list[range] = []
        self._column_styles: list[tuple[range, str]] = []
        self._left_columns: dict[int, list[str]] = {}
        """Texts of hidden columns, which are left out."""
        self._spans: list[Span] = []
        self._notes: dict[int, list[str]] = {}
        self._formulas: list[str] = []
        self._errors: list[str] = []
        self._drawn: list[str] = []
        """Texts of boxes and shapes."""

    def read(self) -> Sheet:
        """Return the sheet with what is visible of it."""
        self._read_columns()
        rows: list[tuple[int, dict[int, str]]] = []
        bold_rows, hidden_rows = set[int](), set[int]()
        number = 1
        for row in _rows(self._table):
            times = _repetitions(row, "rows")
            read = range(number, number + (times if times <= _MAX_REPETITIONS else 1))
            cells, is_bold = self._read_row(row, number)
            if (state := row.get(f"{_TABLE}visibility")) in ("collapse", "filter"):
                hidden_rows.update(read)
                thing = ("row hidden by a filter", "rows hidden by a filter") if state == "filter" else ("hidden row", "")
                for _ in read if cells else ():
                    self._leave_out(thing[0], cells.values(), thing[1])
                self._notes.pop(number, None)
            elif cells:
                rows += [(repeated, self._without_hidden(cells)) for repeated in read]
                bold_rows.update(read if is_bold else ())
            number += times
            row.clear()
        for texts in self._left_columns.values():
            self._leave_out("hidden column", texts)
        remark_cells(self._report, self._source, self._name, UNCOMPUTED, self._formulas)
        remark_cells(self._report, self._source, self._name, ERRORS, self._errors)
        for shapes in self._table.iterchildren(f"{_TABLE}shapes"):
            self._drawn += self._paragraphs(shapes.iter(_PARAGRAPH))
        return Sheet(self._name, rows, self._spans, bold_rows, hidden_rows, self._left_columns, self._notes, self._drawn)

    def _read_columns(self) -> None:
        begin = 0
        for column in self._table.iter(f"{_TABLE}table-column"):
            columns = range(begin, begin + _repetitions(column, "columns"))
            begin = columns.stop
            self._column_styles.append((columns, column.get(f"{_TABLE}default-cell-style-name", "")))
            if column.get(f"{_TABLE}visibility") in ("collapse", "filter"):
                self._hidden_columns.append(columns)

    def _without_hidden(self, cells: dict[int, str]) -> dict[int, str]:
        """Return a copy of a row without hidden columns, which are kept to be reported."""
        if not self._hidden_columns:
            return dict(cells)
        visible = {}
        for column, text in cells.items():
            if any(column in hidden for hidden in self._hidden_columns):
                self._left_columns.setdefault(column, []).append(text)
            else:
                visible[column] = text
        return visible

    def _read_row(self, row: "_Element", number: int) -> tuple[dict[int, str], bool]:
        """Return the cells of a row, and whether all of them are bold."""
        cells: dict[int, str] = {}
        column, is_bold = 0, True
        for cell in row:
            if cell.tag != _CELL and cell.tag != _COVERED_CELL:
                continue
            times = _repetitions(cell, "columns")
            text = self._cell_text(cell, number, column)
            style = self._style(cell, row, column) if text else _Style()
            if style.is_struck:
                self._leave_out("struck passage", [text])
            elif text and cell.tag == _COVERED_CELL:
                self._leave_out("cell covered by a merged one", [text], "cells covered by merged ones")
            elif text:
                is_bold = is_bold and style.is_bold
                for repeated in range(column, column + (times if times <= _MAX_REPETITIONS else 1)):
                    cells[repeated] = text
            width, height = int(cell.get(_COLUMNS_SPANNED) or 1), int(cell.get(_ROWS_SPANNED) or 1)
            if width > 1 or height > 1:
                self._spans.append(Span(number, column, number + height - 1, column + width - 1))
            self._read_beside(cell, number)
            column += times
        return cells, is_bold

    def _read_beside(self, cell: "_Element", number: int) -> None:
        """Read the note on a cell, and the shapes that are fixed to it."""
        for child in cell:
            if child.tag == _ANNOTATION:
                if text := "\n".join(self._paragraphs(child.iterchildren(_PARAGRAPH))):
                    self._notes.setdefault(number, []).append(text)
            elif child.tag != _PARAGRAPH and isinstance(child.tag, str) and child.tag.startswith(_DRAW):
                self._drawn += self._paragraphs(child.iter(_PARAGRAPH))

    def _style(self, cell: "_Element", row: "_Element", column: int) -> _Style:
        name = cell.get(_STYLE_NAME) or row.get(f"{_TABLE}default-cell-style-name")
        if not name:
            name = next((style for columns, style in self._column_styles if column in columns), "")
        return self._styles.get(name, _Style())

    def _cell_text(self, cell: "_Element", number: int, column: int) -> str:
        """Return a cell's text as it is shown, else its value, else its formula."""
        paragraphs = [child for child in cell if child.tag == _PARAGRAPH]
        text = "\n".join(self._paragraphs(paragraphs)).strip() if paragraphs else ""
        if text and not text.startswith(_ERRORS):
            return text
        value, formula = _value(cell), str(cell.get(_FORMULA, ""))
        if text:
            self._errors += [f"{column_name(column)}{number}"] if formula else []
        elif value and paragraphs:
            self._leave_out("value that its format hides", [value], "values that their format hides")
        elif formula and not value and not paragraphs:
            self._formulas.append(f"{column_name(column)}{number}")
            return "=" + formula.partition("=")[2].replace("[.", "").replace(":.", ":").replace("]", "")
        else:
            return value
        return text

    def _paragraphs(self, paragraphs: Iterable["_Element"]) -> list[str]:
        return [text for paragraph in paragraphs if (text := self._inline_text(paragraph).strip())]

    def _inline_text(self, element: "_Element") -> str:
        """Return the text of a paragraph without struck passages, which are reported."""
        if not len(element):
            return element.text or ""
        parts = [element.text or ""]
        for child in element:
            if child.tag == f"{_TEXT}s":
                parts.append(" " * min(int(child.get(f"{_TEXT}c") or 1), _MAX_SPACES))
            elif child.tag in _INLINE_TEXTS:
                parts.append(_INLINE_TEXTS[child.tag])
            elif isinstance(child.tag, str) and child.tag not in _UNREAD:
                text = self._inline_text(child)
                if text.strip() and self._styles.get(child.get(f"{_TEXT}style-name", ""), _Style()).is_struck:
                    self._leave_out("struck passage", [text])
                else:
                    parts.append(text)
            parts.append(child.tail or "")
        return "".join(parts)

    def _leave_out(self, thing: str, texts: Iterable[str], things: str = "") -> None:
        """Report texts that are left out as one thing."""
        self._report.leave_out(self._source, thing, [" ".join(texts)], things)


def _rows(element: "_Element") -> Iterator["_Element"]:
    """Yield the rows of a table, also those in groups."""
    for child in element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif isinstance(child.tag, str) and child.tag.startswith(f"{_TABLE}table-") and len(child):
            yield from _rows(child)


def _repetitions(element: "_Element", kind: str) -> int:
    return int(element.get(_REPEATED[kind]) or 1)


def _value(cell: "_Element") -> str:
    """Return the value of a cell, "" if it has none."""
    return next((value for name in _VALUES if (value := cell.get(name))), "")


def _property(style: "_Element", name: str) -> str:
    """Return a property of a style itself, "" if it does not set it."""
    return next((value for properties in style if (value := _attribute(properties, name))), "")


def _attribute(element: "_Element", local: str) -> str:
    return next((value for name, value in element.items() if name.rpartition("}")[2] == local), "")


READER = FormatReader(read_ods, {"lxml.etree": "lxml"}, records=True)
