"""An evaluation run on the command line: data, maximum cost, progress, and the location of the report."""

import time
from collections import defaultdict
from importlib.util import find_spec

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ramify.evaluation.answering import TimeEstimate
from ramify.evaluation.plan import Order, prepare
from ramify.evaluation.report import write_report
from ramify.evaluation.run import ask, check_indexes, cluster_for, load_inputs, pending_tasks
from ramify.evaluation.search import SEARCH, degrade, index, search
from ramify.evaluation.task import RESULTS, Row, Task, read_outcomes
from ramify.graphs.run import blocking
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import err, note, out
from ramify.tools.errors import ModelError, RamifyError
from ramify.tools.quoting import many, one_line

LISTED = 3
"""Maximum number of failures printed; the report lists all."""
SHOWN = 6
"""Maximum number of strategies whose score is shown beside the bar."""


def evaluating(order: Order) -> None:
    """Run an evaluation, from reading the data to the report."""
    check_extras()
    with bar() as progress:
        datasets, wanted = load_inputs(order, progress)
    for _, dataset in datasets:
        types = sorted({question.type for question in dataset.questions if question.type})
        told = f" of {len(types)} types" if len(types) > 1 else ""
        note(f"{dataset.name}: {len(dataset.questions):,} questions{told}" + "".join(f" · {caveat}" for caveat in dataset.caveats))
    plan = prepare(order, datasets, wanted, note)
    tasks = pending_tasks(plan, order.out)
    finished = sum(1 for _ in plan.tasks()) - len(tasks)
    there = f" ({finished:,} exist already)" if finished else ""
    most = plan.most_calls(tasks)
    calls = "the maximum number of model calls is unknown" if most is None else f"with at most {most:,} model calls"
    note(f"{len(tasks):,} answers to compute{there}, {calls}")
    with cluster_for(order, tasks) as cluster:
        if cluster:
            note(f"{cluster.description} answer")
        with bar() as progress:
            index(plan, order, progress)
        search(plan, order)
        with bar() as progress:
            degrade(plan, order, progress)
        check_indexes(tasks, cluster)
        try:
            with Watching(tasks, cluster.workers if cluster else order.workers) as watching:
                blocking(ask(tasks, plan, order, watching, watching.tell_speed, cluster))
        except ModelError:
            if any(row["error"] is None and row["strategy"] != SEARCH for row in read_outcomes(order.out / RESULTS).values()):
                finish(order)
            raise
    finish(order)


def check_extras() -> None:
    """Check that what reports need is installed; RamifyError if not."""
    if find_spec("matplotlib") is None:
        raise RamifyError("matplotlib is not installed, which scores and reports need", "run `pip install 'ramify-rag[eval]'`")


def finish(order: Order) -> None:
    """Write the report and print its location; raise ModelError if no question could be answered."""
    rows = list(read_outcomes(order.out / RESULTS).values())
    asked = [row for row in rows if row["strategy"] != SEARCH]
    write_report(order.out)
    failures = [row for row in asked if row["error"] is not None]
    for row in failures[:LISTED]:
        note(f"failed: {row['key']}: {row['error']}")
    if failures:
        note(f"{len(failures):,} of {len(asked):,} failed; they count as wrong and are retried by the same command")
    strategies = many(len({row["strategy"] for row in asked}), "strategy", "strategies")
    told = f"{len(asked):,} answers of {strategies}" if asked else f"{len(rows):,} searches"
    out().print(one_line(f"{told}: {order.out / 'report.html'}"), soft_wrap=True, markup=False)
    if asked and len(failures) == len(asked):
        raise ModelError(f"no question could be answered ({failures[0]['error']})", "check the model with `ramify doctor`")


class Watching:
    """Show a progress bar on a terminal; elsewhere only one line with the speed."""

    def __init__(self, tasks: list[Task], processes: int) -> None:
        columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[told]}", markup=False))
        self._progress = Progress(*columns, console=err(), transient=True, disable=not err().is_terminal)
        self._bar = self._progress.add_task("answering", total=len(tasks), told="")
        self._pace = TimeEstimate([task.variant for task in tasks], time.monotonic, processes)
        self._total = len(tasks)
        self._scores: dict[str, list[float]] = defaultdict(list)

    def __enter__(self) -> "Watching":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, row: Row) -> None:
        """Count an answer."""
        self._pace.add(row)
        if not row["variant"] and row["em"] is not None:
            self._scores[row["strategy"]].append(row["em"])
        togo = self._pace.to_go()
        told = [f"{lasting(togo)} to go"] if togo is not None else []
        shown = list(self._scores.items())[:SHOWN]
        told += [f"EM {name} {sum(values) / len(values):.2f}" for name, values in shown]
        self._progress.update(self._bar, completed=self._pace.done, told=" · ".join(told))

    def tell_speed(self) -> None:
        """Print the estimated remaining time, measured on the first answers."""
        each, togo = self._pace.each, self._pace.to_go()
        if each is not None and togo is not None and self._pace.done < self._total:
            told = f"{each:.2g} s an answer, measured on the first {self._pace.done}: about {lasting(togo)} to go"
            self._progress.console.print(Text(one_line(told), style="dim"), soft_wrap=True)


def lasting(seconds: float) -> str:
    """Format a duration."""
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
