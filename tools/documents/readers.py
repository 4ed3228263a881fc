"""One reader a format, by the end of the file's name, and a file parsed with its reader: its documents, or why there are none."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents._opendocument import read_epub, read_odp, read_ods, read_odt
from ramify.tools.documents._pdf import read_pdf
from ramify.tools.documents._records import read_csv, read_json, read_jsonl
from ramify.tools.documents._text import read_eml, read_html, read_markdown, read_text
from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.files import File, ReadReport, UnreadableError
from ramify.tools.documents.office import read_docx, read_pptx, read_xlsx
from ramify.tools.quoting import VISIBLE

ReadFunction = Callable[[Path, str, ReadReport], Iterator[Document]]
"""Called with the file, the source its documents name, and whom to tell what else there is to say."""


class FormatReader(NamedTuple):
    """How a format is read: by what function, with which modules of others, if it is plain text, records, or given in parts."""

    read: ReadFunction
    modules: tuple[str, ...] = ()
    plain: bool = False
    records: bool = False
    in_parts: bool = False
    """It may be endless: its records are given as they are read."""


_TEXT = FormatReader(read_text, plain=True)
_MARKDOWN = FormatReader(read_markdown, ("yaml",), plain=True)
_HTML = FormatReader(read_html, ("lxml.html",))
_TABLE = FormatReader(read_csv, plain=True, records=True, in_parts=True)
_LINES = FormatReader(read_jsonl, plain=True, records=True, in_parts=True)

FORMAT_READERS: dict[str, FormatReader] = {
    ".txt": _TEXT, ".text": _TEXT, ".log": _TEXT, ".rst": _TEXT,
    ".md": _MARKDOWN, ".markdown": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".docx": FormatReader(read_docx, ("mammoth", "lxml.html")),
    ".pptx": FormatReader(read_pptx, ("pptx",)),
    ".xlsx": FormatReader(read_xlsx, ("openpyxl", "defusedxml"), records=True),
    ".odt": FormatReader(read_odt, ("lxml.etree",)), ".odp": FormatReader(read_odp, ("lxml.etree",)),
    ".ods": FormatReader(read_ods, ("lxml.etree",), records=True),
    ".epub": FormatReader(read_epub, ("lxml.html",)),
    ".eml": FormatReader(read_eml, ("lxml.html",)),
    ".pdf": FormatReader(read_pdf, ("pypdfium2",)),
    ".csv": _TABLE, ".tsv": _TABLE,
    ".json": FormatReader(read_json, plain=True, records=True, in_parts=True),
    ".jsonl": _LINES, ".ndjson": _LINES,
}  # fmt: skip
"""Each also reads `.gz` around its format."""

FORMATS = ", ".join(sorted(suffix.removeprefix(".") for suffix in FORMAT_READERS))
NO_READER = "no reader for "
"""Begins the reason why a file is left out whose name no reader knows."""
_ROW_FIELDS = {"source", "title", "sheet"}
"""What every row of a workbook has; one that carries more speaks for itself, and the workbook's author is not that of what it is about."""
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


def format_name(path: Path) -> str:
    """Return the ending of a file's name that says how it is read, "" for a file of records."""
    reader = find_reader(path)
    return "" if reader is None or reader.records else _suffix(path).removeprefix(".")


def find_reader(path: Path) -> FormatReader | None:
    """Return the reader for a file's name, None where there is none."""
    return FORMAT_READERS.get(_suffix(path))


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def parse_file(file: File, report: ReadReport, clean: bool) -> Iterable[Document]:
    """Return a file's documents, tidied where they are to be `clean`; those that may have no end are given as they are read."""
    reader = find_reader(file.path)
    documents = _stream_documents(file, reader, report)
    if reader is None or reader.in_parts:
        return documents
    return tidy_documents(list(documents)) if clean and not reader.records else list(documents)


def _stream_documents(file: File, reader: FormatReader | None, report: ReadReport) -> Iterator[Document]:
    """Parse a file, a document with text at a time. One that cannot be read, or has none, is told about, with the reason."""
    if reader is None:
        report.skip(file.source, f"{NO_READER}{file.path.suffix or 'a name without ending'!r} (readable: {FORMATS})")
        return
    found = False
    try:
        if not S_ISREG(file.path.stat().st_mode):
            raise UnreadableError("not a regular file")
        for document in reader.read(file.path, file.source, report):
            if VISIBLE.search(document.page_content):
                found = True
                if not (reader.records and document.metadata.keys() - _ROW_FIELDS):
                    document.metadata = report.properties | document.metadata
                yield document
        if not found:
            report.skip(file.source, "empty" if file.path.stat().st_size == 0 else "no text in it")
    except UnreadableError as error:
        report.skip(file.source, str(error))
    except RecursionError:
        report.skip(file.source, "nested too deep to be read")
    except _FILE_ERRORS as error:
        report.skip(file.source, f"cannot be read: {getattr(error, 'strerror', None) or error}")
