"""An evaluation run on the command line, or all runs of a paper: data, maximum cost, progress and report."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ramify.graphs.run import blocking
from ramify.lab.answering import TimeEstimate
from ramify.lab.judging import DEFAULT_REPEATS, VERDICTS_FILE, judge_pairs
from ramify.lab.papers import Paper
from ramify.lab.papers.graph import LEVEL_SETTING, count_graphs, drop_missing_levels, graph_build_settings, read_graphs
from ramify.lab.papers.paper import MODEL_OPTIONS
from ramify.lab.plan import RunOptions, RunPlan, prepare_run
from ramify.lab.report import list_answer_pairs, read_reproduction, write_report, write_reproduction
from ramify.lab.run import check_indexes, load_inputs, open_cluster, pending_tasks, run_tasks
from ramify.lab.search import SEARCH_STRATEGY, run_degraded_searches, run_searches, update_indexes
from ramify.lab.task import RESULTS, Row, Task, read_outcomes
from ramify.nodes.settings import AUTO, EMBEDDED, is_embedded
from ramify.studio.console.progress_bar import progress_bar
from ramify.studio.console.streams import err, note, say
from ramify.tools.errors import ModelError, RamifyError
from ramify.tools.quoting import one_line, pluralize

MAX_FAILURES = 3
"""Maximum number of failures printed; the report lists all."""
MAX_SCORES = 6
"""Maximum number of strategies whose score is shown beside the bar."""
LOG_INTERVAL_S = 60.0
"""Least time between two lines of progress where standard error is not a terminal."""


def run_evaluation(order: RunOptions) -> None:
    """Run an evaluation, from reading the data to the report."""
    check_extras()
    with progress_bar() as progress:
        datasets, variants = load_inputs(order, progress)
    for _, dataset in datasets:
        types = sorted({question.type for question in dataset.questions if question.type})
        summary = f" of {len(types)} types" if len(types) > 1 else ""
        note(f"{dataset.name}: {len(dataset.questions):,} questions{summary}" + "".join(f" · {caveat}" for caveat in dataset.caveats))
    plan = prepare_run(order, datasets, variants, note)
    tasks = pending_tasks(plan, order.out)
    finished = sum(1 for _ in plan.tasks()) - len(tasks)
    existing = f" ({finished:,} exist already)" if finished else ""
    max_calls = plan.max_model_calls(tasks)
    calls = "the maximum number of model calls is unknown" if max_calls is None else f"with at most {max_calls:,} model calls"
    note(f"{len(tasks):,} answers to compute{existing}, {calls}")
    with open_cluster(order, tasks) as cluster:
        if cluster:
            note(f"{cluster.description} answer")
        with progress_bar() as progress:
            update_indexes(plan, order, progress)
        run_searches(plan, order)
        with progress_bar() as progress:
            run_degraded_searches(plan, order, progress)
        check_indexes(tasks, cluster)
        try:
            with ScoreBar(tasks, cluster.workers if cluster else order.workers) as scores:
                blocking(run_tasks(tasks, plan, order, scores, scores.print_speed, cluster))
        except ModelError:
            if any(row["error"] is None and row["strategy"] != SEARCH_STRATEGY for row in read_outcomes(order.out / RESULTS).values()):
                write_and_print_report(order)
            raise
    write_and_print_report(order)


def check_extras() -> None:
    """Raise RamifyError if a package that reports need is not installed."""
    if find_spec("matplotlib") is None:
        raise RamifyError("matplotlib is not installed, which scores and reports need", "run `pip install 'ramify-rag[eval]'`")


def write_and_print_report(order: RunOptions) -> None:
    """Write the report and print its location; raise ModelError if no question could be answered."""
    rows = list(read_outcomes(order.out / RESULTS).values())
    answers = [row for row in rows if row["strategy"] != SEARCH_STRATEGY]
    write_report(order.out)
    failures = [row for row in answers if row["error"] is not None]
    for row in failures[:MAX_FAILURES]:
        note(f"failed: {row['key']}: {row['error']}")
    if failures:
        note(f"{len(failures):,} of {len(answers):,} failed; they count as wrong and are retried by the same command")
    strategies = pluralize(len({row["strategy"] for row in answers}), "strategy", "strategies")
    summary = f"{len(answers):,} answers of {strategies}" if answers else f"{len(rows):,} searches"
    say(one_line(f"{summary}: {order.out / 'report.html'}"))
    if answers and len(failures) == len(answers):
        raise ModelError(f"no question could be answered ({failures[0]['error']})", "check the model with `ramify doctor`")


class ScoreBar:
    """A progress bar with the scores so far on a terminal; elsewhere a line with them every LOG_INTERVAL_S seconds."""

    def __init__(self, tasks: list[Task], processes: int) -> None:
        columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[summary]}", markup=False))
        self._progress = Progress(*columns, console=err(), transient=True, disable=not err().is_terminal)
        self._bar = self._progress.add_task("answering", total=len(tasks), summary="")
        self._estimate = TimeEstimate([task.variant for task in tasks], time.monotonic, processes)
        self._total = len(tasks)
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._last_line = time.monotonic()

    def __enter__(self) -> "ScoreBar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, row: Row) -> None:
        """Process a row of results."""
        self._estimate.add(row)
        if not row["variant"] and row["em"] is not None:
            self._scores[row["strategy"]].append(row["em"])
        remaining = self._estimate.remaining_seconds()
        summary = [f"{format_duration(remaining)} to go"] if remaining is not None else []
        scores = list(self._scores.items())[:MAX_SCORES]
        summary += [f"EM {name} {sum(values) / len(values):.2f}" for name, values in scores]
        self._progress.update(self._bar, completed=self._estimate.done, summary=" · ".join(summary))
        if self._progress.disable and time.monotonic() - self._last_line >= LOG_INTERVAL_S:
            self._last_line = time.monotonic()
            note(" · ".join([f"{self._estimate.done:,} of {self._total:,} answers", *summary]))

    def print_speed(self) -> None:
        """Print the estimated remaining time, measured on the first answers."""
        each, remaining = self._estimate.seconds_per_answer, self._estimate.remaining_seconds()
        if each is not None and remaining is not None and self._estimate.done < self._total:
            summary = f"{each:.2g} s an answer, measured on the first {self._estimate.done}: about {format_duration(remaining)} to go"
            self._progress.console.print(Text(one_line(summary), style="dim"), soft_wrap=True)


def format_duration(seconds: float) -> str:
    """Format a duration."""
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def run_reproduction(
    paper: Paper, orders: Sequence[RunOptions], folder: Path, judged_by: Mapping[str, Any] | None = None, repeats: int = DEFAULT_REPEATS
) -> None:
    """Run all runs of a paper, and write one page on it; finished runs, graphs and verdicts are not repeated.

    `judged_by` are the options of the judge's calls; without a model among them, the answering model is the judge.
    """
    check_extras()
    note(f"{paper.title}: {paper.about}")
    plans = [_prepare_run(drop_missing_levels(order, read_graphs(folder))) for order in orders]
    model = next((plan.variants[0].options.get("model", EMBEDDED) for plan in plans if plan.variants), EMBEDDED)
    judge_options = {**orders[0].options, "model": model, **({"adapter": AUTO, **judged_by} if judged_by else {})}
    judge_options = {name: judge_options[name] for name in MODEL_OPTIONS if name in judge_options} if paper.conditions else {}
    uses_judge = bool(judge_options) and not is_embedded(judge_options["model"])
    _print_other_work(paper, plans, uses_judge, repeats)
    if paper.builds:
        orders = _build_graphs(paper, orders, folder, model)
    for order in orders:
        run_evaluation(order)
    verdicts = None
    if uses_judge:
        pairs = list_answer_pairs(paper, read_reproduction(folder, paper))
        note(f"{len(pairs):,} pairs of answers are judged {repeats} times; verdicts are stored in {folder / VERDICTS_FILE}")
        with progress_bar() as progress:
            verdicts = judge_pairs(pairs, judge_options, folder / VERDICTS_FILE, repeats, progress)
    write_reproduction(folder, paper, verdicts)
    say(one_line(f"{paper.title}: {folder / 'report.html'}"))


def _prepare_run(order: RunOptions) -> RunPlan:
    """Check a run before any model call, print its maximum cost, and return its plan."""
    datasets, variants = load_inputs(order)
    plan = prepare_run(order, datasets, variants)
    questions = sum(len(dataset.questions) for _, dataset in datasets)
    tasks = pending_tasks(plan, order.out)
    max_calls = plan.max_model_calls(tasks)
    calls = "model calls not bounded" if max_calls is None else f"at most {max_calls:,} model calls"
    summary = (
        f"{', '.join(order.strategies)} in {pluralize(len(variants), 'variant')}, {len(tasks):,} answers, {calls}"
        if variants
        else "searches only, no model is asked"
    )
    note(f"run {order.out.name}: {pluralize(questions, 'question')}, {summary}")
    return plan


def _print_other_work(paper: Paper, plans: Sequence[RunPlan], uses_judge: bool, repeats: int) -> None:
    """Print what is done besides the runs, and what is left out."""
    if uses_judge:
        count = len(paper.conditions)
        questions = sum(len(source.dataset.questions) for source in plans[0].sources)
        max_calls = questions * repeats * count * (count - 1) // 2
        note(f"judge: at most {max_calls:,} verdicts, each a model call, on all pairs of {count} conditions")
    elif paper.conditions:
        note("no win rates: the embedded model cannot judge; choose a language model with --judge NAME")
    for name in paper.missing:
        note(f"left out: {name}, no such strategy is registered")
    for summary in paper.left_out:
        note(f"not done: {summary}")


def _build_graphs(paper: Paper, orders: Sequence[RunOptions], folder: Path, model: Any) -> list[RunOptions]:
    """Build the graphs, and return the runs with the levels that exist in the graph, and with its build options."""
    first = next(order for order in orders if "graph" in order.kinds)
    builds = graph_build_settings(paper.builds, model, first.options)
    if len(builds) > 1:
        summary = f"{len(builds)} graphs are built by the model, whose calls are not in these numbers"
        note(f"{summary}: `ramify index --kind graph --estimate` estimates them")
    first = first.model_copy(update={"build": builds[0]})
    plan = prepare_run(first, *load_inputs(first))
    with progress_bar() as progress:
        update_indexes(plan, first, progress)
        lines = count_graphs(plan, builds, folder, progress)
    fitted = drop_missing_levels(first, lines)
    for level in first.sweeps.get(LEVEL_SETTING, ()):
        if level not in fitted.sweeps[LEVEL_SETTING]:
            note(f"left out: C{level}, the graph has no such level")
    return [fitted if order.out == first.out else order for order in orders]
