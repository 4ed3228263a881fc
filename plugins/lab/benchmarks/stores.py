"""Compare an index in Milvus with one in a folder: what both find of the same corpus, and how long a search takes in each.

    RAMIFY_DATA=… python plugins/lab/benchmarks/stores.py [DATASET] [--out milvus:FILE.db/COLLECTION]

DATASET is a name in RAMIFY_DATA, or a folder. Both are built from nothing in this process, with the same vectors: the second build takes
them from the first. Overlap is the share of the first ten that both find; recall counts gold documents among the first 1, 5 and 10. A file
of Milvus (the default, a temporary one) is read by milvus-lite, whose speed says nothing of a server's.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ramify.lab.dataset import Question
from ramify.lab.load import load_dataset
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, Offsets
from ramify.tools.index import Index
from ramify.tools.index.passage_store import document_id
from ramify.tools.passage import Passage

WAYS: dict[str, dict[str, Any]] = {"fused": {}, "vectors": {"hybrid": False}, "words": {"dense": False}}
BATCH, DEPTH = 8, 10


class CachedEncoder(Encoder):
    """Encode each text once: what is compared is not the encoder."""

    def __init__(self) -> None:
        self._inner = load_encoder("minilm")
        self._known: dict[str, Matrix] = {}
        self._asked: dict[str, Matrix] = {}
        self.name = self._inner.name
        self.max_tokens = self._inner.max_tokens

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self._inner.dimension

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode the texts not met before."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._inner.encode_documents(new, prefix) if new else (), strict=True))
        return np.stack([self._known[text] for text in texts])

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode the questions not met before."""
        new = [text for text in dict.fromkeys(texts) if text not in self._asked]
        self._asked.update(zip(new, self._inner.encode_queries(new, prefix) if new else (), strict=True))
        return np.stack([self._asked[text] for text in texts])

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where tokens start and end."""
        return self._inner.offsets(texts)


def build_index(name: str, documents: list[Path], place: str | Path, encoder: Encoder) -> Index:
    began = time.perf_counter()
    made = Index.build(documents, place, encoder)
    print(f"{name}: {made.passages:,} passages in {time.perf_counter() - began:.1f} s")
    return Index.open(place, encoder)


def time_search(index: Index, questions: Sequence[Question], how: dict[str, Any]) -> tuple[list[list[Passage]], float]:
    """Search by batches; return the hits, and the milliseconds a question of the faster half of the batches, encoding left out."""
    hits, took = [], []
    for start in range(0, len(questions), BATCH):
        asked = [question.question for question in questions[start : start + BATCH]]
        index.embeddings.encode_queries(asked)  # remembered
        began = time.perf_counter()
        hits += index.search(asked, DEPTH, **how)
        took.append(1000 * (time.perf_counter() - began) / len(asked))
    return hits, fmean(sorted(took)[: len(took) // 2 + 1])


def recall(hits: Sequence[Sequence[Passage]], questions: Sequence[Question], depth: int) -> float:
    shares = []
    for ranking, question in zip(hits, questions, strict=True):
        gold = set(question.gold_documents)
        shares.append(len(gold & {document_id(hit.id) for hit in ranking[:depth]}) / len(gold))
    return fmean(shares)


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", default="faa_ac43_13_1b", metavar="DATASET")
    parser.add_argument("--out", metavar="ADDRESS", help="where the second index goes (default: a temporary file of Milvus)")
    parser.add_argument("--limit", type=int, default=300, help="questions (default: 300)")
    options = parser.parse_args()
    named = Path(os.environ.get("RAMIFY_DATA", "")) / options.dataset
    with tempfile.TemporaryDirectory() as folder:
        dataset = load_dataset(str(named if named.is_dir() else options.dataset), Path(folder), retrieval_only=True)
        questions = [question for question in dataset.questions if question.gold_documents][: options.limit]
        if not questions:
            sys.exit(f"no question of {options.dataset} names its documents")
        encoder, documents = CachedEncoder(), list(dataset.documents)
        ours = build_index("folder", documents, Path(folder) / "index", encoder)
        theirs = build_index("milvus", documents, options.out or f"milvus:{folder}/store.db/corpus", encoder)
        print(
            f"{len(questions)} questions      overlap@10  same first   recall@1/5/10 folder   recall@1/5/10 milvus   ms folder   ms milvus"
        )
        for name, how in WAYS.items():
            (a, fast), (b, slow) = time_search(ours, questions, how), time_search(theirs, questions, how)
            pairs = [([hit.id for hit in x], [hit.id for hit in y]) for x, y in zip(a, b, strict=True)]
            overlap = fmean(len(set(x) & set(y)) / max(1, len(x)) for x, y in pairs)
            first = fmean(x[:1] == y[:1] for x, y in pairs)
            recalls = ["  ".join(f"{recall(hits, questions, depth):.3f}" for depth in (1, 5, 10)) for hits in (a, b)]
            print(f"{name:17} {overlap:10.3f}  {first:10.3f}   {recalls[0]:21}  {recalls[1]:21}  {fast:9.2f}  {slow:10.2f}")


if __name__ == "__main__":
    main()
