"""Read picture files, and pictures of PDF pages, with OCR; a file has one remark on what was read so, and how surely."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from ramify.formats.pdf._lines import PagedLine, PrintedLine, join_lines, vocabulary
from ramify.formats.pdf.ocr import INSTALL_TESSERACT, OcrError, ReadPage, find_tesseract, recognize
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import NO_READER, FormatReader
from ramify.tools.documents.text import file_stem, read_unpacked
from ramify.tools.quoting import pluralize

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

READ_BY_OCR = {"read_by": "ocr"}
"""The metadata of a text that was read from a picture."""
PICTURES = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".tif": (b"II*\0", b"MM\0*"),
    ".tiff": (b"II*\0", b"MM\0*"),
    ".bmp": (b"BM",),
    ".webp": (b"RIFF",),
}
"""The formats of picture files, and how each begins. Tesseract takes anything else for a list of files to open."""
_WORD = re.compile(r"\w+")
_DOTS = 300
_MAX_DOTS = 25_000_000
"""Dots of a rendered page, which is then rendered less finely."""
_PICTURE_SECONDS, _FILE_SECONDS = 100.0, 3600.0
"""Most time for a picture file, and for all pages of a PDF."""


class OcrPages:
    """The pages of a file that are read with OCR."""

    def __init__(self, source: str, report: ReadReport) -> None:
        self.read: list[int] = []
        """The numbers of the pages on which text was found."""
        self._source = source
        self._report = report
        self._pages: list[ReadPage] = []
        self._failed: dict[str, list[int]] = {}
        self._end = monotonic() + _FILE_SECONDS

    def add(self, number: int, page: ReadPage) -> list[PrintedLine]:
        """Note a page, and return its lines."""
        if page.lines:
            self.read.append(number)
            self._pages.append(page)
        return page.lines

    def read_page(self, number: int, page: "PdfPage") -> list[PrintedLine]:
        """Return the lines in the picture of a PDF's page."""
        if monotonic() > self._end:
            self._failed.setdefault(f"OCR of the file took longer than {_FILE_SECONDS / 60:g} minutes", []).append(number)
            return []
        try:
            picture, dots = _render(page)
            (recognized,) = recognize(picture, self._report.ocr, dots) or [ReadPage([], 0, 0, 0.0)]
        except OcrError as error:
            self._failed.setdefault(str(error), []).append(number)
            return []
        self._report.keep_alive()
        return self.add(number, recognized)

    def close(self, is_paged: bool = True) -> None:
        """Write the remarks on pages that were read, or could not be."""
        for reason, numbers in self._failed.items():
            self._report.remark(f"{self._source}, page {format_ranges(numbers)}", f"not read with OCR: {reason}")
        self._report.add("\n".join(line.text for page in self._pages for line in page.lines))
        words = sum(page.words for page in self._pages)
        if words:
            confidence = sum(page.confidence for page in self._pages) / words
            doubtful = 100 * sum(page.doubtful for page in self._pages) / words
            where = f"{self._source}, page {format_ranges(self.read)}" if is_paged else self._source
            self._report.remark(
                where, f"read with OCR: confidence {confidence:.0f} %, {doubtful:.0f} % of {pluralize(words, 'word')} doubtful"
            )


def read_picture(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a picture file with OCR as one document, whose metadata `pages` lists where each page begins."""
    if reason := reason_unread(report):
        raise UnreadableError(f"{NO_READER}{path.suffix!r}, a picture: {reason}")
    content = read_unpacked(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if not content.startswith(PICTURES[suffix]):
        raise UnreadableError(f"not a {suffix.removeprefix('.')} picture")
    pages = OcrPages(source, report)
    try:
        recognized = recognize(content, report.ocr, seconds=_PICTURE_SECONDS)
    except OcrError as error:
        raise UnreadableError(f"not read with OCR: {error}") from error
    lines = [PagedLine(number, line) for number, page in enumerate(recognized, start=1) for line in pages.add(number, page)]
    pages.close(is_paged=len(recognized) > 1)
    if lines:
        text, begins = join_lines(lines, vocabulary([[line for _, line in lines]]))
        placed = {"pages": begins} if len(recognized) > 1 else {}
        yield Document(text, id=source, metadata={"source": source, "title": file_stem(path), **placed, **READ_BY_OCR})


def reason_unread(report: ReadReport) -> str:
    """Return why pictures are not read, "" if they are."""
    if report.ocr.mode == "never":
        return "OCR is off"
    return "" if find_tesseract() else INSTALL_TESSERACT


def _render(page: "PdfPage") -> tuple[bytes, int]:
    """Return a page as a grey picture, in PGM, and the dots of an inch."""
    width, height = page.get_size()
    scale = min(_DOTS / 72, (_MAX_DOTS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False)
    try:
        rows = memoryview(bitmap.buffer)
        content = b"".join(rows[row * bitmap.stride : row * bitmap.stride + bitmap.width] for row in range(bitmap.height))
        return b"P5 %d %d 255\n%b" % (bitmap.width, bitmap.height, content), max(round(72 * scale), 70)
    finally:
        bitmap.close()


def has_objects(page: "PdfPage") -> bool:
    """Return whether anything is drawn on a page."""
    return any(True for _ in page.get_objects(max_depth=1))


def has_picture(page: "PdfPage", share: float = 0.0) -> bool:
    """Return whether a page has a picture of at least this share of its area."""
    import pypdfium2.raw as pdfium

    for picture in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = picture.get_bounds() if share else (0.0, 0.0, 0.0, 0.0)
        if (right - left) * (top - bottom) >= share * page.get_width() * page.get_height():
            return True
    return False


def without_printed(recognized: Sequence[PrintedLine], printed: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines of a picture of a page that are not also printed on it."""
    words = {word for line in printed for word in _WORD.findall(line.text.casefold())}
    return [line for line in recognized if not _is_printed(line, printed) and not words.issuperset(_WORD.findall(line.text.casefold()))]


def _is_printed(line: PrintedLine, printed: Sequence[PrintedLine]) -> bool:
    """Return whether a line lies upon a printed one."""
    middle = (line.left + line.right) / 2
    return any(other.left <= middle <= other.right and abs(other.bottom - line.bottom) < 0.5 * other.size for other in printed)


def format_ranges(numbers: Sequence[int]) -> str:
    """Format ascending numbers with ranges: `1, 4-7`."""
    runs = (list(run) for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]))
    return ", ".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


READER = FormatReader(read_picture)
