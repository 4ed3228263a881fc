"""The reader of each format, by file suffix: the core's own and those of plug-ins; and parsing a file with its reader."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import NamedTuple, get_args

from langchain_core.documents import Document

from ramify.tools import plugins
from ramify.tools.documents._csv import read_csv
from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.files import MAX_DEPTH, File, Ocr, OcrMode, ReadReport, UnreadableError
from ramify.tools.documents.records import read_json, read_jsonl
from ramify.tools.documents.text import read_markdown, read_text
from ramify.tools.errors import PluginError, UsageError
from ramify.tools.quoting import VISIBLE

ReadFunction = Callable[[Path, str, ReadReport], Iterator[Document]]
"""Called with the path, the source for its documents, and the report to fill."""


class FormatReader(NamedTuple):
    """The reader of a format; a package offers one for a suffix such as `.xyz` by an entry point of the group `ramify.readers`."""

    read: ReadFunction
    modules: Mapping[str, str] = MappingProxyType({})
    """The third-party modules that it imports, each with the package to install; `ramify doctor` checks them."""
    plain: bool = False
    """Whether the format is plain text, so that a few small files need no process of their own."""
    records: bool = False
    """Whether each document is a record."""
    in_parts: bool = False
    """Whether documents are yielded while reading, since the file may be very large."""
    contains_files: bool = False
    """Whether it contains further files, which are read by their own readers."""
    edition: str = ""
    """Changes when the same file gives other documents than before: indexes then read their files again."""
    ocr: Callable[[Ocr], tuple[str, str]] | None = None
    """Of a reader that reads text in pictures, too: returns the program for it, and a remedy if it cannot be used, else "".

    UsageError for languages that it cannot read.
    """


_TEXT = FormatReader(read_text, plain=True)
_TABLE = FormatReader(read_csv, plain=True, records=True, in_parts=True)
_LINES = FormatReader(read_jsonl, plain=True, records=True, in_parts=True)

FORMAT_READERS: dict[str, FormatReader] = {
    ".txt": _TEXT, ".text": _TEXT, ".log": _TEXT, ".rst": _TEXT,
    ".csv": _TABLE, ".tsv": _TABLE,
    ".json": FormatReader(read_json, plain=True, records=True, in_parts=True),
    ".jsonl": _LINES, ".ndjson": _LINES,
}  # fmt: skip
"""The core's own readers. Each reader also reads its format compressed as `.gz`."""
_PLAIN_MARKDOWN = dict.fromkeys((".md", ".markdown"), FormatReader(read_markdown, {"yaml": "pyyaml"}, plain=True))
"""Used where no plug-in reads Markdown."""
_GROUP: plugins.Group = "ramify.readers"
_ARCHIVES = frozenset({".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".bz2", ".xz", ".zst", ".cab", ".arj", ".lzh", ".z"})
"""Suffixes of archives that are not read."""
NO_READER = "no reader for "
"""Prefix of the reason for skipping a file of unknown format."""
_ROW_FIELDS = {"source", "title", "sheet", "heading"}
"""Fields of every workbook row; a record with more fields does not get the workbook's metadata."""
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


@cache
def _plugin_suffixes() -> frozenset[str]:
    return frozenset(name for name in plugins.names(_GROUP) if name.startswith("."))


@cache
def load_reader(suffix: str) -> FormatReader | None:
    """Return the reader of a suffix, None if there is none; PluginError if it cannot be loaded."""
    if suffix not in _plugin_suffixes():
        return _PLAIN_MARKDOWN.get(suffix)
    reader = plugins.load(_GROUP, suffix)
    if not isinstance(reader, FormatReader):
        raise PluginError(f"{suffix!r} of {_GROUP} is no FormatReader but {type(reader).__name__}", "correct the package that offers it")
    return reader


def find_reader(path: Path) -> FormatReader | None:
    """Return the reader for a file's suffix, None if there is none; of one that cannot be loaded, a reader that only says so."""
    suffix = _suffix(path)
    try:
        return FORMAT_READERS.get(suffix) or load_reader(suffix)
    except PluginError as error:
        return FormatReader(partial(_refuse, f"its reader cannot load, see `ramify doctor` ({error.what})"))


def _refuse(reason: str, *_: object) -> Iterator[Document]:
    raise UnreadableError(reason)
    yield


def readable_suffixes() -> list[str]:
    """Return the suffixes of all formats that are read."""
    return sorted({*FORMAT_READERS, *_PLAIN_MARKDOWN, *_plugin_suffixes()})


def readable_formats() -> str:
    """Return the names of all formats that are read, for messages."""
    return ", ".join(suffix.removeprefix(".") for suffix in readable_suffixes())


def parse_ocr(mode: str, languages: str = "") -> Ocr:
    """Return the settings; UsageError for an unknown mode, or languages that no text in pictures can be read in."""
    known = next((name for name in get_args(OcrMode) if name == mode), None)
    if known is None:
        raise UsageError(f"unknown OCR mode {mode!r}", f"choose one of {', '.join(get_args(OcrMode))}")
    ocr = Ocr(known, languages)
    if languages or known == "always":
        programs = list(ocr_programs())
        if not programs:
            raise UsageError("no installed reader reads text in pictures", "leave out --ocr and --ocr-languages, or reinstall ramify-rag")
        for program in programs if languages else ():
            program(ocr)
    return ocr


def ocr_programs() -> Iterator[Callable[[Ocr], tuple[str, str]]]:
    """Yield the `ocr` of each reader that reads text in pictures."""
    readers = [find_reader(Path(f"file{suffix}")) for suffix in sorted(_plugin_suffixes())]
    yield from dict.fromkeys(reader.ocr for reader in readers if reader and reader.ocr)


def reading_edition(path: Path, ocr: Ocr) -> str:
    """Return what else the documents of a file depend on: the edition of its reader, and whether this reads text in pictures."""
    reader = find_reader(path)
    if reader is None:
        return ""
    reads_pictures = reader.ocr is not None and ocr.mode != "never" and not reader.ocr(ocr)[1]
    return f"{reader.edition and f'+{reader.edition}'}{'+ocr' * reads_pictures}"


def format_name(path: Path) -> str:
    """Return the suffix of a file's format without the dot, "" for a file of records."""
    reader = find_reader(path)
    return "" if reader is None or reader.records else _suffix(path).removeprefix(".")


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


def _member_documents(parent: File, report: ReadReport, clean: bool, path: Path) -> Iterator[Document]:
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


def _reason_unread(path: Path) -> str:
    """Return why a file without a reader is not read."""
    suffix = _suffix(path)
    if suffix in _ARCHIVES:
        return "an archive of a kind that is not read: unpack it"
    further = "" if _plugin_suffixes() else "; further ones with the package ramify.formats, which is not installed"
    return f"{NO_READER}{repr(path.suffix) if path.suffix else 'a name without suffix'} (readable: {readable_formats()}{further})"


def _stream_documents(file: File, reader: FormatReader | None, report: ReadReport) -> Iterator[Document]:
    """Yield a file's non-empty documents; report the reason if it cannot be read or has none."""
    if reader is None:
        report.skip(file.source, _reason_unread(file.path))
        return
    has_text = False
    try:
        if not S_ISREG(file.path.stat().st_mode):
            raise UnreadableError("not a regular file")
        for document in reader.read(file.path, file.source, report):
            if VISIBLE.search(document.page_content):
                has_text = True
                is_within = reader.contains_files and document.metadata["source"] != file.source
                if not is_within and not (reader.records and document.metadata.keys() - _ROW_FIELDS):
                    document.metadata = report.properties | document.metadata
                yield document
        if not has_text:
            report.skip(file.source, "empty" if file.path.stat().st_size == 0 else "contains no text")
    except UnreadableError as error:
        report.skip(file.source, str(error))
    except RecursionError:
        report.skip(file.source, "too deeply nested")
    except _FILE_ERRORS as error:
        report.skip(file.source, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    finally:
        report.close()
