"""Measure `Index.build` against a bare encoding loop over the same batches: what reading, splitting, storing and linking cost.

    RAMIFY_DATA=… python benchmarks/indexing.py [--limit 2000] [--corpus 2wikimultihopqa]

Both run in this process, one after the other, with the same model in the same precision; the figure is their ratio, 1 being the bare loop.
"""

import argparse
import gzip
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, Offsets
from ramify.tools.embeddings.sentence_encoder import SentenceEncoder
from ramify.tools.index import Index
from ramify.tools.index.build import Built

TARGET = 0.9


class Recording(Encoder):
    """Pass everything on to an encoder; keep the batches it was asked to encode and how long each took."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.max_tokens = encoder.name, encoder.max_tokens
        self.batches: list[list[str]] = []
        self.seconds = 0.0
        self._encoder = encoder

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        return self._encoder.offsets(texts)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        return self._encoder.encode_queries(texts, prefix)

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        began = time.perf_counter()
        vectors = self._encoder.encode_documents(texts, prefix)
        self.seconds += time.perf_counter() - began
        self.batches.append(list(texts))
        return vectors


def bare_loop(model: Any, batches: Sequence[list[str]]) -> float:
    began = time.perf_counter()
    for batch in batches:
        model.encode(batch, show_progress_bar=False)
    return time.perf_counter() - began


def limited(corpus: Path, limit: int | None, folder: Path) -> Path:
    """Write the first records of a corpus to a file of its own."""
    with gzip.open(corpus, "rt", encoding="utf-8") as source:
        path = folder / "corpus.jsonl"
        path.write_text("".join(itertools.islice(source, limit)), encoding="utf-8")
        return path


def measure(corpus: Path, limit: int | None) -> tuple[Built, Recording, float]:
    encoder = load_encoder("minilm")
    assert isinstance(encoder, SentenceEncoder)
    encoder.encode_documents(["warm up"] * 64)
    recording = Recording(encoder)
    with tempfile.TemporaryDirectory() as folder:
        built = Index.build([limited(corpus, limit, Path(folder))], Path(folder) / "index", recording)
    return built, recording, bare_loop(encoder.model, recording.batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="documents to index (default: all)")
    parser.add_argument("--corpus", default="2wikimultihopqa", help="a folder in RAMIFY_DATA")
    options = parser.parse_args()
    if "RAMIFY_DATA" not in os.environ:
        sys.exit("RAMIFY_DATA is not set: set it to the folder that holds the corpora")
    built, recording, bare = measure(Path(os.environ["RAMIFY_DATA"]) / options.corpus / "corpus.jsonl.gz", options.limit)
    ratio = bare / built.seconds
    print(f"{built.documents} documents, {built.passages} passages of {options.corpus}, minilm")
    print(f"bare encode loop  {bare:8.1f} s  {built.encoded / bare:7.1f} passages/s")
    print(f"Index.build       {built.seconds:8.1f} s  {built.encoded / built.seconds:7.1f} passages/s")
    print(f"  of it encoding  {recording.seconds:8.1f} s  {recording.seconds / built.seconds:7.1%}")
    print(f"ratio             {ratio:8.3f}     target {TARGET} {'reached' if ratio >= TARGET else 'missed'}")


if __name__ == "__main__":
    main()
