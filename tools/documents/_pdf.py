"""Read a PDF: its lines, without page headers and footers, joined to paragraphs and split into sections."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate, groupby, pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents._pdf_lines import HYPHEN, PagedLine, PrintedLine, join_lines, vocabulary
from ramify.tools.documents._pdf_page import read_page_lines
from ramify.tools.documents._text import file_stem, read_unpacked
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.sections import heading_anchor

_MAX_HEADER_LINES = 2
"""Most lines of a header or footer."""
_MIN_REPETITIONS = 3
_MIN_HEADER_SHARE, _MIN_NUMBERED_SHARE = 0.2, 0.4
"""Least share of pages with a line at this position: for recurring text, and for page numbers."""
_MIN_RECURRING_SHARE = 0.5
"""Least share of the lines at a position that are recurring; below it, the position belongs to the text."""
_MIN_HEADER_GAP, _MAX_HEADER_LINE_GAP = 1.4, 2.0
"""In multiples of the font size: least gap between header and text, greatest gap between lines of a header."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:page\s+|p\.\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"\d{1,4}")
_SMALL_PRINT = 0.92
_PARAGRAPH_GAP = 1.18
_INDENT = 0.7
_NOTE_MARK = re.compile(r"\[\d{1,3}\]|\d{1,3}(?=\D)|[*†‡]")


def without_headers_and_footers(pages: Sequence[list[PrintedLine]]) -> list[list[PrintedLine]]:
    """Return the pages without recurring lines at the top and bottom."""
    left = [list(lines) for lines in pages]
    for upper in (True, False):
        edges = [_edge_line(lines, upper) for lines in left]
        for _ in range(_MAX_HEADER_LINES):
            found = _recurring_lines(left, edges, upper)
            for lines, line in zip(left, found, strict=True):
                if line is not None:
                    lines.remove(line)
            edges = [_next_header_line(lines, line, upper) for lines, line in zip(left, found, strict=True)]
    return left


def _next_header_line(lines: list[PrintedLine], removed: PrintedLine | None, upper: bool) -> PrintedLine | None:
    """Return the next edge line if it is close enough to a removed one to belong to the same header."""
    line = _edge_line(lines, upper) if removed is not None else None
    return line if line is not None and removed is not None and abs(line.top - removed.top) < _MAX_HEADER_LINE_GAP * line.size else None


def _edge_line(lines: list[PrintedLine], upper: bool) -> PrintedLine | None:
    if not lines:
        return None
    edge = max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)
    return None if edge.cells else edge


def _recurring_lines(pages: Sequence[list[PrintedLine]], edges: Sequence[PrintedLine | None], upper: bool) -> list[PrintedLine | None]:
    """Return for each page its edge line if it is part of a header or footer, else None."""
    present = [(number, line) for number, line in enumerate(edges) if line is not None]
    shapes = Counter(_shape(line) for _, line in present)
    places = Counter(_row(line) for _, line in present)
    steps = Counter(step for number, line in present for step in _number_offsets(line, number))
    some, most = min(_MIN_REPETITIONS, len(pages)), max(_MIN_REPETITIONS, _MIN_NUMBERED_SHARE * len(pages))

    def is_furniture(number: int, line: PrintedLine) -> bool:
        if shapes[_shape(line)] >= most:
            return True
        if (
            shapes[_shape(line)] >= _MIN_REPETITIONS
            and places[_row(line)] >= _MIN_HEADER_SHARE * len(pages)
            and _is_set_apart(line, pages[number], upper)
        ):
            return True
        counted = max((steps[step] for step in _number_offsets(line, number)), default=0)
        if _PAGE_NUMBER.fullmatch(line.text):
            return places[_row(line)] >= some and (counted >= some or line.text.isalpha()) and _is_set_apart(line, pages[number], upper)
        return counted >= most and places[_row(line)] >= most and _is_set_apart(line, pages[number], upper)

    found = {number: line for number, line in present if is_furniture(number, line)}
    held = Counter(_row(line) for line in found.values())
    kept = {number: line for number, line in found.items() if held[_row(line)] >= _MIN_RECURRING_SHARE * places[_row(line)]}
    return [kept.get(number) for number in range(len(pages))]


def _number_offsets(line: PrintedLine, page: int) -> set[int]:
    """Return the differences between numbers at a line's ends and the page index, which are constant for page numbers."""
    words = line.text.split()
    return {int(word) - page for word in (words[0], words[-1]) if _PLAIN_NUMBER.fullmatch(word)}


def _shape(line: PrintedLine) -> tuple[str, int]:
    return _NUMBER.sub("#", line.text.casefold()), _row(line)


def _row(line: PrintedLine) -> int:
    return round(line.top / 4)


def _is_set_apart(line: PrintedLine, lines: list[PrintedLine], upper: bool) -> bool:
    others = [other for other in lines if other is not line]
    if not others:
        return True
    gap = line.bottom - max(other.top for other in others) if upper else min(other.bottom for other in others) - line.top
    return gap > _MIN_HEADER_GAP * line.size


def move_footnotes(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Move footnotes behind the paragraph that refers to them, or before a paragraph that continues on the next page."""
    sizes = Counter[float]()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0.0)
    small = len(list(takewhile(lambda line: line.size < _SMALL_PRINT * usual, reversed(lines))))
    body = list(lines[: len(lines) - small])
    if not small or not body:
        return list(lines)
    begins = [0, *_paragraph_begins(body), len(body)]
    behind: dict[int, list[PrintedLine]] = {}
    for note in _split_notes(lines[len(body) :]):
        behind.setdefault(_paragraph_end(body, begins, note[0].text), []).extend(note)
    return [line for place in range(len(body) + 1) for line in (*behind.get(place, ()), *body[place : place + 1])]


def _split_notes(lines: Sequence[PrintedLine]) -> Iterator[list[PrintedLine]]:
    """Split small print into notes, each beginning with a mark."""
    note: list[PrintedLine] = []
    for line in lines:
        if note and _NOTE_MARK.match(line.text):
            yield note
            note = []
        note.append(line)
    yield note


def _paragraph_end(body: Sequence[PrintedLine], begins: Sequence[int], note: str) -> int:
    """Return the end of the paragraph that refers to a note, or its beginning if it is the last of the page."""
    mark = _NOTE_MARK.match(note)
    number = re.escape(mark[0].strip("[]")) if mark else ""
    referring = re.compile(rf"[^\W\d_][)\]’”\"'.,;:]?{number}(?!\d)|\S ?\[{number}\]") if mark else None
    place = next((place for place, line in enumerate(body) if referring and referring.search(line.text)), len(body) - 1)
    paragraph = max(number for number, begin in enumerate(begins[:-1]) if begin <= place)
    end = begins[paragraph + 1]
    return end if end < len(body) or paragraph == 0 else begins[paragraph]


def _paragraph_begins(body: Sequence[PrintedLine]) -> Iterator[int]:
    """Yield the line indices where paragraphs begin: after a wider gap, at an indent or a change of font size."""
    gaps = [above.bottom - below.top for above, below in pairwise(body) if above.bottom > below.top]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    for place, (above, line) in enumerate(pairwise(body), start=1):
        indented = line.left > above.left + _INDENT * line.size
        if above.bottom - line.top > _PARAGRAPH_GAP * usual or abs(above.size - line.size) > 0.5 or indented:
            yield place


if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument, PdfPage

_MAX_BOOKMARK_DEPTH = 15
_MAX_HEADING_LINES = 3
_MIN_HEADING_SIZE = 1.12
_MAX_HEADING_CHARS = 120
_MAX_HEADING_SHARE = 0.2
_MAX_LEVELS = 4
_LEADERS = re.compile(r"(?:\.\s?){4,}")
_NON_WORD = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:chapter|part|section|appendix|kapitel|chapitre)?(?:\d+[a-z]?|[a-z]\d*|[ivxlc]{1,6})?")


class SectionStart(NamedTuple):
    """The start of a section: page and line (from 0), the number of lines of its heading, its level and title."""

    page: int
    line: int
    taken: int
    level: int
    title: str


def section_starts_by_bookmarks(document: "PdfDocument", pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return the section starts given by the bookmarks, in page order."""
    cuts: list[SectionStart] = []
    for mark in document.get_toc(max_depth=_MAX_BOOKMARK_DEPTH):
        title = " ".join(mark.get_title().split())
        target = _bookmark_target(mark, len(pages))
        if not title or target is None:
            continue
        page, height = target
        begin = cuts[-1].line + cuts[-1].taken if cuts and cuts[-1].page == page else 0
        if cuts and page < cuts[-1].page:
            page, begin, height = cuts[-1].page, cuts[-1].line + cuts[-1].taken, None
        cuts.append(SectionStart(page, *_find_heading(pages[page], begin, title, height), mark.level, title))
    return cuts


def _bookmark_target(mark: "PdfBookmark", pages: int) -> tuple[int, float | None] | None:
    destination = mark.get_dest()
    page = destination.get_index() if destination else None
    if destination is None or page is None or not 0 <= page < pages:
        return None
    _, view = destination.get_view()
    return page, float(view[1]) if len(view) == 3 else float(view[0]) if len(view) == 1 else None


def _find_heading(lines: Sequence[PrintedLine], begin: int, title: str, height: float | None) -> tuple[int, int]:
    """Return the line of a heading from `begin` on, and its number of lines: found by its words, else by its height on the page."""
    said = _heading_key(title)
    written = [_heading_key(line.text) for line in lines]
    found = [
        (place, taken)
        for place in range(begin, len(lines))
        for taken in range(1, _MAX_HEADING_LINES + 1)
        if said and _is_heading("".join(written[place : place + taken]), said)
    ]
    if found:
        return min(found, key=lambda one: (abs(lines[one[0]].top - height) if height is not None else 0.0, one))
    below = (place for place in range(begin, len(lines)) if height is not None and lines[place].top <= height)
    return (begin if height is None else next(below, len(lines))), 0


def _is_heading(written: str, said: str) -> bool:
    return written.endswith(said) and bool(_NUMBERING.fullmatch(written[: len(written) - len(said)]))


def _heading_key(text: str) -> str:
    return _NON_WORD.sub("", text.casefold())


def section_starts_by_size(pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return section starts by the font size of headings; none if larger print is frequent."""
    cuts = larger_lines(pages)
    if sum(cut.taken for cut in cuts) > _MAX_HEADING_SHARE * sum(len(lines) for lines in pages):
        return []
    sizes = sorted({cut.level for cut in cuts}, reverse=True)
    return [cut._replace(level=min(sizes.index(cut.level), _MAX_LEVELS - 1)) for cut in cuts]


def larger_lines(pages: Sequence[list[PrintedLine]]) -> list[SectionStart]:
    """Return the lines in larger print than usual; their level is ten times the font size."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[_size(line)] += len(line.text)
    usual = max(letters, key=lambda size: (letters[size], -size), default=0.0)
    return [SectionStart(page, *run) for page, lines in enumerate(pages) for run in _larger_runs(lines, usual)]


def _size(line: PrintedLine) -> float:
    return round(2 * line.size) / 2


def _larger_runs(lines: Sequence[PrintedLine], usual: float) -> Iterator[tuple[int, int, int, str]]:
    """Yield runs of lines in larger print as (place, lines taken, ten times the size, text)."""
    place = 0
    while place < len(lines):
        size, end = _size(lines[place]), place
        while end < len(lines) and _size(lines[end]) == size and size >= _MIN_HEADING_SIZE * usual:
            end += 1
        text = " ".join(line.text for line in lines[place:end])
        if end > place and len(text) <= _MAX_HEADING_CHARS and any(letter.isalpha() for letter in text) and not _LEADERS.search(text):
            yield place, end - place, round(10 * size), text
        place = max(end, place + 1)


_RUN_TOGETHER = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{36,}")
"""A longer run of letters means that spaces are missing."""
_INFO_FIELDS = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "tags", "CreationDate": "date", "ModDate": "modified",
}  # fmt: skip
_DATE = re.compile(r"^(?:D:)?(\d{4})(\d\d)(\d\d).*$")
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a PDF as one document a section, whose metadata `pages` lists where each page begins."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(read_unpacked(path) if path.suffix.lower() == ".gz" else path) as document:
            yield from _documents(document, path, source, report)
    except PdfiumError as error:
        secret = "password" in str(error).lower()
        reason = "protected by a password" if secret else f"not a readable PDF: {error}"
        raise UnreadableError(reason) from error


def _documents(document: "PdfDocument", path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    written = _read_lines(document, source, report)
    pages = [move_footnotes(lines) for lines in without_headers_and_footers(written)]
    cuts = section_starts_by_bookmarks(document, pages) or section_starts_by_size(pages)
    report.state(source, _properties(document))
    title = report.title or _title(pages) or file_stem(path)
    words = vocabulary(pages)
    for headings, lines in _sections(pages, cuts):
        text, begins = join_lines(lines, words)
        metadata = {"source": source, "title": title, **({"heading": " > ".join(headings)} if headings else {}), "pages": begins}
        yield Document(text, id=f"{source}#{heading_anchor(headings[-1])}" if headings else source, metadata=metadata)


def _read_lines(document: "PdfDocument", source: str, report: ReadReport) -> list[list[PrintedLine]]:
    """Return the lines of all pages, and report pages that have none or cannot be read."""
    from pypdfium2 import PdfiumError

    pages: list[list[PrintedLine]] = []
    scanned, glued, broken = [], [], []
    for number in range(1, len(document) + 1):
        try:
            with closing(document[number - 1]) as page:
                pages.append(read_page_lines(page))
                scanned += [number] * (not pages[-1] and _has_picture(page))
        except PdfiumError:
            pages.append([])
            broken.append(number)
        glued += [number] * any(_RUN_TOGETHER.search(line.text.replace(HYPHEN, " ")) for line in pages[-1])
    if scanned and not any(pages):
        raise UnreadableError(f"scanned: {len(scanned)} pages are images without text, which are not read")
    for found, reason in ((scanned, "scanned: an image without text"), (glued, "missing spaces between words"), (broken, "damaged")):
        if found:
            report.remark(f"{source}, page {_format_ranges(found)}", reason)
    return pages


def _format_ranges(found: Sequence[int]) -> str:
    """Format ascending numbers with ranges: `1, 4-7`."""
    runs = (list(run) for _, run in groupby(enumerate(found), key=lambda pair: pair[1] - pair[0]))
    return ", ".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def _has_picture(page: "PdfPage") -> bool:
    import pypdfium2.raw as pdfium

    return any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _properties(document: "PdfDocument") -> dict[str, str]:
    """Return the metadata in a file's information dictionary."""
    found = {name: " ".join(document.get_metadata_value(key).split()) for key, name in _INFO_FIELDS.items()}
    dates = {name: _DATE.sub(r"\1-\2-\3", found[name]) for name in ("date", "modified")}
    return {**found, **dates, "title": _PROGRAM.sub("", found["title"])}


def _title(pages: Sequence[list[PrintedLine]]) -> str | None:
    """Return the text in the largest print on the first page."""
    largest = max((cut for cut in larger_lines(pages) if cut.page == 0), key=lambda cut: cut.level, default=None)
    return largest.title if largest else None


def _sections(pages: Sequence[list[PrintedLine]], cuts: Sequence[SectionStart]) -> Iterator[tuple[list[str], list[PagedLine]]]:
    """Yield the headings and lines of each section; a heading without text is only part of the path."""
    lines = [PagedLine(number, line) for number, page in enumerate(pages, start=1) for line in page]
    before = list(accumulate((len(page) for page in pages), initial=0))
    begins = [before[cut.page] + cut.line for cut in cuts]
    above: list[SectionStart] = []
    ends = [*begins, len(lines)]
    if lines[: ends[0]]:
        yield [], lines[: ends[0]]
    for cut, begin, end in zip(cuts, begins, ends[1:], strict=True):
        above = [outer for outer in above if outer.level < cut.level] + [cut]
        if lines[begin + cut.taken : end]:
            yield [one.title for one in above], lines[begin + cut.taken : end]
