"""Read what was filled in and noted on a PDF's page: the values of its form's fields, free text, comments and their replies."""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from ramify.formats.office.containers import parse_xml
from ramify.formats.pdf._lines import PrintedLine
from ramify.tools.documents.files import ReadReport, UnreadableError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_INDEX = re.compile(r"\[\d+\]$")
_MAX_ANNOTATIONS = 5000
"""Most annotations read on one page."""
_HIDDEN = 2 | 32
"""Flags of an annotation that is not shown: Hidden, NoView."""
_PASSWORD = 1 << 13
_OFF = "no"
"""The value of a box that is not ticked; not written on a page on which nothing is filled in, nor without a label."""
_BLANKS = (":", "_", "…", "..", ". .")
"""Ends of a label before the place for a value."""
_ROW = 0.8
_NEAR = 1.5
_ABOVE = 2.2
"""In multiples of the font size: greatest distance of a field from the middle of its row, to a label beside it, and above it."""
_TALL = 2.5
_USUAL_SIZE = 10.0

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""


class _Field(NamedTuple):
    """A field of a form, or free text: where it is, its name, its value, and whether it is a box to tick."""

    box: Box
    name: str
    value: str
    is_tick: bool = False
    is_typed: bool = False
    """Whether it is free text, which may also be a note beside the text."""


class Filled(NamedTuple):
    """The lines of a page with the values of its fields, and the notes on it."""

    lines: list[PrintedLine]
    notes: list[str]
    files: list[str]
    """The names of files attached to the page."""
    fields: int


def fill_in(page: "PdfPage", lines: Sequence[PrintedLine], source: str, report: ReadReport) -> Filled:
    """Return a page's lines with the values of the form's fields beside their labels, and the notes on the page."""
    fields, notes, files = _read_annotations(page, source, report)
    if not fields:
        return Filled(list(lines), notes, files, 0)
    is_blank = all(field.is_tick and field.value == _OFF for field in fields)
    with closing(page.get_textpage()) as textpage:
        sheet = _Sheet(textpage, lines, [field.box for field in fields], report)
        for field in sorted([] if is_blank else fields, key=lambda field: (-field.box[3], field.box[0])):
            if not sheet.has_printed(field) and not sheet.fill(field):
                notes.append(f"Note: {field.value}")
                report.add("Note")
    return Filled(sheet.filled(), notes, files, len(fields))


class _Sheet:
    """A page into whose lines values are inserted."""

    def __init__(self, textpage: "PdfTextPage", lines: Sequence[PrintedLine], boxes: Sequence[Box], report: ReadReport) -> None:
        self._textpage = textpage
        self._lines = lines
        self._boxes = boxes
        self._report = report
        self._insertions: dict[int, list[tuple[int, str]]] = {}
        """For each line the values to insert, each behind so many letters and digits."""
        self._own: list[tuple[int, PrintedLine]] = []
        """Lines of their own, each with the number of lines before it."""

    def has_printed(self, field: _Field) -> bool:
        """Return whether the value is part of the printed text."""
        return (
            not field.is_tick
            and _letters(field.value) != ""
            and _letters(field.value) in _letters(self._textpage.get_text_bounded(*field.box))
        )

    def fill(self, field: _Field) -> bool:
        """Insert a value beside or below its label, else with its name; return False for free text that belongs to no label."""
        left, _, right, top = field.box
        row = self._row(field)
        before = self._text(row, self._begin(row, left), left) if row is not None else ""
        after = self._text(row, right, self._end(row, right)) if row is not None else ""
        if field.is_typed and not before.endswith(_BLANKS):
            return False
        if row is not None and field.is_tick and after and not after.endswith(":") and (not before or self._is_near(row, right)):
            self._insert(row, self._end(row, right), f": {field.value}" if after[-1:].isalnum() else field.value)
        elif row is not None and (before or after):
            colon = ":" if before[-1:].isalnum() and (field.is_tick or not after or after[0].isupper()) else ""
            self._insert(row, left, f"{colon} {field.value}")
        elif (label := self._label_above(field)) is not None:
            place, text = label
            if _letters(text) == _letters(self._lines[place].text):
                self._insert(place, right + self._lines[place].right, f"{':' if text[-1:].isalnum() else ''} {field.value}")
            else:
                self._add(place + 1, field, f"{text.rstrip(':')}: {field.value}")
        elif not field.is_tick or field.value != _OFF:
            above = max((place for place, line in enumerate(self._lines) if line.bottom >= top), default=-1)
            self._report.add(field.name)
            self._add(above + 1, field, f"{field.name}: {field.value}" if field.name else field.value)
        if field.is_tick:
            self._report.add(field.value)
        return True

    def filled(self) -> list[PrintedLine]:
        """Return the lines with the values."""
        lines: list[PrintedLine] = []
        own = sorted(self._own, key=lambda pair: pair[0])
        for place, line in enumerate(self._lines):
            while own and own[0][0] <= place:
                lines.append(own.pop(0)[1])
            text, is_row = line.text, False
            insertions = [(_offset_after(text, letters), value) for letters, value in self._insertions.get(place, ())]
            for at, value in sorted(insertions, key=lambda pair: -pair[0]):
                is_row = is_row or at == len(text)
                text = f"{text[:at].rstrip()}{'' if value[0] == ':' else ' '}{value.lstrip()} {text[at:].lstrip()}".strip()
            lines.append(line._replace(text=text, cells=line.cells or -is_row))
        return lines + [line for _, line in own]

    def _row(self, field: _Field) -> int | None:
        """Return the line beside which a field is, preferably on its right."""
        left, bottom, right, top = field.box
        rows = []
        for place, line in enumerate(self._lines):
            middle = (bottom + top) / 2 if top - bottom < _TALL * line.size else top - 0.6 * line.size
            distance = abs(line.top + 0.3 * line.size - middle)
            if distance <= _ROW * line.size:
                aside = left - line.right if line.left < left else line.left - right + 1000
                rows.append((max(aside, 0), distance, place))
        return min(rows)[2] if rows else None

    def _begin(self, row: int, left: float) -> float:
        return max([self._lines[row].left - 1, *(box[2] for box in self._beside(row) if box[2] <= left + 1)])

    def _end(self, row: int, right: float) -> float:
        return min([self._lines[row].right + 1, *(box[0] for box in self._beside(row) if box[0] >= right - 1)])

    def _beside(self, row: int) -> Iterator[Box]:
        line = self._lines[row]
        return (box for box in self._boxes if abs(line.top + 0.3 * line.size - (box[1] + box[3]) / 2) <= _ROW * line.size)

    def _is_near(self, row: int, right: float) -> bool:
        return bool(self._text(row, right, right + _NEAR * self._lines[row].size))

    def _text(self, row: int, left: float, right: float) -> str:
        """Return the text of a line between two positions."""
        line = self._lines[row]
        if right <= left:
            return ""
        return " ".join(self._textpage.get_text_bounded(left, line.bottom - 0.3 * line.size, right, line.top + line.size).split())

    def _insert(self, row: int, x: float, value: str) -> None:
        line = self._lines[row]
        before = line.text if x >= line.right else self._text(row, line.left - 1, x)
        self._insertions.setdefault(row, []).append((len(_letters(before)), value))

    def _label_above(self, field: _Field) -> tuple[int, str] | None:
        """Return the line directly above a field, and its text above the field."""
        left, _, right, top = field.box
        near = [
            (line.bottom - top, place)
            for place, line in enumerate(self._lines)
            if -0.3 * line.size <= line.bottom - top <= _ABOVE * line.size and line.left < right and line.right > left
        ]
        if not near:
            return None
        place = min(near)[1]
        text = self._text(
            place, left - 2, min([self._lines[place].right + 1, *(b[0] for b in self._boxes if b[0] >= right and b[3] >= top - 1)])
        )
        return (place, text) if text else None

    def _add(self, place: int, field: _Field, text: str) -> None:
        left, bottom, right, _ = field.box
        size = self._lines[max(place - 1, 0)].size if self._lines else _USUAL_SIZE
        self._own.append((place, PrintedLine(left, max(right, left + 1), bottom + 2, bottom + 2, size, text, -1)))


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _offset_after(text: str, letters: int) -> int:
    """Return the offset behind so many letters and digits, the rest of their word, and the signs that follow it directly."""
    at = 0
    while letters and at < len(text):
        letters -= text[at].isalnum()
        at += 1
    while 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum():
        at += 1
    while at < len(text) and not text[at].isalnum() and not text[at].isspace():
        at += 1
    return at


def _read_annotations(page: "PdfPage", source: str, report: ReadReport) -> tuple[list[_Field], list[str], list[str]]:
    """Return the fields with a value, the notes and the names of the attached files of a page."""
    import pypdfium2.raw as pdfium

    fields: list[_Field] = []
    notes: dict[str, None] = {}
    files: list[str] = []
    count = pdfium.FPDFPage_GetAnnotCount(page)
    if count > _MAX_ANNOTATIONS:
        report.remark(source, f"more than {_MAX_ANNOTATIONS:,} fields and notes on a page: the others are not read")
    for number in range(min(count, _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
                continue
            is_field = kind == pdfium.FPDF_ANNOT_WIDGET
            if attached := pdfium.FPDFAnnot_GetFileAttachment(annotation):
                files.append(_text(pdfium.FPDFAttachment_GetName, attached) or "without a name")
            hidden = bool(pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN)
            if is_field and page.formenv:
                field = _read_field(annotation, page.formenv, hidden, source, report)
                fields += [field] if field else []
            elif not is_field and (text := _note_text(annotation, kind, page)):
                if hidden:
                    report.leave_out(source, "hidden note", [text])
                elif kind == pdfium.FPDF_ANNOT_FREETEXT:
                    fields.append(_Field(_box(annotation), "", text, is_typed=True))
                else:
                    label = _note_label(annotation)
                    if text not in files:
                        report.add(label)
                        notes[f"{label}: {text}"] = None
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return fields, list(notes), files


def _read_field(annotation: Any, form: Any, hidden: bool, source: str, report: ReadReport) -> _Field | None:
    """Return a field with its value; None if it has none or is not to be read."""
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    path = _text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    name = _text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation) or _INDEX.sub("", path.rpartition(".")[2])
    is_tick = kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
    if is_tick:
        value = "yes" if pdfium.FPDFAnnot_IsChecked(form, annotation) else _OFF
        if kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON:
            name = _text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation) or name
    elif kind in (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        value = ", ".join(_chosen(annotation, form)) or _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    elif kind == pdfium.FPDF_FORMFIELD_TEXTFIELD:
        value = _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
        hidden = hidden or bool(pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD)
    else:
        return None
    if hidden and value and not is_tick:
        report.leave_out(source, "hidden field", [value])
    return _Field(_box(annotation), name, value, is_tick) if value and not hidden else None


def _chosen(annotation: Any, form: Any) -> Iterator[str]:
    """Yield the labels of the options that are selected."""
    import pypdfium2.raw as pdfium

    for number in range(pdfium.FPDFAnnot_GetOptionCount(form, annotation)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, number):
            yield _text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, number)


def _note_text(annotation: Any, kind: int, page: "PdfPage") -> str:
    """Return the text of a comment, free text or stamp."""
    import pypdfium2.raw as pdfium

    text = _value(annotation, b"Contents")
    if not text and kind in (pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_FREETEXT):
        with closing(page.get_textpage()) as textpage:
            text = " ".join(_printed_texts(annotation, textpage))
    return text


def _printed_texts(annotation: Any, textpage: "PdfTextPage") -> Iterator[str]:
    """Yield the texts in an annotation's appearance."""
    import pypdfium2.raw as pdfium

    for number in range(pdfium.FPDFAnnot_GetObjectCount(annotation)):
        page_object = pdfium.FPDFAnnot_GetObject(annotation, number)
        if pdfium.FPDFPageObj_GetType(page_object) == pdfium.FPDF_PAGEOBJ_TEXT:
            yield _text(pdfium.FPDFTextObj_GetText, page_object, textpage)


def _note_label(annotation: Any) -> str:
    """Return "Note", or "Reply", with the author."""
    import pypdfium2.raw as pdfium

    parent = pdfium.FPDFAnnot_GetLinkedAnnot(annotation, b"IRT")
    if parent:
        pdfium.FPDFPage_CloseAnnot(parent)
    author = _value(annotation, b"T")
    return f"{'Reply' if parent else 'Note'}{f' by {author}' if author else ''}"


def _value(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    return _text(pdfium.FPDFAnnot_GetStringValue, annotation, key)


def _box(annotation: Any) -> Box:
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, box)
    return min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top)


def _text(function: Callable[..., int], *arguments: Any) -> str:
    """Return a text from PDFium, on one line."""
    size = function(*arguments, None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    return " ".join(bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace").split())


def read_xfa(document: "PdfDocument") -> list[str]:
    """Return the values of an XFA form, each with its name; an empty list if there are none, or they cannot be read."""
    import pypdfium2.raw as pdfium

    for number in range(pdfium.FPDF_GetXFAPacketCount(document)):
        size = pdfium.FPDF_GetXFAPacketName(document, number, None, 0)
        name = ctypes.create_string_buffer(size)
        pdfium.FPDF_GetXFAPacketName(document, number, name, size)
        if name.value != b"datasets":
            continue
        length = ctypes.c_ulong()
        pdfium.FPDF_GetXFAPacketContent(document, number, None, 0, length)
        content = ctypes.create_string_buffer(length.value)
        pdfium.FPDF_GetXFAPacketContent(document, number, content, length.value, length)
        try:
            root = parse_xml(content.raw)
        except UnreadableError:
            return []
        leaves = (element for element in root.iter() if isinstance(element.tag, str) and not len(element))
        return [f"{element.tag.rpartition('}')[2]}: {' '.join(element.text.split())}" for element in leaves if (element.text or "").strip()]
    return []
