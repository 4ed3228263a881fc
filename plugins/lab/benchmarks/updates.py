"""Measure what it takes to bring an index up to date: no change, one changed file, a tenth of them, and a new index for comparison.

    RAMIFY_DATA=… OMP_NUM_THREADS=1 python plugins/lab/benchmarks/updates.py [--passages 10000,100000] [--vectors fp32] [--work DIR]

Files of ten passages each are made as in plugins/lab/benchmarks/scale.py: sentences of real paragraphs, vectors mixed from real ones,
real questions.
The updated index is then compared with a new one of the same files: how many of the ten nearest vectors each finds (of those that are found
when all are compared), and whether questions by words find the same passages with the same BM25. Times are those of a program that runs
already. What is in DIR is made anew.
"""

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.made_passages import SETS, MixedVectors, make, records
from ramify.studio.console.progress_bar import progress_bar
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index import Index
from ramify.tools.index.manifest import Precision, parse_precision
from ramify.tools.index.publication import Snapshot, open_snapshot

EACH, QUESTIONS, NEAREST = 10, 1000, 10
CHANGED = 0.1
"""Part of the files that is changed at last."""
TOKENS = 150
"""Of a passage, so that one that is made is one in the index, as a rule."""


def make_files(count: int, folder: Path) -> list[Path]:
    """Write `count` passages as files of ten."""
    corpus = folder.with_suffix(".jsonl")
    make(count, corpus)
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    folder.mkdir()
    files = [folder / f"{number:06}.txt" for number in range(-(-count // EACH))]
    for number, path in enumerate(files):
        path.write_text("\n\n".join(texts[number * EACH : (number + 1) * EACH]), encoding="utf-8")
    return files


def change(path: Path) -> None:
    """Change every passage of a file."""
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    path.write_text("\n\n".join(f"{paragraph} This was added later." for paragraph in paragraphs), encoding="utf-8")


def measure_time(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


class SearchQuality(NamedTuple):
    """What an index finds: the part of the nearest vectors, and the best passages by words of each question."""

    recall: float
    words: list[dict[str, float]]


def search_quality(folder: Path, questions: list[str], vectors: Matrix) -> SearchQuality:
    """Search an index for all questions."""
    snapshot = open_snapshot(folder)
    exact = snapshot.vector_index.search_exact(vectors, NEAREST, np.arange(len(snapshot)))
    graph = snapshot.vector_index.search(vectors, NEAREST)
    recall = fmean(len({*ours.tolist()} & {*theirs.tolist()}) / NEAREST for ours, theirs in zip(graph, exact, strict=True))
    return SearchQuality(recall, by_words(snapshot, questions))


def by_words(snapshot: Snapshot, questions: list[str]) -> list[dict[str, float]]:
    ids = snapshot.ids()
    return [{ids[position]: score for position, score in scores.items()} for scores in snapshot.by_words(questions, NEAREST, None)]


def count_differing(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> int:
    """Count the questions that find others, or with another BM25."""
    return sum(
        one.keys() != other.keys() or not np.allclose(sorted(one.values()), sorted(other.values()))
        for one, other in zip(ours, theirs, strict=True)
    )


def measure(count: int, precision: Precision, work: Path) -> None:
    """Build, update and compare; print seconds and what is found."""
    place = work / f"{count}-{precision}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    files, encoder = make_files(count, place / "files"), MixedVectors(work)

    def build(name: str) -> None:
        with progress_bar() as progress:
            Index.build(place / "files", place / name, encoder, chunk_tokens=TOKENS, overlap=0, vectors=precision, progress=progress)

    drawn = random.Random(1)
    took = {"new": measure_time(lambda: build("updated")), "no change": measure_time(lambda: build("updated"))}
    change(files[len(files) // 2])
    took["one file"] = measure_time(lambda: build("updated"))
    files[len(files) // 3].unlink()
    took["one file gone"] = measure_time(lambda: build("updated"))
    for path in drawn.sample([path for path in files if path.exists()], round(CHANGED * len(files))):
        change(path)
    took["a tenth of the files"] = measure_time(lambda: build("updated"))
    took["new, with all changes"] = measure_time(lambda: build("new"))
    asked = [record["question"] for name in SETS for record in records(name, "questions.jsonl.gz")]
    questions = drawn.sample(asked, min(QUESTIONS, len(asked)))
    vectors = encoder.encode_queries(questions)
    updated, new = (search_quality(place / name, questions, vectors) for name in ("updated", "new"))
    print(f"\n{len(files):,} files, {len(open_snapshot(place / 'new')):,} passages, {precision}; seconds:")
    for name, seconds in took.items():
        print(f"  {name:22} {seconds:8.2f}")
    print(f"  recall@{NEAREST} of the vectors: updated {updated.recall:.4f}, new {new.recall:.4f}")
    print(f"  questions by words that find others, or with another BM25: {count_differing(updated.words, new.words)} of {len(questions)}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", default="10000,100000", metavar="N,N", help="sizes (default: 10000,100000)")
    parser.add_argument("--vectors", default="fp32", metavar="A,B", help="how vectors are kept (default: fp32)")
    parser.add_argument("--work", type=Path, default=Path("build/updates"), metavar="DIR", help="what is made stays here")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for size in options.passages.split(","):
        for precision in options.vectors.split(","):
            measure(int(size), parse_precision(precision), options.work)


if __name__ == "__main__":
    main()
