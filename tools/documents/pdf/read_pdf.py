"""Read a PDF: one document a section, cut at its bookmarks, or else at lines in larger print."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.pdf.head_and_foot import notes_in_place, without_furniture
from ramify.tools.documents.pdf.lines import HYPHEN, Line, Placed, joined, lines_of, vocabulary
from ramify.tools.documents.sections import anchor
from ramify.tools.documents.text import content_of, stem

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument, PdfPage

_DEEPEST = 15
_HEADING_LINES = 3
_LARGER = 1.12
_LONGEST = 120
_RAREST = 0.2
_LEVELS = 4
_LEADERS = re.compile(r"(?:\.\s?){4,}")
_NOT_SAID = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:chapter|part|section|appendix|kapitel|chapitre)?(?:\d+[a-z]?|[a-z]\d*|[ivxlc]{1,6})?")


class Cut(NamedTuple):
    """A section's beginning: page and line (both from 0), how many lines its heading takes there, its level and its title."""

    page: int
    line: int
    taken: int
    level: int
    title: str


def bookmarked(document: "PdfDocument", pages: Sequence[list[Line]]) -> list[Cut]:
    """Return the sections that the bookmarks name, in the order of the pages."""
    cuts: list[Cut] = []
    for mark in document.get_toc(max_depth=_DEEPEST):
        title = " ".join(mark.get_title().split())
        target = _target(mark, len(pages))
        if not title or target is None:
            continue
        page, height = target
        begin = cuts[-1].line + cuts[-1].taken if cuts and cuts[-1].page == page else 0
        if cuts and page < cuts[-1].page:
            page, begin, height = cuts[-1].page, cuts[-1].line + cuts[-1].taken, None
        cuts.append(Cut(page, *_place(pages[page], begin, title, height), mark.level, title))
    return cuts


def _target(mark: "PdfBookmark", pages: int) -> tuple[int, float | None] | None:
    destination = mark.get_dest()
    page = destination.get_index() if destination else None
    if destination is None or page is None or not 0 <= page < pages:
        return None
    _, view = destination.get_view()
    return page, float(view[1]) if len(view) == 3 else float(view[0]) if len(view) == 1 else None


def _place(lines: Sequence[Line], begin: int, title: str, height: float | None) -> tuple[int, int]:
    """Find the heading's lines from `begin` on: by its words, else by its height on the page."""
    said = _said(title)
    written = [_said(line.text) for line in lines]
    found = [
        (place, taken)
        for place in range(begin, len(lines))
        for taken in range(1, _HEADING_LINES + 1)
        if said and _is_heading("".join(written[place : place + taken]), said)
    ]
    if found:
        return min(found, key=lambda one: (abs(lines[one[0]].top - height) if height is not None else 0.0, one))
    below = (place for place in range(begin, len(lines)) if height is not None and lines[place].top <= height)
    return (begin if height is None else next(below, len(lines))), 0


def _is_heading(written: str, said: str) -> bool:
    return written.endswith(said) and bool(_NUMBERING.fullmatch(written[: len(written) - len(said)]))


def _said(text: str) -> str:
    return _NOT_SAID.sub("", text.casefold())


def by_print(pages: Sequence[list[Line]]) -> list[Cut]:
    """Return sections by their headings' larger print; none where larger print is nothing rare."""
    cuts = larger_print(pages)
    if sum(cut.taken for cut in cuts) > _RAREST * sum(len(lines) for lines in pages):
        return []
    sizes = sorted({cut.level for cut in cuts}, reverse=True)
    return [cut._replace(level=min(sizes.index(cut.level), _LEVELS - 1)) for cut in cuts]


def larger_print(pages: Sequence[list[Line]]) -> list[Cut]:
    """Return the lines in larger print than most; their level is ten times the size of their letters."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[_size(line)] += len(line.text)
    usual = max(letters, key=lambda size: (letters[size], -size), default=0.0)
    return [Cut(page, *run) for page, lines in enumerate(pages) for run in _larger(lines, usual)]


def _size(line: Line) -> float:
    return round(2 * line.size) / 2


def _larger(lines: Sequence[Line], usual: float) -> Iterator[tuple[int, int, int, str]]:
    """Yield runs of lines in larger print as (place, lines taken, ten times the size, text)."""
    place = 0
    while place < len(lines):
        size, end = _size(lines[place]), place
        while end < len(lines) and _size(lines[end]) == size and size >= _LARGER * usual:
            end += 1
        text = " ".join(line.text for line in lines[place:end])
        if end > place and len(text) <= _LONGEST and any(letter.isalpha() for letter in text) and not _LEADERS.search(text):
            yield place, end - place, round(10 * size), text
        place = max(end, place + 1)


_GLUED = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{36,}")
"""No word of a language written with spaces is as long as this."""
_INFORMATION = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "tags", "CreationDate": "date", "ModDate": "modified",
}  # fmt: skip
_DATE = re.compile(r"^(?:D:)?(\d{4})(\d\d)(\d\d).*$")
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a PDF as one document a section, `pages` telling where each page begins in it."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(content_of(path) if path.suffix.lower() == ".gz" else path) as document:
            yield from _documents(document, path, source, report)
    except PdfiumError as error:
        secret = "password" in str(error).lower()
        reason = "protected by a password" if secret else f"not a readable PDF: {error}"
        raise UnreadableError(reason) from error


def _documents(document: "PdfDocument", path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    written = _lines(document, source, report)
    pages = [notes_in_place(lines) for lines in without_furniture(written)]
    cuts = bookmarked(document, pages) or by_print(pages)
    report.state(source, _properties(document))
    title = report.title or _title(pages) or stem(path)
    words = vocabulary(pages)
    for headings, lines in _sections(pages, cuts):
        text, begins = joined(lines, words)
        metadata = {"source": source, "title": title, **({"heading": " > ".join(headings)} if headings else {}), "pages": begins}
        yield Document(text, id=f"{source}#{anchor(headings[-1])}" if headings else source, metadata=metadata)


def _lines(document: "PdfDocument", source: str, report: ReadReport) -> list[list[Line]]:
    """Return the lines of all pages, and tell which pages have none, or none that can be read."""
    from pypdfium2 import PdfiumError

    pages: list[list[Line]] = []
    scanned, glued, broken = [], [], []
    for number in range(1, len(document) + 1):
        try:
            with closing(document[number - 1]) as page:
                pages.append(lines_of(page))
                scanned += [number] * (not pages[-1] and _holds_picture(page))
        except PdfiumError:
            pages.append([])
            broken.append(number)
        glued += [number] * any(_GLUED.search(line.text.replace(HYPHEN, " ")) for line in pages[-1])
    if scanned and not any(pages):
        raise UnreadableError(f"pictures of {len(scanned)} pages and no text: scanned, and text in pictures is not read")
    for found, reason in ((scanned, "a picture and no text: scanned"), (glued, "words run together"), (broken, "damaged")):
        if found:
            report.remark(f"{source}, page {_numbers(found)}", reason)
    return pages


def _numbers(found: Sequence[int]) -> str:
    """Write ascending numbers with runs drawn together: `1, 4-7`."""
    runs = (list(run) for _, run in groupby(enumerate(found), key=lambda pair: pair[1] - pair[0]))
    return ", ".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def _holds_picture(page: "PdfPage") -> bool:
    import pypdfium2.raw as pdfium

    return any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _properties(document: "PdfDocument") -> dict[str, str]:
    """Return what a file's information dictionary says."""
    found = {name: " ".join(document.get_metadata_value(key).split()) for key, name in _INFORMATION.items()}
    dates = {name: _DATE.sub(r"\1-\2-\3", found[name]) for name in ("date", "modified")}
    return {**found, **dates, "title": _PROGRAM.sub("", found["title"])}


def _title(pages: Sequence[list[Line]]) -> str | None:
    """Return what stands in the largest print on the first page."""
    largest = max((cut for cut in larger_print(pages) if cut.page == 0), key=lambda cut: cut.level, default=None)
    return largest.title if largest else None


def _sections(pages: Sequence[list[Line]], cuts: Sequence[Cut]) -> Iterator[tuple[list[str], list[Placed]]]:
    """Yield the lines between cuts under the headings above them; a heading without text is only part of the path."""
    lines = [Placed(number, line) for number, page in enumerate(pages, start=1) for line in page]
    before = list(accumulate((len(page) for page in pages), initial=0))
    begins = [before[cut.page] + cut.line for cut in cuts]
    above: list[Cut] = []
    ends = [*begins, len(lines)]
    if lines[: ends[0]]:
        yield [], lines[: ends[0]]
    for cut, begin, end in zip(cuts, begins, ends[1:], strict=True):
        above = [outer for outer in above if outer.level < cut.level] + [cut]
        if lines[begin + cut.taken : end]:
            yield [one.title for one in above], lines[begin + cut.taken : end]
