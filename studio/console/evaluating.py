"""An evaluation run on the command line, or all runs of a paper: data, maximum cost, progress, and the location of the report."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ramify.evaluation.answering import TimeEstimate
from ramify.evaluation.judging import JUDGED, REPEATS, judge
from ramify.evaluation.papers import Paper
from ramify.evaluation.papers.graph import LEVEL, count_graphs, fit_levels, read_graphs, ways_to_build
from ramify.evaluation.papers.paper import MODEL_OPTIONS
from ramify.evaluation.plan import Order, RunPlan, prepare
from ramify.evaluation.report import pairs_of, read_reproduction, write_report, write_reproduction
from ramify.evaluation.run import ask, check_indexes, cluster_for, load_inputs, pending_tasks
from ramify.evaluation.search import SEARCH, degrade, index, search
from ramify.evaluation.task import RESULTS, Row, Task, read_outcomes
from ramify.graphs.run import blocking
from ramify.nodes.settings import EMBEDDED, is_embedded
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import err, note, say
from ramify.tools.errors import ModelError, RamifyError
from ramify.tools.quoting import one_line, pluralize

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
            with ScoreBar(tasks, cluster.workers if cluster else order.workers) as scores:
                blocking(ask(tasks, plan, order, scores, scores.tell_speed, cluster))
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
    strategies = pluralize(len({row["strategy"] for row in asked}), "strategy", "strategies")
    told = f"{len(asked):,} answers of {strategies}" if asked else f"{len(rows):,} searches"
    say(one_line(f"{told}: {order.out / 'report.html'}"))
    if asked and len(failures) == len(asked):
        raise ModelError(f"no question could be answered ({failures[0]['error']})", "check the model with `ramify doctor`")


class ScoreBar:
    """A progress bar with the scores so far on a terminal; elsewhere only one line with the speed."""

    def __init__(self, tasks: list[Task], processes: int) -> None:
        columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[told]}", markup=False))
        self._progress = Progress(*columns, console=err(), transient=True, disable=not err().is_terminal)
        self._bar = self._progress.add_task("answering", total=len(tasks), told="")
        self._pace = TimeEstimate([task.variant for task in tasks], time.monotonic, processes)
        self._total = len(tasks)
        self._scores: dict[str, list[float]] = defaultdict(list)

    def __enter__(self) -> "ScoreBar":
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


def reproducing(
    paper: Paper, orders: Sequence[Order], folder: Path, judged_by: Mapping[str, Any] | None = None, repeats: int = REPEATS
) -> None:
    """Run what a paper asks for, and write one page on it; finished runs, graphs and verdicts are not repeated.

    `judged_by` are the options of the judge's calls; without a model among them, the model that answers judges.
    """
    check_extras()
    note(f"{paper.title}: {paper.about}")
    plans = [_planned(fit_levels(order, read_graphs(folder))) for order in orders]
    model = next((plan.variants[0].options.get("model", EMBEDDED) for plan in plans if plan.variants), EMBEDDED)
    judging = {**orders[0].options, "model": model, **(judged_by or {})}
    judging = {name: judging[name] for name in MODEL_OPTIONS if name in judging} if paper.conditions else {}
    asks = bool(judging) and not is_embedded(judging["model"])
    _tell_rest(paper, plans, asks, repeats)
    if paper.builds:
        orders = _with_graphs(paper, orders, folder, model)
    for order in orders:
        evaluating(order)
    verdicts = None
    if asks:
        pairs = pairs_of(paper, read_reproduction(folder, paper))
        note(f"{len(pairs):,} pairs of answers are judged {repeats} times; verdicts are stored in {folder / JUDGED}")
        with bar() as progress:
            verdicts = judge(pairs, judging, folder / JUDGED, repeats, progress)
    write_reproduction(folder, paper, verdicts)
    say(one_line(f"{paper.title}: {folder / 'report.html'}"))


def _planned(order: Order) -> RunPlan:
    """Check a run before anything is asked, and tell what it will cost at most."""
    datasets, wanted = load_inputs(order)
    plan = prepare(order, datasets, wanted)
    questions = sum(len(dataset.questions) for _, dataset in datasets)
    tasks = pending_tasks(plan, order.out)
    most = plan.most_calls(tasks)
    calls = "model calls not bounded" if most is None else f"at most {most:,} model calls"
    told = (
        f"{', '.join(order.strategies)} in {pluralize(len(wanted), 'variant')}, {len(tasks):,} answers, {calls}"
        if wanted
        else "searches only, no model is asked"
    )
    note(f"run {order.out.name}: {pluralize(questions, 'question')}, {told}")
    return plan


def _tell_rest(paper: Paper, plans: Sequence[RunPlan], asks: bool, repeats: int) -> None:
    """Tell what is done besides the runs, and what will not be."""
    if asks:
        count = len(paper.conditions)
        questions = sum(len(source.dataset.questions) for source in plans[0].sources)
        most = questions * repeats * count * (count - 1) // 2
        note(f"judge: at most {most:,} verdicts, each a model call, on all pairs of {count} conditions")
    elif paper.conditions:
        note("no win rates: the embedded model judges nothing; --judge NAME names a language model that does")
    for name in paper.missing:
        note(f"left out: {name}, no such strategy is registered")
    for told in paper.left_out:
        note(f"not done: {told}")


def _with_graphs(paper: Paper, orders: Sequence[Order], folder: Path, model: Any) -> list[Order]:
    """Build the graphs, and return the orders with those levels that there are, and with what the graph is built by."""
    first = next(order for order in orders if "graph" in order.kinds)
    builds = ways_to_build(paper.builds, model, first.options)
    if len(builds) > 1:
        told = f"{len(builds)} graphs are built by the model, whose calls are not in these numbers"
        note(f"{told}: `ramify index --kind graph --estimate` tells them")
    first = first.model_copy(update={"build": builds[0]})
    plan = prepare(first, *load_inputs(first))
    with bar() as progress:
        index(plan, first, progress)
        lines = count_graphs(plan, builds, folder, progress)
    fitted = fit_levels(first, lines)
    for level in first.sweeps.get(LEVEL, ()):
        if level not in fitted.sweeps[LEVEL]:
            note(f"left out: C{level}, the graph has no such level")
    return [fitted if order.out == first.out else order for order in orders]
