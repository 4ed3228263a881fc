"""A worker that knows a reader of texts, and readers which hang, die, fail, take all memory and never end."""

import os
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.documents import worker_pool as worker
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FORMAT_READERS, FormatReader
from ramify.tools.documents.text import read_text


def hang(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Never end."""
    while True:
        time.sleep(1)
    yield


def die(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """End the process at once."""
    print("I am a library and print", flush=True)
    os.abort()
    yield


def fail(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Fail as libraries do."""
    raise KeyError("rId7")
    yield


def grow(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Take all memory."""
    hoard = [bytes(1 << 24) for _ in range(1000)]
    yield Document(str(len(hoard)))


def endless(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Give records without end."""
    yield from (Document(f"Record {number}.", id=f"{source}#{number}", metadata={"source": source}) for number in count())


def cut(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Die after a few hundred records."""
    yield from islice(endless(path, source, report), 600)
    os.abort()


ODD = {".hang": FormatReader(hang), ".die": FormatReader(die), ".fail": FormatReader(fail), ".grow": FormatReader(grow)}
ODD |= {".page": FormatReader(read_text)}
ODD |= {".endless": FormatReader(endless, records=True, in_parts=True), ".cut": FormatReader(cut, records=True, in_parts=True)}

if __name__ == "__main__":
    FORMAT_READERS.update(ODD)
    worker.run_worker(float(sys.argv[1]), int(sys.argv[2]))
