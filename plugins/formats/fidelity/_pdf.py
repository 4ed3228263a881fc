"""The words of a PDF, built from the boxes of PDFium's characters, without the readers' code."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.fidelity._text import JOINT, RawText, optional

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_SURE_GAP, _DIGIT_GAP, _LEAST_GAP = 1.0, 0.35, 0.08
"""In multiples of the font size: a gap between words, one between numbers, and one that may be within a word."""
_RAISED = 0.12
_SAME_LINE = 0.7
"""In multiples of the font size: shifts of the baseline of a raised character, and within a line."""
_UPRIGHT = 0.01
_NOTES = (1, *range(3, 16))
"""PDFium's annotations with a text that a person wrote: notes, free text, shapes, marked text, stamps."""
_WIDGET = 20


class _Character(NamedTuple):
    text: str
    left: float
    right: float
    baseline: float
    size: float
    is_upright: bool


def raw_pdf(content: bytes) -> Iterator[RawText]:
    """Yield the text of each page, its notes and the values of its form."""
    from pypdfium2 import PdfDocument, PdfiumError

    with PdfDocument(content) as document:
        document.init_forms()
        yield optional("\n".join(mark.get_title() for mark in document.get_toc()))
        for number in range(len(document)):
            try:
                page = document[number]
            except PdfiumError:
                continue
            with closing(page):
                yield RawText(_page_text(page), f"page {number + 1}")
                yield from (RawText(text, f"page {number + 1}") for text in _annotation_texts(document, page))


def _page_text(page: "PdfPage") -> str:
    with closing(page.get_textpage()) as textpage:
        parts: list[str] = []
        before: _Character | None = None
        is_broken = False
        for character in _characters(textpage):
            if character.text in "\r\n":  # as PDFium guesses
                is_broken = True
                continue
            if is_broken and (before is None or before.text.isspace() or not (before.is_upright and character.is_upright)):
                parts.append("\n")
            elif before is not None and not character.text.isspace() and not before.text.isspace():
                parts.append(_between(before, character))
            parts.append(character.text)
            before, is_broken = character, False
        return "".join(parts)


def _characters(textpage: "PdfTextPage") -> Iterator[_Character]:
    import pypdfium2.raw as pdfium

    x, y, box = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF()
    for place in range(textpage.count_chars()):
        code = pdfium.FPDFText_GetUnicode(textpage, place)
        if code == 0 or 0xD800 <= code < 0xE000:
            continue
        pdfium.FPDFText_GetLooseCharBox(textpage, place, box)
        pdfium.FPDFText_GetCharOrigin(textpage, place, x, y)
        angle = pdfium.FPDFText_GetCharAngle(textpage, place)
        size = abs(box.top - box.bottom) or pdfium.FPDFText_GetFontSize(textpage, place) or 1.0
        yield _Character(chr(code), box.left, box.right, y.value, size, abs(angle) < _UPRIGHT)


def _between(before: _Character, after: _Character) -> str:
    """Return what is between two characters: nothing, a space, or an uncertain joint."""
    if not (before.is_upright and after.is_upright):
        return ""
    size = max(before.size, after.size)
    shift, gap = abs(after.baseline - before.baseline), after.left - before.right
    are_digits = before.text.isdigit() and after.text.isdigit()
    if shift > _SAME_LINE * size:
        return "\n"
    if gap > (_DIGIT_GAP if are_digits else _SURE_GAP) * size or gap < -2 * size:
        return " "
    if shift > _RAISED * size:
        return " " if are_digits else JOINT
    return JOINT if gap > _LEAST_GAP * size and not are_digits else ""


def _annotation_texts(document: "PdfDocument", page: "PdfPage") -> Iterator[str]:
    """Yield the texts of notes on a page, and the values of its fields."""
    import pypdfium2.raw as pdfium

    form = document.formenv.raw if document.formenv is not None else None
    kinds = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
    for place in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, place)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == _WIDGET and form is not None and pdfium.FPDFAnnot_GetFormFieldType(form, annotation) in kinds:
            yield _wide_text(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))
        elif kind in _NOTES:
            yield _wide_text(partial(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents"))
        pdfium.FPDFPage_CloseAnnot(annotation)


def _wide_text(call: Callable[[object, int], int]) -> str:
    """Return the UTF-16 text that a function of PDFium writes into a buffer."""
    import pypdfium2.raw as pdfium

    length = call(None, 0)
    buffer = ctypes.create_string_buffer(length)
    call(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", "replace")
