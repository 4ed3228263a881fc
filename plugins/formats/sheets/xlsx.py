"""Read Excel workbooks: their sheets, cells and shapes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from ramify.formats.office.containers import iterate_xml, open_container, report_properties
from ramify.formats.sheets._number_format import format_number, format_text
from ramify.formats.sheets._workbook import Part, String, Style, Workbook, is_on, local_name, read_string, unescape
from ramify.formats.sheets.sheet import (
    ERRORS,
    UNCOMPUTED,
    Row,
    Sheet,
    Span,
    cell_spans,
    column_name,
    column_number,
    move_formula,
    remark_cells,
    sheet_documents,
)
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import file_stem

if TYPE_CHECKING:
    from lxml.etree import _Element


_MAX_FORMULA_CHARS = 200


def visible_sheets(workbook: Workbook, source: str, report: ReadReport) -> Iterator[Sheet]:
    """Yield the visible sheets; texts of hidden ones, and sheets that are charts or macros, are reported."""
    for part in workbook.parts:
        if part.kind != "worksheet":
            report.remark(source, f"sheet {part.name!r} not read: it is a {part.kind or 'missing part'}, not a table")
        elif part.is_hidden:
            hidden = SheetReader(workbook, part, source, ReadReport()).read()
            report.leave_out(source, "hidden sheet", [" ".join(text for _, row in hidden.rows for text in row.values())])
        else:
            yield SheetReader(workbook, part, source, report).read()


class SheetReader:
    """Reads a sheet: first its rows, then what follows them in the file."""

    def __init__(self, workbook: Workbook, part: Part, source: str, report: ReadReport) -> None:
        self._workbook, self._part, self._source, self._report = workbook, part, source, report
        self._rows: dict[int, dict[int, str]] = {}
        self._bold_rows: set[int] = set()
        self._hidden_rows: set[int] = set()
        self._hidden_columns: list[tuple[int, int]] = []
        self._left_columns: dict[int, list[str]] = {}
        """Texts of hidden columns, which are left out."""
        self._spans: list[Span] = []
        self._filtered: list[Span] = []
        self._formulas: dict[tuple[int, int], str] = {}
        """Formulas without a stored value, by row and column."""
        self._zeros: dict[tuple[int, int], str] = {}
        """Formulas whose stored value is 0."""
        self._has_values = False
        """Whether a formula has another value than 0."""
        self._shared: dict[str, tuple[int, int, str]] = {}
        self._errors: list[tuple[int, int]] = []
        self._are_rows_hidden = False

    def read(self) -> Sheet:
        """Return the sheet with what is visible of it."""
        number = 0
        content = self._workbook.content(self._part.path)
        for element in iterate_xml(content, "sheetFormatPr", "col", "row", "mergeCell", "autoFilter"):
            if local_name(element) == "row":
                number = int(float(element.get("r") or number + 1))
                self._read_row(number, element)
            else:
                self._read_layout(element)
        self._show_formulas()
        tables = [self._workbook.part(path) for _, path in self._workbook.related(self._part.path, "table")]
        filters = (filters for table in tables for filters in table.iterfind("{*}autoFilter") if len(filters))
        self._filtered += [span for auto_filter in filters for span in cell_spans(auto_filter.get("ref", ""))]
        notes = self._visible_notes()
        rows = list(self._visible_rows())
        return Sheet(
            self._part.name, rows, self._spans, self._bold_rows, self._hidden_rows, self._left_columns, notes, list(self._drawn_texts())
        )

    def _read_layout(self, element: "_Element") -> None:
        match local_name(element):
            case "sheetFormatPr":
                self._are_rows_hidden = is_on(element.get("zeroHeight"))
            case "col" if is_on(element.get("hidden")) or _is_zero(element.get("width")):
                self._hidden_columns.append((int(element.get("min", "1")) - 1, int(element.get("max", "1")) - 1))
            case "mergeCell":
                self._spans += cell_spans(element.get("ref", ""))
            case "autoFilter" if len(element):
                self._filtered += cell_spans(element.get("ref", ""))

    def _read_row(self, number: int, row: "_Element") -> None:
        if is_on(row.get("hidden", "1" if self._are_rows_hidden else "0")) or _is_zero(row.get("ht")):
            self._hidden_rows.add(number)
        cells: dict[int, str] = {}
        column, are_bold = -1, True
        for cell in row:
            if local_name(cell) != "c":
                continue
            column = column_number(cell.get("r", "")) if cell.get("r") else column + 1
            style = self._style(cell)
            if (text := self._cell_text(cell, style, number, column)) and style.struck:
                self._leave_out("struck passage", [text])
            elif text:
                cells[column] = text
                are_bold = are_bold and style.bold
        if cells:
            self._rows[number] = cells
            if are_bold:
                self._bold_rows.add(number)

    def _style(self, cell: "_Element") -> Style:
        index = int(cell.get("s") or 0)
        return self._workbook.styles[index] if index < len(self._workbook.styles) else Style()

    def _cell_text(self, cell: "_Element", style: Style, row: int, column: int) -> str:
        """Return a cell's text as it is shown; "" if it is empty, or if its format hides it, which is reported."""
        kind = cell.get("t", "n")
        stored = cell.findtext("{*}v") or ""
        if (formula := cell.find("{*}f")) is not None:
            self._note_formula(formula, stored, kind, row, column)
        if kind == "inlineStr":
            inline = cell.find("{*}is")
            text = self._without_struck(read_string(inline)) if inline is not None else ""
        elif not stored:
            return ""
        elif kind == "s":
            text = self._without_struck(self._workbook.strings[int(stored)])
        elif kind == "b":
            return "TRUE" if is_on(stored) else "FALSE"
        elif kind == "e":
            self._errors.append((row, column))
            return stored
        elif kind == "d":
            text = stored.removesuffix("Z").removesuffix("T00:00:00").replace("T", " ")
        elif kind == "n":
            is_plain = style.code == "General" and stored.isdigit()
            text = stored if is_plain else format_number(float(stored), style.code, self._workbook.from_1904)
        else:
            text = unescape(stored)
        shown = text if kind == "n" or style.code == "General" else format_text(text, style.code)
        if not shown.strip() and (hidden := text or stored).strip():
            self._leave_out("value that its format hides", [hidden], "values that their format hides")
        return shown.strip()

    def _note_formula(self, formula: "_Element", stored: str, kind: str, row: int, column: int) -> None:
        """Keep a formula that has no stored value, or perhaps none."""
        text = formula.text or ""
        if formula.get("t") == "shared":
            if text:
                self._shared[formula.get("si", "")] = (row, column, text)
            elif formula.get("si", "") in self._shared:
                first_row, first_column, master = self._shared[formula.get("si", "")]
                text = move_formula(master, row - first_row, column - first_column)
        text = f"={text[:_MAX_FORMULA_CHARS]}"
        if not stored and kind != "str":
            self._formulas[row, column] = text
        elif kind == "n" and not stored.strip("0."):
            self._zeros[row, column] = text
        else:
            self._has_values = True

    def _show_formulas(self) -> None:
        """Show formulas in the place of values that were not stored: some programs write none, or 0 for all."""
        if not self._has_values and not self._workbook.is_computed:
            self._formulas |= self._zeros
        for (row, column), formula in self._formulas.items():
            self._rows.setdefault(row, {})[column] = formula
        for kind, cells in ((UNCOMPUTED, self._formulas), (ERRORS, self._errors)):
            names = [f"{column_name(column)}{row}" for row, column in cells if row not in self._hidden_rows and not self._is_hidden(column)]
            remark_cells(self._report, self._source, self._part.name, kind, names)

    def _visible_rows(self) -> Iterator[tuple[int, dict[int, str]]]:
        """Yield the rows without hidden rows and columns, which are reported."""
        for number, row in sorted(self._rows.items()):
            if number in self._hidden_rows:
                if any(span.first_row <= number <= span.last_row for span in self._filtered):
                    self._leave_out("row hidden by a filter", row.values(), "rows hidden by a filter")
                else:
                    self._leave_out("hidden row", row.values())
                continue
            cells = {}
            for column, text in sorted(row.items()):
                if self._is_hidden(column):
                    self._left_columns.setdefault(column, []).append(text)
                else:
                    cells[column] = text
            yield number, cells
        for texts in self._left_columns.values():
            self._leave_out("hidden column", texts)

    def _is_hidden(self, column: int) -> bool:
        return any(first <= column <= last for first, last in self._hidden_columns)

    def _without_struck(self, string: String) -> str:
        self._report.leave_out(self._source, "struck passage", string.struck)
        return string.text

    def _leave_out(self, thing: str, texts: Iterable[str], things: str = "") -> None:
        """Report texts that are left out as one thing."""
        self._report.leave_out(self._source, thing, [" ".join(texts)], things)

    def _visible_notes(self) -> dict[int, list[str]]:
        """Return the notes and comments on visible cells, by row."""
        notes: dict[int, list[str]] = {}
        related = list(self._workbook.related(self._part.path, "comments", "threadedComment"))
        are_threaded = any(kind == "threadedComment" for kind, _ in related)
        for kind, path in related:
            for comment in self._workbook.part(path).iter("{*}comment", "{*}threadedComment"):
                element = comment.find("{*}text")
                if element is None or (span := next(cell_spans(comment.get("ref", "")), None)) is None:
                    continue
                text = read_string(element).text if kind == "comments" else element.text or ""
                if are_threaded and kind == "comments" and text.startswith("[Threaded comment]"):
                    continue
                if span.first_row in self._hidden_rows or self._is_hidden(span.first_column):
                    self._leave_out("note on a hidden cell", [text], "notes on hidden cells")
                elif text.strip():
                    notes.setdefault(span.first_row, []).append(text.strip())
        return notes

    def _drawn_texts(self) -> Iterator[str]:
        """Yield the texts of boxes, shapes, diagrams and titles of charts that lie on the sheet."""
        for _, path in self._workbook.related(self._part.path, "drawing"):
            parts = [path, *(target for _, target in self._workbook.related(path, "chart", "chartEx", "diagramData"))]
            for root in map(self._workbook.part, parts):
                for paragraph in root.iter("{*}p"):
                    text = "".join(run.text or "" for run in paragraph.iter("{*}t")).strip()
                    if text and next(paragraph.iterancestors("{*}Fallback"), None) is None:
                        yield text


def _is_zero(size: str | None) -> bool:
    return size is not None and not size.strip("0.")


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
