"""Parse one file with its reader: its documents, or why there are none."""

import gzip
import zlib
from collections.abc import Iterator

from langchain_core.documents import Document

from ramify.tools.documents.files import File
from ramify.tools.documents.reader import Reader, Told, UnreadableError
from ramify.tools.documents.readers import NO_READER, READERS, kind_of, reader_of
from ramify.tools.documents.tidy import tidy

FORMATS = ", ".join(sorted(suffix.removeprefix(".") for suffix in READERS))
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


def parsed(file: File, told: Told, clean: bool) -> list[Document]:
    """Parse a whole file and, to have it `clean`, tidy up its documents."""
    documents = list(streamed(file, told))
    return tidy(documents) if clean and kind_of(file.path) else documents


def streamed(file: File, told: Told) -> Iterator[Document]:
    """Parse a file, a document at a time. One that cannot be read has none and is told about, with the reason."""
    reader = reader_of(file.path)
    if reader is None or not file.path.is_file():
        reason = "not a regular file" if reader else f"{NO_READER}{file.path.suffix or 'a name without ending'!r} (readable: {FORMATS})"
        told.skip(file.source, reason)
        return
    try:
        yield from _filled(reader, file, told)
    except UnreadableError as error:
        told.skip(file.source, str(error))
    except _FILE_ERRORS as error:
        told.skip(file.source, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _filled(reader: Reader, file: File, told: Told) -> Iterator[Document]:
    """Give a file's documents that hold any text; a file without any is unreadable."""
    found = False
    for document in reader.read(file.path, file.source, told):
        if document.page_content.strip():
            found = True
            yield document
    if not found:
        raise UnreadableError("empty" if file.path.stat().st_size == 0 else "no text in it")
