"""Passages and vectors that are made, for measuring an index as it grows: see plugins/lab/benchmarks/scale.py."""

import gzip
import hashlib
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, unit_rows

SETS = ("hotpotqa", "musique", "2wikimultihopqa")
REAL, SENTENCES = 2000, 4
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def records(name: str, file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(os.environ["RAMIFY_DATA"]) / name / file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class MixedVectors(Encoder):
    """Return a vector for each text, a mixture of two real ones chosen by its digest."""

    name, max_tokens = "langchain:Made", 512

    def __init__(self, work: Path) -> None:
        kept = work / "real.npy"
        if not kept.exists():
            real = [record["text"] for record in records(SETS[0], "corpus.jsonl.gz")][:REAL]
            np.save(kept, load_encoder("minilm").encode_documents(real))
        self._real: Matrix = np.load(kept)

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return int(self._real.shape[1])

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Mix vectors."""
        return unit_rows(np.stack([self._mixed(text) for text in texts]), self.dimension)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Mix vectors."""
        return self.encode_documents(texts)

    def _mixed(self, text: str) -> Matrix:
        drawn = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))
        first, second = drawn.integers(0, len(self._real), 2)
        noise = drawn.normal(scale=0.02, size=self.dimension)
        return np.asarray(self._real[first] + 0.6 * self._real[second] + noise, dtype=np.float32)


def make(count: int, path: Path) -> None:
    """Write `count` passages as records."""
    titles, pool = [], []
    for name in SETS:
        for record in records(name, "corpus.jsonl.gz"):
            titles.append(record.get("title") or record["id"])
            pool += [sentence for sentence in _SENTENCE.split(record["text"]) if len(sentence) > 20]
    drawn = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            text = " ".join(drawn.choices(pool, k=SENTENCES))
            file.write(json.dumps({"id": f"p{number:07}", "title": drawn.choice(titles), "text": text}) + "\n")
