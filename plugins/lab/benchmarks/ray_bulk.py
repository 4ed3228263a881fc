"""Measure work on Ray against the same work without it: texts encoded and questions asked a second, and what it takes to start.

    python plugins/lab/benchmarks/ray_bulk.py [--passages 2000] [--questions 24] [--workers 1,2]

Each number of workers is a cluster of its own on this machine. Without Ray, one process has one thread as well, or as many as there are
workers; a ratio within one run says more than the seconds, which other work on the machine stretches.
"""

import argparse
import json
import logging
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TOWNS = ("Paris", "Rome", "London", "Cairo", "Vienna", "Warsaw")
SENTENCES = (
    "The ship {n} was built in {town} in the year {year} and carried {tons} tons of grain.",
    "Its captain, born in {town}, wrote a diary of {tons} pages about the storms of {year}.",
    "When the harbour of {town} froze, ship {n} waited {tons} days for the ice to break.",
    "The owners sold it in {year} to a company that named it after a street in {town}.",
)


def passages(count: int) -> Iterator[dict[str, str]]:
    """Write passages of about 90 to 260 tokens, all different."""
    for n in range(count):
        lines = (
            SENTENCES[(n + place) % 4].format(n=n, town=TOWNS[(n + place) % 6], year=1700 + n % 250, tons=n * 7 + place)
            for place in range(4 + n % 8)
        )
        yield {"id": f"p{n}", "title": f"Ship {n}", "text": " ".join(lines)}


def questions(count: int) -> Iterator[dict[str, Any]]:
    for n in range(count):
        gold = [{"doc_id": f"p{n}", "title": f"Ship {n}"}]
        yield {"id": f"q{n}", "question": f"In which town was the ship {n} built?", "answer": TOWNS[n % 6], "supporting": gold}


def write(file: Path, records: Iterator[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def measure_once(folder: Path, workers: int | None, threads: int) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--in", str(folder), "--one", str(workers or 0)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "RAMIFY_CACHE": str(folder / f"cache-{workers}-{threads}")}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(said.splitlines()[-1])
    return figures


def measure(folder: Path, workers: int) -> dict[str, float]:
    from ramify.lab.plan import RunOptions
    from ramify.lab.run import execute
    from ramify.tools.index import Index

    began = time.perf_counter()
    if workers:
        start(workers)
    joined = time.perf_counter() - began
    ray = "auto" if workers else None
    began = time.perf_counter()
    encoded: list[tuple[float, int]] = []
    answered: list[tuple[float, int]] = []

    def progress(done: int, total: int | None, unit: str) -> None:
        if unit == "passages":
            encoded.append((time.perf_counter(), done))

    def watch(row: dict[str, Any]) -> None:
        if row["strategy"] == "prune":
            answered.append((time.perf_counter(), len(answered)))

    with TemporaryDirectory(dir=folder) as out:
        Index.build(folder / "data" / "corpus.jsonl", f"{out}/index", clean=False, ray=ray, batch_size=64, progress=progress)
        data, run = (str(folder / "data"),), Path(out) / "run"
        execute(RunOptions(datasets=data, strategies=("prune",), options={"model": "extractive"}, out=run, ray=ray), watch)
    return {"start": joined, "first": encoded[0][0] - began, "texts": speed(encoded), "questions": speed(answered)}


def start(workers: int) -> None:
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}
    os.environ |= {"RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_worker_niceness": "0"}  # as on a cluster that `--ray` starts
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, object_store_memory=2**27)


def speed(marks: list[tuple[float, int]]) -> float:
    """Return the rate per second, without the first third: there, workers load their models."""
    (began, before), (ended, after) = marks[len(marks) // 3], marks[-1]
    return (after - before) / (ended - began)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--passages", type=int, default=2000)
    options.add_argument("--questions", type=int, default=24)
    options.add_argument("--workers", default="1,2")
    options.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.folder:
        print(json.dumps(measure(arguments.folder, arguments.one)))
        return
    with TemporaryDirectory(prefix="ramify-bulk-") as spare:
        folder = Path(spare)
        write(folder / "data" / "corpus.jsonl", passages(arguments.passages))
        write(folder / "data" / "questions.jsonl", questions(arguments.questions))
        wanted = [int(count) for count in arguments.workers.split(",")]
        runs = {f"without Ray, {count} {'thread' if count == 1 else 'threads'}": (None, count) for count in wanted}
        runs |= {f"{count} {'worker' if count == 1 else 'workers'}": (count, 1) for count in wanted}
        base: dict[str, float] = {}
        print(f"{'':26}{'texts/s':>9}{'':7}{'questions/s':>13}{'':7}{'start s':>9}{'first batch s':>15}")
        for name, (workers, threads) in runs.items():
            figures = measure_once(folder, workers, threads)
            base = base or figures
            columns = "".join(
                f"{figures[key]:{width}.1f}{figures[key] / base[key]:6.2f}x" for key, width in (("texts", 9), ("questions", 13))
            )
            print(f"{name:26}{columns}{figures['start']:9.1f}{figures['first']:15.1f}", flush=True)


if __name__ == "__main__":
    main()
