"""Measure an index in a folder as it grows: its build, its size, how it opens, what it holds in memory, how long a search takes.

    RAMIFY_DATA=… python plugins/lab/benchmarks/scale.py [--passages 10000,100000] [--vectors fp32,fp16,int8] [--work DIR]

Passages are made: four sentences of paragraphs of hotpotqa, musique and 2wikimultihopqa (RAMIFY_DATA), drawn by a fixed seed, under the
title of one, so that words are as frequent as in real text. Their vectors are made, too, because to encode a million takes this machine
hours: those of 2,000 real paragraphs, encoded, mixed by two, with a little noise. Tokens are estimated. All else is the real build, and
questions are real. What is found is therefore not measured here, but by plugins/lab/benchmarks/quantised.py: on real passages, really
encoded.

Each size is built in a process of its own, and measured in another. What is in DIR is not made again. A first search reads what later ones
have in memory; the system may have the files in its cache, so that a cold open is one of a new process and not of a new machine.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.made_passages import SETS, MixedVectors, make, records
from ramify.studio.console.progress_bar import progress_bar
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import SearchOptions, search_source
from ramify.tools.index.manifest import Precision, parse_precision
from ramify.tools.index.publication import Snapshot, change_precision, open_snapshot

QUESTIONS, BATCH = 200, 8
WAYS: dict[str, dict[str, Any]] = {"dense": {"hybrid": False}, "words": {"dense": False}, "fused": {}}
MB = 2**20


def build(count: int, work: Path) -> dict[str, Any]:
    """Build the index of `count` passages; seconds by stage, and the most memory that it took."""
    folder, corpus = work / str(count), work / f"{count}.jsonl"
    if not corpus.exists():
        make(count, corpus)
    encoder = MixedVectors(work)
    ends: dict[str, float] = {}
    with progress_bar() as shown:

        def progress(done: int, total: int | None, what: str) -> None:
            ends[what] = time.perf_counter()
            shown(done, total, what)

        began = time.perf_counter()
        Index.build([corpus], folder, encoder, progress=progress)
    finished = time.perf_counter()
    read, encoded, linked = (ends.get(what, began) for what in ("documents", "passages", "vectors"))
    worded = ends.get("words", linked)
    stages = {
        "read, split, written": read - began,
        "vectors made, written": encoded - read,
        "linked": linked - encoded,
        "words read": worded - linked,
        "words linked, all checked": finished - worded,
    }
    return {"seconds": finished - began, "stages": stages, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def resident() -> float:
    """Return the memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MB


def measure(count: int, work: Path) -> dict[str, Any]:
    """Open an index and search in it."""
    import faiss

    folder = work / str(count)
    faiss.omp_set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))
    before = resident()
    began = time.perf_counter()
    snapshot = open_snapshot(folder)
    opened = time.perf_counter() - began
    after = resident()
    asked = [record["question"] for name in SETS for record in records(name, "questions.jsonl.gz")]
    asked = random.Random(1).sample(asked, QUESTIONS)
    vectors = MixedVectors(work).encode_queries(asked)
    facts: dict[str, Any] = {
        "open_s": opened, "vectors_mb": snapshot.manifest.passages * snapshot.manifest.dimension * 4 / MB, "opened_mb": after - before,
        "files_mb": {path.name: path.stat().st_size / MB for path in sorted(folder.iterdir()) if path.stat().st_size > MB / 10},
    }  # fmt: skip
    for name, how in WAYS.items():
        facts[name] = {
            "alone": _times(snapshot, asked, vectors, 1, SearchOptions(10, **how)),
            "batch": _times(snapshot, asked, vectors, BATCH, SearchOptions(10, **how)),
        }
    facts["searched_mb"] = resident() - before
    title = search_source(snapshot, asked[:1], vectors[:1], SearchOptions(1))[0][0].metadata["title"]
    filtered = SearchOptions(10, filter={"title": title})
    facts["filtered_ms"] = [_once(snapshot, asked[0], vectors[:1], filtered), _once(snapshot, asked[1], vectors[1:2], filtered)]
    return facts


def _times(snapshot: Snapshot, asked: Sequence[str], vectors: Matrix, batch: int, how: SearchOptions) -> dict[str, float]:
    """Return the milliseconds a question: their median, and the 95th of a hundred."""
    search_source(snapshot, asked[:batch], vectors[:batch], how)
    took = []
    for start in range(0, len(asked), batch):
        began = time.perf_counter()
        search_source(snapshot, asked[start : start + batch], vectors[start : start + batch], how)
        took.append(1000 * (time.perf_counter() - began) / len(asked[start : start + batch]))
    return {"p50": median(took), "p95": quantiles(took, n=20)[-1]}


def _once(snapshot: Snapshot, asked: str, vector: Matrix, how: SearchOptions) -> float:
    """Return the milliseconds of one search."""
    began = time.perf_counter()
    search_source(snapshot, [asked], vector, how)
    return 1000 * (time.perf_counter() - began)


def show(count: int, kept: str, facts: dict[str, Any], built: dict[str, Any]) -> None:
    stages = ", ".join(f"{name} {seconds:.0f}" for name, seconds in built["stages"].items())
    files = ", ".join(f"{name} {size:,.0f}" for name, size in facts["files_mb"].items())
    print(f"\n{count:,} passages, vectors in {kept} ({facts['vectors_mb']:,.0f} MB whole)")
    print(f"  build {built['seconds']:,.0f} s ({stages}), at most {built['peak_mb']:,.0f} MB; on disk, MB: {files}")
    print(f"  open {facts['open_s']:.2f} s; memory {facts['opened_mb']:,.0f} MB opened, {facts['searched_mb']:,.0f} MB after searching: "
          f"{facts['searched_mb'] / facts['vectors_mb']:.2f} of the vectors")  # fmt: skip
    print(f"  a filter costs {facts['filtered_ms'][0]:,.0f} ms at its first search, {facts['filtered_ms'][1]:,.1f} ms a search after that")
    for name in WAYS:
        times = [f"p50 {facts[name][key]['p50']:7.2f}, p95 {facts[name][key]['p95']:7.2f}" for key in ("alone", "batch")]
        print(f"  {name:6} ms a question: alone {times[0]}; by {BATCH} {times[1]}")


def staged(stage: str, count: int, work: Path) -> dict[str, Any]:
    """Run a stage in its own process."""
    done = subprocess.run(
        [sys.executable, __file__, "--stage", stage, "--passages", str(count), "--work", str(work)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


STAGES: dict[str, Callable[[int, Path], dict[str, Any]]] = {"build": build, "measure": measure}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", default="10000,100000", metavar="N,N", help="sizes (default: 10000,100000)")
    parser.add_argument("--vectors", default=",".join(get_args(Precision)), metavar="A,B", help="how vectors are kept (default: all three)")
    parser.add_argument(
        "--work", type=Path, default=Path("build/scale"), metavar="DIR", help="what is made stays here (default: build/scale)"
    )
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    work, precisions = options.work, [parse_precision(name) for name in options.vectors.split(",")]
    work.mkdir(parents=True, exist_ok=True)
    sizes = [int(size) for size in options.passages.split(",")]
    if options.stage:
        print(json.dumps(STAGES[options.stage](sizes[0], work)))
        return
    every: dict[str, Any] = {}
    for size in sizes:
        kept = work / f"{size}.json"
        if not kept.exists():
            kept.write_text(json.dumps(staged("build", size, work)))
        built = json.loads(kept.read_text())
        for precision in precisions:
            began = time.perf_counter()
            with progress_bar() as progress:
                changed = change_precision(work / str(size), precision, progress)
            facts = staged("measure", size, work)
            facts["relinked_s"] = time.perf_counter() - began if changed else None
            every[f"{size} {precision}"] = {**facts, "built": built}
            show(size, precision, facts, built)
    (work / "scale.json").write_text(json.dumps(every, indent=2))


if __name__ == "__main__":
    main()
