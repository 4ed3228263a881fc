"""Measure how well questions are split, without any reading: what a search by words finds of the gold paragraphs with the sub-questions.

    RAMIFY_DATA=… python plugins/lab/benchmarks/splitting.py [--limit N] [--splits FILE.jsonl] [--model gguf:smollm2] [--dump FILE.jsonl]

Questions whose single hops are known are split, and the halves again, to depth 3. A sub-question that builds on another gets the gold
answer of the hop that shares most words with that other one. Five or ten passages in all are dealt out among the sub-questions. Beside the
embedded splitter: the whole question, the data set's own hops, and other systems, from files of {"question", "steps": ["…", "… {1} …"]}.
A second table is of the tenth of the splitter's training material that is only measured.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))  # neither training/ nor benchmarks/ is installed

from plugins.lab.benchmarks.splits.flatten import Steps, fill_answers
from plugins.lab.benchmarks.splits.hops import HopQuestion, answer_to, sets
from plugins.lab.benchmarks.splits.searched import WordSearch, gold_share
from plugins.lab.benchmarks.splits.systems import System, dump, embedded, no_split, official_split, recursive_split, split_from_file
from ramify.lab.metrics import bootstrap_interval, paired_test
from ramify.tools.errors import RamifyError

WHOLE, OFFICIAL, SPLITTER = "whole question", "official hops", "splitter"
AMONG = (5, 10)
HEAD = "| questions | n | split by | steps | R@5 | All@5 | R@10 | All@10 | ms |\n|---|--:|---|--:|--:|--:|--:|--:|--:|"


@dataclass(frozen=True)
class Run:
    """What a system made of the questions of a set, and the share of gold paragraphs found of each question, by passages."""

    splits: list[tuple[str, Steps]]
    shares: dict[int, list[float]]
    milliseconds: float

    def all_found(self, k: int) -> list[float]:
        """Return for each question whether every gold paragraph was found."""
        return [float(share == 1) for share in self.shares[k]]


def run(system: System, questions: Sequence[HopQuestion], words: WordSearch) -> Run:
    """Split and search."""
    began = time.perf_counter()
    steps = [system(asked) for asked in questions]
    took = 1000 * (time.perf_counter() - began) / len(questions)
    queries = [fill_answers(own, partial(answer_to, hops=asked.hops)) for own, asked in zip(steps, questions, strict=True)]
    shares = {k: [gold_share(words, own, asked.gold, k) for own, asked in zip(queries, questions, strict=True)] for k in AMONG}
    return Run([(asked.question, own) for asked, own in zip(questions, steps, strict=True)], shares, took)


def row(measured: Run) -> str:
    """Return the figures of a row."""
    steps = sum(len(own) for _, own in measured.splits) / len(measured.splits)
    figures = [_with_interval(values) for k in AMONG for values in (measured.shares[k], measured.all_found(k))]
    return " | ".join([f"{steps:.2f}", *figures, f"{measured.milliseconds:.1f}"])


def compare_systems(runs: dict[str, Run]) -> Iterable[str]:
    """Compare each system with each before it, question by question, but for the whole question and the official hops."""
    names = [name for name in runs if name not in (WHOLE, OFFICIAL)]
    for at, name in enumerate(names):
        for other in names[:at]:
            left, right = (runs[each].all_found(AMONG[0]) for each in (name, other))
            yield f"{name} − {other}: All@{AMONG[0]} {100 * (sum(left) - sum(right)) / len(left):+.1f}, p = {paired_test(left, right):.3f}"


def _with_interval(values: Sequence[float]) -> str:
    low, high = bootstrap_interval(values)
    return f"{100 * sum(values) / len(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def systems(names: argparse.Namespace) -> dict[str, System]:
    """Return the requested systems."""
    named: dict[str, System] = {WHOLE: no_split, OFFICIAL: official_split}
    named |= {path.stem: split_from_file(path) for path in names.splits}
    for name in names.model:
        from plugins.lab.benchmarks.splits.asked import prompted_splitter

        named[name] = recursive_split(prompted_splitter(name, names.base_url))
    return named | ({SPLITTER: recursive_split(embedded())} if names.splitter else {})


def measure(named: dict[str, System], data: Path, limit: int) -> list[tuple[str, Steps]]:
    """Print the table; return what the last system made of the questions."""
    splits: list[tuple[str, Steps]] = []
    compared: list[str] = []
    print(HEAD)
    for name, folder, every in sets(data):
        some = random.Random(0).sample(every, min(limit, len(every)))
        with tempfile.TemporaryDirectory() as beside:
            words = WordSearch(folder.documents.values(), Path(beside) / "words.sqlite")
            runs = {
                key: run(system, some, words)
                for key, system in named.items()
                if key != OFFICIAL or all(question.official for question in some)
            }
        for key, measured in runs.items():
            print(f"| {name} | {len(some)} | {key} | {row(measured)} |", flush=True)
        compared += [f"{name}, {line}" for line in compare_systems(runs)]
        splits += [*runs.values()][-1].splits
    print("", *compared, sep="\n")
    return splits


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=1000, help="at most so many questions of a set, chosen by chance")
    parser.add_argument("--splits", type=Path, action="append", default=[], metavar="FILE", help="another system's splits; may be repeated")
    parser.add_argument("--model", action="append", default=[], help="a chat model that is asked to split; may be repeated")
    parser.add_argument("--base-url", help="address of its server")
    parser.add_argument("--splitter", action=argparse.BooleanOptionalAction, default=True, help="measure the embedded splitter")
    parser.add_argument("--dump", type=Path, metavar="FILE", help="write what the last system in the table made of the questions")
    arguments = parser.parse_args()
    data = Path(os.environ["RAMIFY_DATA"])
    try:
        splits = measure(systems(arguments), data, arguments.limit)
        if arguments.dump:
            dump(splits, arguments.dump)
    except RamifyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if arguments.splitter:
        from plugins.lab.benchmarks.splits.kept_out import HEAD as KEPT_OUT
        from plugins.lab.benchmarks.splits.kept_out import rows

        print("", KEPT_OUT, *rows(data, arguments.limit), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
