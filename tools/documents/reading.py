"""Read files, one after another: the documents of each, or why there are none."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped
from ramify.tools.documents.readers import NO_READER, READERS, Reader, Skip, UnreadableError, reader_of

FORMATS = ", ".join(sorted(suffix.removeprefix(".") for suffix in READERS))
EDITION = "2"
"""Counts up when the same file gives other documents than before: an index then reads its files again."""
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


class Read(NamedTuple):
    """A file, its documents as they are read, and what of it was left out: complete when the documents are used up."""

    file: File
    documents: Iterable[Document]
    skipped: list[Skipped]


def read_files(files: Iterable[File]) -> Iterator[Read]:
    """Read files in their order. A file that cannot be read has no documents and is in its own `skipped`, with the reason."""
    for file in files:
        skipped: list[Skipped] = []
        yield Read(file, _documents(file, _keeper(skipped)), skipped)


def _keeper(skipped: list[Skipped]) -> Skip:
    return lambda name, reason: skipped.append((name, reason))


def _documents(file: File, skip: Skip) -> Iterator[Document]:
    reader = reader_of(file.path)
    if reader is None or not file.path.is_file():
        reason = "not a regular file" if reader else f"{NO_READER}{file.path.suffix or 'a name without ending'!r} (readable: {FORMATS})"
        skip(file.source, reason)
        return
    try:
        yield from _filled(reader, file, skip)
    except UnreadableError as error:
        skip(file.source, str(error))
    except _FILE_ERRORS as error:
        skip(file.source, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _filled(reader: Reader, file: File, skip: Skip) -> Iterator[Document]:
    """Read a file's documents that hold any text; a file without any is unreadable."""
    found = False
    for document in reader(file.path, file.source, skip):
        if document.page_content.strip():
            found = True
            yield document
    if not found:
        raise UnreadableError("empty" if file.path.stat().st_size == 0 else "no text in it")
