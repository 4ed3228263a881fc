"""Print runs side by side, a measure a row: `python plugins/lab/benchmarks/real_documents/table.py RUN.jsonl [RUN.jsonl …]`.

Of questions for reporting only totals are printed, so that nobody tunes to single ones.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.real_documents import answering, searching
from plugins.lab.benchmarks.real_documents.questions import TYPES
from ramify.lab.metrics import bootstrap_interval, paired_test


class Run(NamedTuple):
    """A run's name, and its lines."""

    label: str
    lines: list[dict[str, Any]]

    def of(self, strategy: str, kind: str | None = None) -> list[dict[str, Any]]:
        """Return a strategy's lines, of one type of question where one is named; by question."""
        chosen = [line for line in self.lines if line["strategy"] == strategy and kind in (None, line["type"])]
        return sorted(chosen, key=lambda line: str(line["id"]))


def read_run(path: Path) -> Run:
    """Read what `measure.py` wrote."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Run(f"{lines[0]['label']}, {lines[0]['split']}" if lines else path.stem, lines)


def table(runs: Sequence[Run]) -> str:
    """Make a Markdown table of runs: percentages with 95 % intervals; p of the difference to the first run on the same questions."""
    head = ["", "n", *(run.label for run in runs)]
    return "\n".join(_row(cells) for cells in (head, ["---", "--:", *("---" for _ in runs)], *_rows(runs)))


def _rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    strategies = dict.fromkeys(line["strategy"] for run in runs for line in run.lines)
    for strategy in strategies:
        yield from _block(runs, strategy, None)
    if all(line["split"] == "development" for run in runs for line in run.lines):
        for strategy in strategies:
            for kind in TYPES:
                yield from _block(runs, strategy, kind)


def _block(runs: Sequence[Run], strategy: str, kind: str | None) -> Iterator[list[str]]:
    """Return the rows of a strategy's measures; of one type of question only the first and, of a search, what the reader is given."""
    measures = searching.measures if strategy == searching.SEARCH else answering.measures
    lines = [run.of(strategy, kind) for run in runs]
    ids = next(([line["id"] for line in some] for some in lines if some), None)
    if ids is None:
        return
    values = [measures(some) if some else {} for some in lines]
    names = next(each for each in values if each)
    for name in names if kind is None else [key for key in names if key in ("right", "confidently wrong", "recall@5", "recall@10")]:
        same = [[line["id"] for line in some] == ids for some in lines]
        cells = [
            _cell(each.get(name), values[0].get(name) if number and same[number] and same[0] else None)
            for number, each in enumerate(values)
        ]
        yield [f"{strategy}: {name}" + (f", {kind.replace('_', ' ')}" if kind else ""), str(len(ids)), *cells]


def _cell(values: Sequence[float] | None, first: Sequence[float] | None) -> str:
    if not values:
        return ""
    low, high = bootstrap_interval(values)
    beside = f", p = {paired_test(first, values):.2f}" if first else ""
    return f"{100 * sum(values) / len(values):.0f} ({100 * low:.0f} to {100 * high:.0f}){beside}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN.jsonl")
    print(table([read_run(path) for path in parser.parse_args().runs]))


if __name__ == "__main__":
    main()
