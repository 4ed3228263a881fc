"""Read a PDF: its lines, without running heads and footers, joined to paragraphs and split into sections."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from itertools import accumulate, groupby, pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from ramify.formats.pdf._footnotes import move_footnotes
from ramify.formats.pdf._forms import Box, Filled, fill_in, read_xfa
from ramify.formats.pdf._layout import find_blocks, is_running_text, order_columns, read_columns
from ramify.formats.pdf._lines import HYPHEN, PagedLine, PrintedLine, join_lines, vocabulary
from ramify.formats.pdf._margins import split_margins
from ramify.formats.pdf._pieces import read_pieces
from ramify.formats.pdf._sections import (
    SectionStart,
    larger_lines,
    section_starts_by_bookmarks,
    section_starts_by_records,
    section_starts_by_size,
)
from ramify.formats.pdf._tables import find_rulings, read_block
from ramify.formats.pdf.ocr import find_ocr
from ramify.formats.pdf.pictures import (
    READ_BY_OCR,
    OcrPages,
    format_ranges,
    has_objects,
    has_picture,
    reason_unread,
    without_printed,
)
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import heading_anchor
from ramify.tools.documents.text import file_stem, read_unpacked
from ramify.tools.quoting import pluralize

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage


_RUN_TOGETHER = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{36,}")
"""A longer run of letters means that spaces are missing."""
_MAX_EMBEDDED = 20
"""Most embedded files that are named."""
_LARGE_PICTURE = 0.1
"""Least share of a page's area."""
_USUAL_SIZE = 10.0
_INFO_FIELDS = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "tags", "CreationDate": "date", "ModDate": "modified",
}  # fmt: skip
_DATE = re.compile(r"^(?:D:)?(\d{4})(\d\d)(\d\d).*$")
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a PDF as one document a section, whose metadata `pages` lists where each page begins."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(path if isinstance(path, Path) and path.suffix.lower() != ".gz" else read_unpacked(path)) as document:
            yield from _documents(document, path, source, report)
    except PdfiumError as error:
        secret = "password" in str(error).lower()
        reason = "protected by a password" if secret else f"not a readable PDF: {error}"
        raise UnreadableError(reason) from error


def _documents(document: "PdfDocument", path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    read = _Pages(document, source, report)
    pages = list(_running_text(read))
    cuts = section_starts_by_bookmarks(document, pages) or section_starts_by_size(pages) or section_starts_by_records(pages)
    report.state(source, _properties(document))
    title = report.title or _title(pages) or file_stem(path)
    words = vocabulary(pages)
    for headings, lines in _sections(pages, cuts):
        for is_scanned, part in groupby(lines, lambda line: line.page in read.scanned):
            text, begins = join_lines(list(part), words)
            metadata = {"source": source, "title": title, **({"heading": " > ".join(headings)} if headings else {}), "pages": begins}
            identity = f"{source}#{heading_anchor(headings[-1])}" if headings else source
            yield Document(text, id=identity, metadata=metadata | (READ_BY_OCR if is_scanned else {}))
    for number, picture in read.pictures.items():
        text, _ = join_lines([PagedLine(number, line) for line in picture], words)
        yield Document(text, id=f"{source}#picture-{number}", metadata={"source": source, "title": title, "page": number, **READ_BY_OCR})


class _Pages:
    """The lines and notes of all pages, also those read with OCR; problems are reported."""

    def __init__(self, document: "PdfDocument", source: str, report: ReadReport) -> None:
        self.source = source
        self.report = report
        self.lines: list[list[PrintedLine]] = []
        self.heights: list[float] = []
        self.notes: list[list[str]] = []
        """The notes on each page."""
        self.scanned: set[int] = set()
        """The pages without text that were read with OCR."""
        self.pictures: dict[int, list[PrintedLine]] = {}
        """The lines in large pictures on pages with text, by page."""
        self._unread = reason_unread(report)
        self._ocr = OcrPages(source, report)
        self._fields = 0
        self._read(document)

    def _read(self, document: "PdfDocument") -> None:
        from pypdfium2 import PdfiumError

        document.init_forms()  # before any page is opened
        embedded = [document.get_attachment(number).get_name() for number in range(min(document.count_attachments(), _MAX_EMBEDDED))]
        pictures, glued, broken = [], [], []
        for number in range(1, len(document) + 1):
            filled, height = Filled([], [], [], 0), 0.0
            try:
                with closing(document[number - 1]) as page:
                    height = page.get_height()
                    filled = fill_in(page, self._read_page(page, number), self.source, self.report)
                    pictures += [number] * (not filled.lines and has_picture(page))
            except PdfiumError:
                broken.append(number)
            self.lines.append(filled.lines)
            self.heights.append(height)
            self.notes.append(filled.notes)
            self._fields += filled.fields
            embedded += filled.files
            glued += [number] * any(_RUN_TOGETHER.search(line.text.replace(HYPHEN, " ")) for line in filled.lines)
        self._read_xfa(document)
        self._ocr.close()
        not_read = f" ({self._unread})" if self._unread else ""
        if pictures and not any(self.lines):
            raise UnreadableError(f"scanned: {pluralize(len(pictures), 'page')} of images without text, which are not read{not_read}")
        reasons = {f"scanned: an image without text{not_read}": pictures, "missing spaces between words": glued, "damaged": broken}
        for reason, numbers in reasons.items():
            if numbers:
                self.report.remark(f"{self.source}, page {format_ranges(numbers)}", reason)
        if embedded:
            self.report.remark(self.source, f"not read: {pluralize(len(embedded), 'embedded file')}: {', '.join(dict.fromkeys(embedded))}")

    def _read_page(self, page: "PdfPage", number: int) -> list[PrintedLine]:
        lines = self._visible(page, read_page_lines(page))
        if self._unread:
            return lines
        if not lines and has_objects(page):
            lines = self._ocr.read_page(number, page)
            self.scanned.update([number] if lines else [])
        elif self.report.ocr.mode == "always" and has_picture(page, _LARGE_PICTURE):
            picture = without_printed(self._ocr.read_page(number, page), lines)
            self.pictures |= {number: picture} if picture else {}
        return lines

    def _visible(self, page: "PdfPage", lines: list[PrintedLine]) -> list[PrintedLine]:
        """Return the lines that are shown: others are only right upon a picture, as the text of a scan."""
        boxes = list(_invisible_boxes(page)) if lines else []
        hidden = [line for line in lines if boxes and _is_within(line, boxes)]
        if not hidden or has_picture(page):
            return lines
        self.report.leave_out(self.source, "invisible line", [line.text for line in hidden])
        return [line for line in lines if line not in hidden]

    def _read_xfa(self, document: "PdfDocument") -> None:
        """Add the values of an XFA form without fields that PDFium knows."""
        import pypdfium2.raw as pdfium

        if self._fields or not self.lines or document.get_formtype() not in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND):
            return
        values = read_xfa(document)
        self.notes[-1] += values
        outcome = f"{pluralize(len(values), 'value')} read, without their places" if values else "its values are not read"
        self.report.remark(self.source, f"an XFA form, which only some programs show: {outcome}")


def _invisible_boxes(page: "PdfPage") -> Iterator[Box]:
    """Yield the boxes of texts that are written, but not drawn."""
    import pypdfium2.raw as pdfium

    for number in range(pdfium.FPDFPage_CountObjects(page)):
        drawn = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFTextObj_GetTextRenderMode(drawn) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
            edges = [ctypes.c_float() for _ in range(4)]
            pdfium.FPDFPageObj_GetBounds(drawn, *edges)
            left, bottom, right, top = (edge.value for edge in edges)
            yield left, bottom, right, top


def _is_within(line: PrintedLine, boxes: Sequence[Box]) -> bool:
    """Return whether most of a line is within boxes."""
    middle = line.top + 0.3 * line.size
    beside = [(max(left, line.left), min(right, line.right)) for left, bottom, right, top in boxes if bottom <= middle <= top]
    return sum(max(right - left, 0) for left, right in beside) > (line.right - line.left) / 2


def _running_text(read: _Pages) -> Iterator[list[PrintedLine]]:
    """Yield the lines of each page, its footnotes behind what they belong to, and its notes.

    Running heads, footers and page numbers are left out, unless the report says that the file is not to be cleaned.
    """
    margins = split_margins(read.lines, read.heights)
    if read.report.clean:
        numbers, texts = margins.numbers_and_texts()
        read.report.leave_out(read.source, "page number", numbers)
        read.report.leave_out(read.source, "line that repeats on every page", texts, "lines that repeat on every page")
    for lines, head, foot, notes in zip(margins.pages, margins.heads, margins.feet, read.notes, strict=True):
        around = ([], []) if read.report.clean else (head, foot)
        yield [*around[0], *move_footnotes(lines), *around[1], *_note_lines(lines, notes)]


def _note_lines(lines: Sequence[PrintedLine], notes: Sequence[str]) -> Iterator[PrintedLine]:
    """Yield notes as lines below those of a page, apart from them and each other."""
    size = lines[-1].size if lines else _USUAL_SIZE
    left, bottom = min((line.left for line in lines), default=0.0), min((line.bottom for line in lines), default=0.0)
    for number, note in enumerate(notes, start=1):
        height = bottom - 3 * number * size
        yield PrintedLine(left, left + size, height, height, size, note)


def _properties(document: "PdfDocument") -> dict[str, str]:
    """Return the metadata in a file's information dictionary."""
    properties = {name: " ".join(document.get_metadata_value(key).split()) for key, name in _INFO_FIELDS.items()}
    dates = {name: _DATE.sub(r"\1-\2-\3", properties[name]) for name in ("date", "modified")}
    return {**properties, **dates, "title": _PROGRAM.sub("", properties["title"])}


def _title(pages: Sequence[list[PrintedLine]]) -> str | None:
    """Return the text in the largest print on the first page."""
    largest = max((cut for cut in larger_lines(pages) if cut.page == 0), key=lambda cut: cut.level, default=None)
    return largest.title if largest else None


def _sections(pages: Sequence[list[PrintedLine]], cuts: Sequence[SectionStart]) -> Iterator[tuple[list[str], list[PagedLine]]]:
    """Yield the headings and lines of each section; a heading without text or sections below it is text of the section around it."""
    lines = [PagedLine(number, line) for number, page in enumerate(pages, start=1) for line in page]
    before = list(accumulate((len(page) for page in pages), initial=0))
    begins = [before[cut.page] + cut.line for cut in cuts]
    above: list[SectionStart] = []
    ends = [*begins, len(lines)]
    if lines[: ends[0]]:
        yield [], lines[: ends[0]]
    for cut, begin, end, following in zip_longest(cuts, begins, ends[1:], cuts[1:]):
        above = [outer for outer in above if outer.level < cut.level] + [cut]
        if lines[begin + cut.taken : end]:
            yield [outer.title for outer in above], lines[begin + cut.taken : end]
        elif cut.taken and (following is None or following.level <= cut.level):
            yield [outer.title for outer in above[:-1]], lines[begin:end]


READER = FormatReader(read_pdf, {"pypdfium2": "pypdfium2"}, edition="2", ocr=find_ocr)


def read_page_lines(page: "PdfPage") -> list[PrintedLine]:
    """Return a page's lines in the order of reading."""
    lines, turn = read_pieces(page)
    if all(len(line) == 1 for line in lines) and all(above[0].bottom > below[0].top for above, below in pairwise(lines)):
        return [line[0] for line in lines]
    read: list[PrintedLine] = []
    rulings = cache(partial(find_rulings, page, turn))
    done = 0
    for block in find_blocks(lines):
        if block.numbers.start < done:
            continue
        if is_running_text(block):
            numbers, ordered = read_columns(block, lines)
            rows = [_join(line) for line in ordered]
        else:
            numbers, rows = block.numbers, read_block(block, rulings)
        if rows:
            read += [*(_join(line) for line in lines[done : numbers.start]), *rows]
            done = numbers.stop
    return order_columns([*read, *(_join(line) for line in lines[done:])])


def _join(pieces: Sequence[PrintedLine]) -> PrintedLine:
    """Return the pieces of a line as one."""
    if len(pieces) == 1:
        return pieces[0]
    longest = max(pieces, key=lambda piece: len(piece.text))
    text = " ".join(piece.text for piece in pieces)
    return longest._replace(left=pieces[0].left, right=pieces[-1].right, top=pieces[0].top, bottom=pieces[-1].bottom, text=text)
