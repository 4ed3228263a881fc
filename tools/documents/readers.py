"""One reader a format: a file to LangChain `Document`s, streamed."""

import csv
import gzip
import io
import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.outline import Outline
from ramify.tools.documents.records import record_document
from ramify.tools.documents.sections import markdown_outline

Skip = Callable[[str, str], None]
"""Called with a name and the reason why what it names was left out."""

Reader = Callable[[Path, str, Skip], Iterator[Document]]
"""Called with the file, the source its documents name, and whom to tell about left-out records."""


class UnreadableError(Exception):
    """A file holds nothing that its reader can read; says why."""


def read_text(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a plain text file as one document."""
    yield Document(_text(path), id=source, metadata={"source": source, "title": _stem(path)})


def read_markdown(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a Markdown file as one document a section."""
    yield from _section_documents(markdown_outline(_text(path)), path, source)


def read_html(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a web page as one document a section."""
    from ramify.tools.documents.html import html_outline

    yield from _section_documents(html_outline(_text(path)), path, source)


def read_pdf(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a PDF as one document a page, counted from 1."""
    from pypdf.errors import PyPdfError

    with _community_unannounced():
        from langchain_community.document_loaders import PyPDFLoader
    try:
        for page in PyPDFLoader(str(path)).lazy_load():
            number = int(page.metadata["page"]) + 1
            title = str(page.metadata.get("title") or "").strip() or _stem(path)
            metadata = {"source": source, "title": title, "page": number}
            yield Document(page.page_content.strip(), id=f"{source}#page={number}", metadata=metadata)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:  # what pypdf raises on damaged files
        raise UnreadableError(f"not a readable PDF: {str(error) or type(error).__name__}") from error


def read_csv(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a table as one document a row, the first row naming the columns."""
    separator = "\t" if path.name.removesuffix(".gz").endswith(".tsv") else ","
    try:
        rows = csv.DictReader(io.StringIO(_text(path), newline=""), delimiter=separator, restkey="more", strict=True)
        for number, row in enumerate(rows, start=1):
            yield record_document({column: cell for column, cell in row.items() if cell}, source, number)
    except csv.Error as error:
        raise UnreadableError(f"not a readable table: {error}") from error


def read_json(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a JSON file: a list of records, an object that holds one list of records, or one record."""
    try:
        content = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not JSON: {error}") from error
    for number, record in enumerate(_records(content), start=1):
        if isinstance(record, dict):
            yield record_document(record, source, number)
        else:
            skip(f"{source}#{number}", f"not a record but {type(record).__name__}")


def read_jsonl(path: Path, source: str, skip: Skip) -> Iterator[Document]:
    """Read a file of one JSON record a line, naming the lines that are none."""
    good = 0
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            good += 1
            yield record_document(record, source, number)
        elif not good:
            raise UnreadableError(f"line {number} is not a JSON record")
        else:
            skip(f"{source}#{number}", "not a JSON record")


READERS: dict[str, Reader] = {
    ".txt": read_text, ".text": read_text, ".log": read_text, ".rst": read_text,
    ".md": read_markdown, ".markdown": read_markdown,
    ".html": read_html, ".htm": read_html, ".xhtml": read_html,
    ".pdf": read_pdf,
    ".csv": read_csv, ".tsv": read_csv,
    ".json": read_json,
    ".jsonl": read_jsonl, ".ndjson": read_jsonl,
}  # fmt: skip
"""Readers by the end of the file's name; each but the PDF's also reads `.gz`."""


NO_READER = "no reader for "
"""Begins the reason why a file is left out whose name no reader knows."""
_RECORDS = frozenset([read_csv, read_json, read_jsonl])


def kind_of(path: Path) -> str:
    """Return the ending of a file's name that says how it is read, "" for a file of records."""
    reader = reader_of(path)
    return "" if reader is None or reader in _RECORDS else Path(path.name.lower().removesuffix(".gz")).suffix.removeprefix(".")


def reader_of(path: Path) -> Reader | None:
    """Return the reader for a file's name, None where there is none."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return None if path.suffix.lower() == ".gz" and suffix == ".pdf" else READERS.get(suffix)


def _section_documents(outline: Outline, path: Path, source: str) -> Iterator[Document]:
    for section in outline.sections:
        anchor = section.fragment or re.sub(r"[^\w]+", "-", section.headings[-1].lower()).strip("-") if section.headings else ""
        carried = {
            "heading": " > ".join(section.headings),
            "fragment": section.fragment,
            "fragments": [list(mark) for mark in section.fragments],
            "role": section.role,
        }
        metadata = {"source": source, "title": outline.title or _stem(path)} | {name: value for name, value in carried.items() if value}
        yield Document(section.text, id=f"{source}#{anchor}" if anchor else source, metadata=metadata)


def _records(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    lists = [value for value in content.values() if _holds_records(value)] if isinstance(content, dict) else []
    return list(lists[0]) if len(lists) == 1 and "text" not in content else [content]


def _holds_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _open(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _text(path: Path) -> str:
    with _open(path) as file:
        return _decode(file.read()).replace("\r\n", "\n")


def _lines(path: Path) -> Iterator[str]:
    with _open(path) as file:
        for line in file:
            yield _decode(line)


def _decode(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 that says so; anything else would be guessing."""
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError("not UTF-8 text" if b"\0" not in content else "binary, not text") from error
    if "\0" in text:
        raise UnreadableError("binary, not text")
    return text


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem


@contextmanager
def _community_unannounced() -> Iterator[None]:
    """Import langchain-community without its notice that it is no longer developed, and keep pypdf's remarks on odd files quiet."""
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*langchain-community.*")
        yield
