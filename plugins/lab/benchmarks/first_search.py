"""Measure the search in an index whose vectors are not computed yet: the time until it can be searched, of a search, and its recall@5.

    python plugins/lab/benchmarks/first_search.py POOL… [--limit 100]

POOL is a folder written by `pools.py`. A build is stopped before the first vector is computed; then each question is searched, with more
and more candidates encoded for it, beside a search by words alone, and at last in the finished index.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from ramify.lab.dataset import Question
from ramify.lab.load import load_dataset
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.index import Index, unfinished
from ramify.tools.index.passage_store import document_id
from ramify.tools.index.progress import PassagesStored, ignore_progress, stop_when_stored

CANDIDATES = (8, 16, 32, 64, 100)
TIMED = 5
"""Number of searches that are timed."""


def remember_vectors(encoder: Encoder) -> None:
    """From now on, encode each text once: the rows below encode the same candidates."""
    known: dict[str, Matrix] = {}
    encode = encoder.encode_documents

    def encode_documents(texts: Sequence[str], prefix: str | None = None) -> Matrix:
        if missing := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(missing, encode(missing, prefix), strict=True))
        return np.stack([known[text] for text in texts])

    encoder.encode_documents = encode_documents  # type: ignore[method-assign]


def recall(index: Index, questions: Sequence[Question], dense: bool = True) -> float:
    """Return the mean share, in percent, of the gold documents among five passages."""
    found = [index.search([asked.question], 5, dense=dense)[0] for asked in questions]
    golds = [{*asked.gold_documents} for asked in questions]
    return 100 * fmean(len(gold & {document_id(hit.id) for hit in hits}) / len(gold) for gold, hits in zip(golds, found, strict=True))


def measure(pool: Path, limit: int) -> None:
    """Print the times and a table of one pool."""
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as folder:
        dataset = load_dataset(pool, Path(work))
        questions = [asked for asked in dataset.questions if asked.supporting][:limit]
        began = time.perf_counter()
        with suppress(PassagesStored):
            Index.build(dataset.documents, folder, progress=partial(stop_when_stored, ignore_progress))
        ready = time.perf_counter()
        index = Index.open(folder)
        for asked in questions[:TIMED]:
            index.search([asked.question], 5)
        took = (time.perf_counter() - ready) / TIMED
        print(f"{pool.name}: {len(index)} passages can be searched after {ready - began:.1f} s; a search takes {took:.2f} s")
        rows = {"words alone": recall(index, questions, dense=False)}
        remember_vectors(load_encoder("minilm"))
        shipped = unfinished.MAX_ENCODED
        for unfinished.MAX_ENCODED in CANDIDATES:
            rows[f"{unfinished.MAX_ENCODED} encoded"] = recall(Index.open(folder), questions)
        unfinished.MAX_ENCODED = shipped
        Index.build(dataset.documents, folder)
        rows["finished"] = recall(Index.open(folder), questions)
    print(f"\n| {len(questions)} questions | recall@5 |\n|---|--:|")
    for name, share in rows.items():
        print(f"| {name} | {share:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path, metavar="POOL")
    parser.add_argument("--limit", type=int, default=100)
    given = parser.parse_args()
    for own in given.pools:
        measure(own, given.limit)
