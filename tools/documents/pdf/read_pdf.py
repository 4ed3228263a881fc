"""Read a PDF: one document a section, its text joined over columns and pages."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.pdf.head_and_foot import notes_in_place, without_furniture
from ramify.tools.documents.pdf.lines import HYPHEN, Line, lines_of
from ramify.tools.documents.pdf.outline import Cut, bookmarked, by_print, larger_print
from ramify.tools.documents.pdf.paragraphs import Placed, joined, vocabulary
from ramify.tools.documents.sections import anchor
from ramify.tools.documents.text import content_of, stem

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_GLUED = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{36,}")
"""No word of a language written with spaces is as long as this."""
_INFORMATION = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "tags", "CreationDate": "date", "ModDate": "modified",
}  # fmt: skip
_DATE = re.compile(r"^(?:D:)?(\d{4})(\d\d)(\d\d).*$")
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a PDF as one document a section, `pages` telling where each page begins in it."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(content_of(path) if path.suffix.lower() == ".gz" else path) as document:
            yield from _documents(document, path, source, told)
    except PdfiumError as error:
        secret = "password" in str(error).lower()
        reason = "protected by a password" if secret else f"not a readable PDF: {error}"
        raise UnreadableError(reason) from error


def _documents(document: "PdfDocument", path: Path, source: str, told: Told) -> Iterator[Document]:
    written = _lines(document, source, told)
    pages = [notes_in_place(lines) for lines in without_furniture(written)]
    cuts = bookmarked(document, pages) or by_print(pages)
    told.state(source, _properties(document))
    title = told.title or _title(pages) or stem(path)
    words = vocabulary(pages)
    for headings, lines in _sections(pages, cuts):
        text, begins = joined(lines, words)
        metadata = {"source": source, "title": title, **({"heading": " > ".join(headings)} if headings else {}), "pages": begins}
        yield Document(text, id=f"{source}#{anchor(headings[-1])}" if headings else source, metadata=metadata)


def _lines(document: "PdfDocument", source: str, told: Told) -> list[list[Line]]:
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
            told.remark(f"{source}, page {_numbers(found)}", reason)
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
