"""Read files side by side and give them in their order."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped
from ramify.tools.documents.limits import LIMITS, Limits, cores
from ramify.tools.documents.parse_file import FORMATS, parsed, streamed
from ramify.tools.documents.parser_processes import Crew, Parsed
from ramify.tools.documents.reader import Told
from ramify.tools.documents.readers import reader_of

__all__ = ["EDITION", "FORMATS", "Read", "read_files"]

EDITION = "3"
"""Counts up when the same file gives other documents than before: an index then reads its files again."""
_AHEAD = 4
"""Files asked for before their turn, for each worker: enough that none waits, few enough to hold."""
_FEW = 8
_SMALL_BYTES = 1 << 18
"""The first few files of plain text are read here, if they are small: no worker need be started for them."""


class Read(NamedTuple):
    """A file, its documents as they are read, what of it was left out and what is to be said of it.

    Both lists are complete when the documents are used up.
    """

    file: File
    documents: Iterable[Document]
    skipped: list[Skipped]
    remarks: list[Skipped]


def read_files(files: Iterable[File], limits: Limits = LIMITS, workers: int | None = None, clean: bool = True) -> Iterator[Read]:
    """Read files in worker processes and give them in their order; records, which may be endless, are streamed in this one.

    A file that cannot be read has no documents and is in its own `skipped`, with the reason. To have it `clean` is to have its short
    documents merged and those that only list or license marked.
    """
    with closing(Crew(workers or cores(), limits)) as crew:
        under_way: list[tuple[File, Future[Parsed] | None]] = []
        coming = _planned(iter(files), crew, clean)
        while under_way := [*under_way, *islice(coming, _AHEAD * crew.size + 1 - len(under_way))]:
            file, result = under_way.pop(0)
            yield Read(file, *result.result()) if result else _here(file, clean)


def _planned(files: Iterator[File], crew: Crew, clean: bool) -> Iterator[tuple[File, Future[Parsed] | None]]:
    """Hand files to the crew as they come; None for those that are read here."""
    few = 0
    for file in files:
        reader = reader_of(file.path)
        small = reader is not None and reader.plain and few < _FEW and _size(file) <= _SMALL_BYTES
        few += small
        here = reader is None or reader.streamed or small or not file.path.is_file()
        yield file, None if here else crew.parse(file, clean)


def _size(file: File) -> int:
    return file.path.stat().st_size if file.path.is_file() else 0


def _here(file: File, clean: bool) -> Read:
    told = Told()
    reader = reader_of(file.path)
    documents = streamed(file, told) if reader is None or reader.streamed else parsed(file, told, clean)
    return Read(file, documents, told.skipped, told.remarks)
