"""A run on the command line: what was found, what it can cost, how far it is, and where the report lies."""

import asyncio
from importlib.util import find_spec

from ramify.evaluation.dataset import Dataset
from ramify.evaluation.degrading import degrade
from ramify.evaluation.order import Order
from ramify.evaluation.report import write_report
from ramify.evaluation.rows import RESULTS, Row, outlines
from ramify.evaluation.run import ask, index, joining, left, look, prepare, search, see_indexes
from ramify.evaluation.searching import SEARCH
from ramify.studio.console.eval_bar import Watching
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, one_line, out
from ramify.tools.errors import ModelError, RamifyError

LISTED = 3
"""Failures that are named here; the report lists them all."""


def evaluating(order: Order) -> None:
    """Run an order from its look at the data to its report."""
    if missing := [name for name in ("ir_measures", "matplotlib") if find_spec(name) is None]:
        raise RamifyError(f"{missing[0]} is not installed, which scores and reports need", "run `pip install 'ramify-rag[eval]'`")
    datasets, wanted = look(order)
    for _, dataset in datasets:
        note(found(dataset))
    plan = prepare(order, datasets, wanted, note)
    tasks = left(plan, order.out)
    finished = sum(1 for _ in plan.tasks()) - len(tasks)
    there = f" ({finished:,} are there already)" if finished else ""
    note(f"{len(tasks):,} answers to give{there}, with at most {plan.most_calls(tasks):,} model calls")
    with joining(order, tasks) as cluster:
        if cluster:
            note(f"{cluster.told} answer")
        with bar() as progress:
            index(plan, order, progress)
        search(plan, order, lambda row: None)
        with bar() as progress:
            degrade(plan, order, progress)
        see_indexes(tasks, cluster)
        try:
            with Watching(tasks, cluster.workers if cluster else order.workers) as watching:
                asyncio.run(ask(tasks, plan, order, watching, watching.tell_speed, cluster))
        except ModelError:
            if any(row["error"] is None and row["strategy"] != SEARCH for row in outlines(order.out / RESULTS).values()):
                finish(order)
            raise
    finish(order)


def found(dataset: Dataset) -> str:
    """Say what a data set holds."""
    types = sorted({question.type for question in dataset.questions if question.type})
    told = f" of {len(types)} types" if len(types) > 1 else ""
    return f"{dataset.name}: {len(dataset.questions):,} questions{told}" + "".join(f" · {caveat}" for caveat in dataset.caveats)


def finish(order: Order) -> None:
    """Write the report and say where it is; ModelError where not one question could be answered."""
    rows = list(outlines(order.out / RESULTS).values())
    asked = [row for row in rows if row["strategy"] != SEARCH]
    write_report(order.out)
    failures = [row for row in asked if row["error"] is not None]
    _name(failures, asked)
    strategies = len({row["strategy"] for row in asked})
    told = (
        f"{len(asked):,} answers of {strategies} {'strategy' if strategies == 1 else 'strategies'}" if asked else f"{len(rows):,} searches"
    )
    out().print(one_line(f"{told}: {order.out / 'report.html'}"), soft_wrap=True, markup=False)
    if asked and len(failures) == len(asked):
        raise ModelError(f"no question could be answered ({failures[0]['error']})", "see that the model answers: `ramify doctor`")


def _name(failures: list[Row], asked: list[Row]) -> None:
    for row in failures[:LISTED]:
        note(f"failed: {row['key']}: {row['error']}")
    if failures:
        note(f"{len(failures):,} of {len(asked):,} failed; they count as wrong, and the same command tries them again")
