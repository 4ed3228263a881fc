"""The lines of a PDF's pages: what they say and where they stand."""

import ctypes
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen at the end of a line, the next line following it directly."""

_SAME_BASELINE = 0.45
_SAME_COLUMN = 2.0
_TOUCHING = 0.1
"""Of the size of the letters: how far lines' feet and pieces' ends may be from each other."""
_RAISED = "0123456789*†‡"
"""What may stand above the line at its end, as the mark of a footnote."""


class Line(NamedTuple):
    """A line of print: its edges, its first and last baseline (both counted upwards) and the size of its letters."""

    left: float
    right: float
    top: float
    bottom: float
    size: float
    text: str


def lines_of(page: "PdfPage") -> list[Line]:
    """Return a page's lines in the order of reading that the file has."""
    textpage = page.get_textpage()
    try:
        merged: list[Line] = []
        for line in _pieces(textpage):
            if merged and _continues(merged[-1], line):
                merged[-1] = _joined(merged[-1], line)
            else:
                merged.append(line)
        return merged
    finally:
        textpage.close()


def _pieces(textpage: "PdfTextPage") -> Iterator[Line]:
    begin = 0
    for text in _text(textpage).split("\r\n"):
        units = _units(text)
        if text.strip():
            first = begin + _units(text[: len(text) - len(text.lstrip())])
            last = begin + _units(text.rstrip()) - 1
            level = begin + _units(text.rstrip().rstrip(_RAISED)) - 1
            yield _placed(textpage, first, max(first, level), last, text.strip())
        begin += units + 2


def _text(textpage: "PdfTextPage") -> str:
    import pypdfium2.raw as pdfium

    count = textpage.count_chars()
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = pdfium.FPDFText_GetText(textpage, 0, count, buffer)
    return bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace").replace("\0", "\ufffd")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


def _placed(textpage: "PdfTextPage", first: int, level: int, last: int, text: str) -> Line:
    import pypdfium2.raw as pdfium

    box, x, top, bottom = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    places = (first, (first + last) // 2, level, last)
    begin, middle, foot, end = (pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, place) for place in places)
    pdfium.FPDFText_GetLooseCharBox(textpage, begin, box)
    left = box.left
    pdfium.FPDFText_GetCharOrigin(textpage, begin, x, top)
    pdfium.FPDFText_GetCharOrigin(textpage, foot, x, bottom)
    pdfium.FPDFText_GetLooseCharBox(textpage, end, box)
    size = median(pdfium.FPDFText_GetFontSize(textpage, place) for place in (begin, middle, end))
    return Line(left, box.right, top.value, bottom.value, size or abs(box.top - box.bottom) or 1.0, text)


def _continues(line: Line, piece: Line) -> bool:
    """Tell whether a piece stands on the same line: PDFium breaks lines at raised marks."""
    size = max(line.size, piece.size)
    close = line.right - size <= piece.left < line.right + _SAME_COLUMN * size
    return close and abs(piece.top - line.bottom) < _SAME_BASELINE * size


def _joined(line: Line, piece: Line) -> Line:
    """Join pieces of a line; its size and height are those of the longer piece, the other may be a raised mark."""
    space = " " if piece.left > line.right + _TOUCHING * line.size else ""
    text = f"{line.text}{space}{piece.text}"
    if len(piece.text) > len(line.text):
        return piece._replace(left=line.left, text=text)
    return line._replace(right=piece.right, bottom=piece.bottom, text=text)
