"""One reader a format, by the end of the file's name."""

from pathlib import Path

from ramify.tools.documents.jsons import read_json, read_jsonl
from ramify.tools.documents.office.epub import read_epub
from ramify.tools.documents.office.mail import read_eml
from ramify.tools.documents.office.opendocument import read_odp, read_ods, read_odt
from ramify.tools.documents.office.slides import read_pptx
from ramify.tools.documents.office.word import read_docx
from ramify.tools.documents.office.workbook import read_xlsx
from ramify.tools.documents.pdf.read_pdf import read_pdf
from ramify.tools.documents.reader import Reader
from ramify.tools.documents.tables import read_csv
from ramify.tools.documents.text import read_html, read_markdown, read_text

_TEXT = Reader(read_text, plain=True)
_MARKDOWN = Reader(read_markdown, plain=True)
_HTML = Reader(read_html, ("lxml.html",))

READERS: dict[str, Reader] = {
    ".txt": _TEXT, ".text": _TEXT, ".log": _TEXT, ".rst": _TEXT,
    ".md": _MARKDOWN, ".markdown": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".docx": Reader(read_docx, ("mammoth", "lxml.html")),
    ".pptx": Reader(read_pptx, ("pptx",)),
    ".xlsx": Reader(read_xlsx, ("openpyxl", "defusedxml"), records=True),
    ".odt": Reader(read_odt, ("lxml.etree",)), ".odp": Reader(read_odp, ("lxml.etree",)),
    ".ods": Reader(read_ods, ("lxml.etree",), records=True),
    ".epub": Reader(read_epub, ("lxml.html",)),
    ".eml": Reader(read_eml, ("lxml.html",)),
    ".pdf": Reader(read_pdf, ("pypdfium2",)),
    ".csv": Reader(read_csv, streamed=True, records=True), ".tsv": Reader(read_csv, streamed=True, records=True),
    ".json": Reader(read_json, streamed=True, records=True),
    ".jsonl": Reader(read_jsonl, streamed=True, records=True), ".ndjson": Reader(read_jsonl, streamed=True, records=True),
}  # fmt: skip
"""Each also reads `.gz` around its format."""


NO_READER = "no reader for "
"""Begins the reason why a file is left out whose name no reader knows."""


def kind_of(path: Path) -> str:
    """Return the ending of a file's name that says how it is read, "" for a file of records."""
    reader = reader_of(path)
    return "" if reader is None or reader.records else _ending(path).removeprefix(".")


def reader_of(path: Path) -> Reader | None:
    """Return the reader for a file's name, None where there is none."""
    return READERS.get(_ending(path))


def _ending(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
