"""The reader of each format, by file suffix, and parsing a file with its reader."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.formats._archives import ARCHIVE_SUFFIXES, read_mbox, read_zip
from ramify.formats._epub import read_epub
from ramify.formats._mail import read_eml
from ramify.formats._ods import read_ods
from ramify.formats._opendocument import read_odp, read_odt
from ramify.formats._pdf import read_pdf
from ramify.formats._pictures import PICTURES, read_picture, reason_unread
from ramify.formats._slides import read_pptx
from ramify.formats._word import read_docx
from ramify.formats.sheets import read_xlsx
from ramify.tools.documents._csv import read_csv
from ramify.tools.documents._records import read_json, read_jsonl
from ramify.tools.documents._text import read_html, read_markdown, read_text
from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.files import File, ReadReport, UnreadableError
from ramify.tools.documents.members import MAX_DEPTH, MemberPath
from ramify.tools.quoting import VISIBLE

ReadFunction = Callable[[Path, str, ReadReport], Iterator[Document]]
"""Called with the path, the source for its documents, and the report to fill."""


class FormatReader(NamedTuple):
    """The reader of a format: its function and third-party modules, and whether the format is plain text, has records, or is streamed."""

    read: ReadFunction
    modules: tuple[str, ...] = ()
    plain: bool = False
    records: bool = False
    in_parts: bool = False
    """Whether documents are yielded while reading, since the file may be very large."""
    contains_files: bool = False
    """Whether it contains further files, which are read by their own readers."""


_TEXT = FormatReader(read_text, plain=True)
_MARKDOWN = FormatReader(read_markdown, ("yaml",), plain=True)
_HTML = FormatReader(read_html, ("lxml.html",))
_TABLE = FormatReader(read_csv, plain=True, records=True, in_parts=True)
_LINES = FormatReader(read_jsonl, plain=True, records=True, in_parts=True)

FORMAT_READERS: dict[str, FormatReader] = {
    ".txt": _TEXT, ".text": _TEXT, ".log": _TEXT, ".rst": _TEXT,
    ".md": _MARKDOWN, ".markdown": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".docx": FormatReader(read_docx, ("lxml.etree",)),
    ".pptx": FormatReader(read_pptx, ("pptx",)),
    ".xlsx": FormatReader(read_xlsx, ("lxml.etree",), records=True),
    ".odt": FormatReader(read_odt, ("lxml.etree",)), ".odp": FormatReader(read_odp, ("lxml.etree",)),
    ".ods": FormatReader(read_ods, ("lxml.etree",), records=True),
    ".epub": FormatReader(read_epub, ("lxml.html",)),
    ".eml": FormatReader(read_eml, ("lxml.html",), in_parts=True, contains_files=True),
    ".mbox": FormatReader(read_mbox, ("lxml.html",), in_parts=True, contains_files=True),
    ".zip": FormatReader(read_zip, in_parts=True, contains_files=True),
    ".pdf": FormatReader(read_pdf, ("pypdfium2",)),
    ".csv": _TABLE, ".tsv": _TABLE,
    ".json": FormatReader(read_json, plain=True, records=True, in_parts=True),
    ".jsonl": _LINES, ".ndjson": _LINES,
    **dict.fromkeys(PICTURES, FormatReader(read_picture)),
}  # fmt: skip
"""Each also reads its format compressed as `.gz`."""

FORMATS = ", ".join(sorted(suffix.removeprefix(".") for suffix in FORMAT_READERS))
NO_READER = "no reader for "
"""Prefix of the reason for skipping a file of unknown format."""
NOT_UNPACKED = "an archive of a kind that is not read: unpack it"
"""The reason for skipping other archives than ZIP."""
_ROW_FIELDS = {"source", "title", "sheet", "heading"}
"""Fields of every workbook row; a record with more fields does not get the workbook's metadata."""
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


def format_name(path: Path) -> str:
    """Return the suffix of a file's format without the dot, "" for a file of records."""
    reader = find_reader(path)
    return "" if reader is None or reader.records else _suffix(path).removeprefix(".")


def find_reader(path: Path) -> FormatReader | None:
    """Return the reader for a file's suffix, None if there is none."""
    return FORMAT_READERS.get(_suffix(path))


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def document_format(document: Document, file: File) -> str:
    """Return the format of the file that a document comes from, which may be within another file: see `format_name`."""
    source = str(document.metadata["source"])
    return format_name(Path(source) if source.startswith(f"{file.source}/") else file.path)


def parse_file(file: File, report: ReadReport, clean: bool) -> Iterable[Document]:
    """Return a file's documents, tidied if `clean`; those of record files and of files within the file are streamed."""
    report.clean = clean
    reader = find_reader(file.path)
    if reader is not None and reader.contains_files:
        return _stream_container(file, reader, report, clean)
    documents = _stream_documents(file, reader, report)
    if reader is None or reader.in_parts:
        return documents
    return tidy_documents(list(documents)) if clean and not reader.records else list(documents)


def _stream_container(file: File, reader: FormatReader, report: ReadReport, clean: bool) -> Iterator[Document]:
    """Yield a file's own documents, tidied if `clean`, and those of the files within it."""
    report.read_member = partial(_member_documents, file, report, clean)
    is_new = report.unpacking.begin(file.source)
    for document in _stream_documents(file, reader, report):
        if document.metadata["source"] != file.source:
            yield document
        elif is_new:
            yield from tidy_documents([document]) if clean else [document]


def _member_documents(parent: File, report: ReadReport, clean: bool, path: MemberPath) -> Iterator[Document]:
    """Yield the documents of a file within another one, with `parent` in their metadata; it is passed over if it was read before."""
    file, reader, inner = File(path, f"{parent.source}/{path}", parent.root), find_reader(path), ReadReport(report.ocr, report.unpacking)
    inner.keep_alive = report.keep_alive
    report.unpacking.check()
    if report.unpacking.depth >= MAX_DEPTH:
        report.skip(file.source, f"within more than {MAX_DEPTH} other files: unpack these")
        return
    if not (reader and reader.contains_files) and not report.unpacking.begin(file.source):
        return
    report.unpacking.depth += 1
    for document in parse_file(file, inner, clean):
        document.metadata = {"parent": parent.source} | document.metadata
        yield document
    report.unpacking.depth -= 1
    report.merge(inner)


def _stream_documents(file: File, reader: FormatReader | None, report: ReadReport) -> Iterator[Document]:
    """Yield a file's non-empty documents; report the reason if it cannot be read or has none."""
    if reader is None:
        kind = repr(file.path.suffix) if file.path.suffix else "a name without suffix"
        is_archive = _suffix(file.path) in ARCHIVE_SUFFIXES
        report.skip(file.source, NOT_UNPACKED if is_archive else f"{NO_READER}{kind} (readable: {FORMATS})")
        return
    if reader.read is read_picture and (reason := reason_unread(report)):
        report.skip(file.source, f"{NO_READER}{file.path.suffix!r}, a picture: {reason}")
        return
    found = False
    try:
        if not S_ISREG(file.path.stat().st_mode):
            raise UnreadableError("not a regular file")
        for document in reader.read(file.path, file.source, report):
            if VISIBLE.search(document.page_content):
                found = True
                is_within = reader.contains_files and document.metadata["source"] != file.source
                if not is_within and not (reader.records and document.metadata.keys() - _ROW_FIELDS):
                    document.metadata = report.properties | document.metadata
                yield document
        if not found:
            report.skip(file.source, "empty" if file.path.stat().st_size == 0 else "contains no text")
    except UnreadableError as error:
        report.skip(file.source, str(error))
    except RecursionError:
        report.skip(file.source, "too deeply nested")
    except _FILE_ERRORS as error:
        report.skip(file.source, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    finally:
        report.close()
