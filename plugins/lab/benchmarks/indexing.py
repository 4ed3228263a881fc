"""Measure `Index.build` against bare loops over the same files: what reading, splitting, storing and linking cost, and a second run.

    RAMIFY_DATA=… python plugins/lab/benchmarks/indexing.py [--limit 2000] [--corpus 2wikimultihopqa]
    python plugins/lab/benchmarks/indexing.py PATH…

All run in this process, one after the other, with the same model in the same precision: a bare loop of the readers (records are read while
they are indexed and have none), a bare loop of the encoder over the batches of the build, the build, and a second build that finds nothing
changed. The figures are ratios, 1 being the bare loops; `busy` is the share of all cores' time that the build used.
"""

import argparse
import gzip
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.tools.documents.files import ReadReport, list_files
from ramify.tools.documents.readers import format_name, parse_file
from ramify.tools.documents.worker_pool import available_cores
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, Offsets
from ramify.tools.embeddings.local_encoders import WordPieceEncoder
from ramify.tools.index import Index
from ramify.tools.index.build import Built

TARGET = 0.95


class Recording(Encoder):
    """Pass everything on to an encoder, and keep the batches it was asked to encode."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.max_tokens = encoder.name, encoder.max_tokens
        self.batches: list[list[str]] = []
        self._encoder = encoder

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        return self._encoder.offsets(texts)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        return self._encoder.encode_queries(texts, prefix)

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        self.batches.append(list(texts))
        return self._encoder.encode_documents(texts, prefix)


class Measurement(NamedTuple):
    """Files that are no records, what the first build did, seconds of the bare loops and of both builds, and how busy the first was."""

    files: int
    built: Built
    parse: float
    encode: float
    build: float
    again: float
    busy: float


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bare_encode(encoder: WordPieceEncoder, batches: Sequence[list[str]]) -> None:
    for batch in batches:
        encoder.encode_documents(batch)


def copy_limited(corpus: Path, limit: int | None, folder: Path) -> Path:
    """Write the first records of a corpus to a file of its own."""
    with gzip.open(corpus, "rt", encoding="utf-8") as source:
        path = folder / "corpus.jsonl"
        path.write_text("".join(itertools.islice(source, limit)), encoding="utf-8")
        return path


def measure(paths: Sequence[Path], folder: Path) -> Measurement:
    encoder = load_encoder("minilm")
    assert isinstance(encoder, WordPieceEncoder)
    encoder.encode_documents(["warm up"] * 64)
    recording = Recording(encoder)
    files = [file for file in list_files(paths, []) if format_name(file.path)]
    parse = seconds(lambda: [list(parse_file(file, ReadReport(), True)) for file in files])
    began, spent = time.perf_counter(), processor()
    built = Index.build(paths, folder / "index", recording)
    build = time.perf_counter() - began
    busy = (processor() - spent) / build / available_cores()
    again = seconds(lambda: Index.build(paths, folder / "index", recording))
    encode = seconds(lambda: bare_encode(encoder, recording.batches))
    return Measurement(len(files), built, parse, encode, build, again, busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders; without any, records of a corpus")
    parser.add_argument("--limit", type=int, help="records to index (default: all)")
    parser.add_argument("--corpus", default="2wikimultihopqa", help="a folder in RAMIFY_DATA")
    options = parser.parse_args()
    if not options.paths and "RAMIFY_DATA" not in os.environ:
        sys.exit("RAMIFY_DATA is not set: set it to the folder that holds the corpora, or give files and folders")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(os.environ.get("RAMIFY_DATA", "")) / options.corpus / "corpus.jsonl.gz"
        paths = options.paths or [copy_limited(corpus, options.limit, Path(folder))]
        show(measure(paths, Path(folder)))


def show(figures: Measurement) -> None:
    built, bare = figures.built, figures.parse + figures.encode
    print(
        f"{figures.files} files with a reader of their own, {built.documents} documents, {built.encoded} passages encoded, "
        f"{available_cores()} cores"
    )
    if figures.files:
        print(f"bare parse loop   {figures.parse:8.1f} s  {figures.files / figures.parse:7.1f} files/s")
    print(f"bare encode loop  {figures.encode:8.1f} s  {built.encoded / figures.encode:7.1f} passages/s")
    print(f"Index.build       {figures.build:8.1f} s  {built.encoded / figures.build:7.1f} passages/s, busy {figures.busy:.2f}")
    print(f"ratio             {bare / figures.build:8.3f}     target {TARGET} {'reached' if bare / figures.build >= TARGET else 'missed'}")
    print(f"second build      {figures.again:8.2f} s  {figures.again / bare:7.4f} of the bare loops")


if __name__ == "__main__":
    main()
