"""Measure parsing files in worker processes against a bare loop of the same readers: files, documents and processor time.

    python plugins/lab/benchmarks/parsing.py PATH… [--rounds 3] [--workers 1 2]

Rounds take turns, the best of each counts: other work on the machine spoils a round, not the figure.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ramify.tools.documents.files import File, ReadReport, list_files
from ramify.tools.documents.load import read_files
from ramify.tools.documents.readers import find_reader, parse_file


def bare(files: Sequence[File]) -> int:
    return sum(len(list(parse_file(file, ReadReport(), True))) for file in files)


def side_by_side(files: Sequence[File], workers: int) -> int:
    return sum(len(list(read.documents)) for read in read_files(files, workers=workers))


def measure(work: Callable[[], int]) -> tuple[float, float, int]:
    """Return seconds, seconds of the processor (its own and its workers'), and documents."""
    began, spent = time.perf_counter(), _processor()
    documents = work()
    return time.perf_counter() - began, _processor() - spent, documents


def _processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    options = arguments.parse_args()
    files = [file for file in list_files(options.paths, []) if find_reader(file.path) and file.path.is_file()]
    if not files:
        raise SystemExit("nothing to read there (links that lead out of a folder are not followed)")
    works: dict[str, Callable[[], int]] = {"bare loop": lambda: bare(files)}
    works |= {f"{count} at once": lambda count=count: side_by_side(files, count) for count in options.workers}
    parse_file(files[0], ReadReport(), True)  # loads the libraries, as the workers have to
    rounds = [{name: measure(work) for name, work in works.items()} for _ in range(options.rounds)]
    least = min(times["bare loop"][0] for times in rounds)
    for name in works:
        seconds, processor = (min(times[name][part] for times in rounds) for part in (0, 1))
        documents = rounds[0][name][2]
        print(
            f"{name}: {len(files)} files, {documents} documents in {seconds:.2f} s ({len(files) / seconds:.0f} files/s, "
            f"{least / seconds:.2f} of the bare loop), {processor:.2f} s of the processor"
        )


if __name__ == "__main__":
    main()
