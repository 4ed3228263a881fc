"""Measure what smaller vectors find: of what a scan of whole ones finds, and of the gold documents, on real passages really encoded.

    RAMIFY_DATA=… python plugins/lab/benchmarks/quantised.py [DATASET] [--vectors fp32,fp16,int8] [--work DIR]

So few passages are otherwise all compared; here the graph is searched whatever their number. What is in DIR is not made again.
"""

import argparse
import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, get_args

import numpy as np

from ramify.studio.console.progress_bar import progress_bar
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index import Index, hnsw
from ramify.tools.index.hybrid_search import SearchOptions, search_source
from ramify.tools.index.manifest import Precision, parse_precision
from ramify.tools.index.publication import Snapshot, change_precision, open_snapshot

MOST, DEPTH = 500, 10
DENSE: dict[str, Any] = {"hybrid": False}


class QuestionSet(NamedTuple):
    """Questions with their vectors, and the documents that each needs."""

    questions: list[str]
    vectors: Matrix
    gold: list[set[str]]


def read_question_set(folder: Path) -> QuestionSet:
    """Read the questions of a data set whose documents are named."""
    with gzip.open(folder / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [record for record in map(json.loads, lines) if record.get("supporting")][:MOST]
    questions = [record["question"] for record in records]
    gold = [{fact["doc_id"] for fact in record["supporting"]} for record in records]
    return QuestionSet(questions, load_encoder("minilm").encode_queries(questions), gold)


def neighbour_recall(snapshot: Snapshot, vectors: Matrix, nearest: Sequence[set[int]]) -> float:
    """Return the share of the nearest passages that the graph finds."""
    rankings = snapshot.nearest(vectors, 100, None)
    return fmean(len(best & set(own[:DEPTH])) / len(best) for best, own in zip(nearest, rankings, strict=True))


def gold_recall(snapshot: Snapshot, asked: QuestionSet, how: dict[str, Any]) -> float:
    """Return the share of the gold documents that a search finds first."""
    rankings = search_source(snapshot, asked.questions, asked.vectors, SearchOptions(5, **how))
    named = [{hit.id.partition("~")[0] for hit in hits} for hits in rankings]
    return fmean(len(gold & own) / len(gold) for gold, own in zip(asked.gold, named, strict=True))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", default="2wikimultihopqa", metavar="DATASET")
    parser.add_argument("--vectors", default=",".join(get_args(Precision)), metavar="A,B", help="how vectors are kept (default: all three)")
    parser.add_argument("--work", type=Path, default=Path("build/quantised"), metavar="DIR", help="default: build/quantised")
    options = parser.parse_args()
    precisions = [parse_precision(name) for name in options.vectors.split(",")]
    data, folder = Path(os.environ["RAMIFY_DATA"]) / options.dataset, options.work / options.dataset
    hnsw.MAX_SCANNED = 0  # a small corpus would not be linked
    with progress_bar() as progress:
        Index.build([data / "corpus.jsonl.gz"], folder, vectors="fp32", progress=progress)
    questions, snapshot = read_question_set(data), open_snapshot(folder)
    nearest = [
        set(positions.tolist()) for positions in snapshot.vector_index.search_exact(questions.vectors, DEPTH, np.arange(len(snapshot)))
    ]
    print(f"{options.dataset}: {len(snapshot):,} passages, {len(questions.questions)} questions")
    print(f"vectors  graph recall@{DEPTH}  gold recall@5: dense  fused")
    for precision in precisions:
        change_precision(folder, precision)
        snapshot = open_snapshot(folder)
        golden = [gold_recall(snapshot, questions, how) for how in (DENSE, {})]
        print(f"{precision:8} {neighbour_recall(snapshot, questions.vectors, nearest):15.3f} {golden[0]:21.3f} {golden[1]:6.3f}")


if __name__ == "__main__":
    main()
