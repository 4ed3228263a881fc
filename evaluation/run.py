"""The stages of a run: check everything, index, then ask."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ramify.evaluation.answering import run
from ramify.evaluation.dataset import Dataset
from ramify.evaluation.load import load
from ramify.evaluation.load.own_questions import load_own
from ramify.evaluation.plan import Order, RunPlan, prepare, variants_of
from ramify.evaluation.search import degrade, index, search, ways_of
from ramify.evaluation.task import RESULTS, Log, Row, Task, Watch, iter_rows, read_outcomes, read_rows, task_fields
from ramify.evaluation.variants import Variant
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.ray_cluster import Cluster, check_machines, join_cluster

IN_A_ROW = 10
"""Consecutive failures, each before its tree grew, until a run gives up."""


def load_inputs(order: Order, progress: Progress = ignore_progress) -> tuple[list[tuple[str, Dataset]], list[Variant]]:
    """Load the data sets and list the variants, before any cost; UsageError or InputError if either is invalid."""
    wanted = variants_of(order)
    ways_of(order)  # a bad value is told before anything is read
    datasets = [(path, load(path, order.work, retrieval_only=order.retrieval_only)) for path in order.datasets]
    if order.questions is not None and order.index is not None:
        own = load_own(order.index, order.questions, retrieval_only=order.retrieval_only, progress=progress)
        datasets = [(str(order.questions), own)]
    datasets = [(path, whole.model_copy(update={"questions": whole.questions[: order.limit]})) for path, whole in datasets]
    if twice := [name for name, count in Counter(dataset.name for _, dataset in datasets).items() if count > 1]:
        raise UsageError(f"two data sets are called {twice[0]!r}", "give each once, or rename a folder")
    return datasets, wanted


def pending_tasks(plan: RunPlan, out: Path) -> list[Task]:
    """Return the tasks without a line, then those that failed."""
    known = read_outcomes(out / RESULTS)
    tasks = [task for task in plan.tasks() if task.key not in known or known[task.key]["error"] is not None]
    return sorted(tasks, key=lambda task: task.key in known)


def cluster_for(order: Order, tasks: Sequence[Task]) -> AbstractContextManager[Cluster | None]:
    """Join the Ray cluster for a block; None without a cluster or tasks."""
    return nullcontext() if order.ray is None or not tasks else join_cluster(order.ray)


def check_indexes(tasks: Sequence[Task], cluster: Cluster | None) -> None:
    """Check that every machine of a cluster sees the indexes; RamifyError if not. Blocking."""
    if cluster is not None:
        check_machines({task.index for task in tasks if Path(task.index).exists()})


async def ask(
    tasks: list[Task],
    plan: RunPlan,
    order: Order,
    watch: Watch,
    measured: Callable[[], None] = lambda: None,
    cluster: Cluster | None = None,
) -> None:
    """Answer the tasks and write each line as it comes; ModelError after too many consecutive failures.

    `measured` is called after a first few have measured the speed.
    """
    failures = 0
    with Log(order.out / RESULTS) as log:
        copy_duplicates(plan, log, order.out)

        def done(task: Task, row: Row) -> None:
            log.write([row, *({**row, **task_fields(twin)} for twin in plan.duplicates(task))])
            watch(row)
            nonlocal failures  # a question that failed after its tree had grown shows that the model does answer
            failures = failures + 1 if row["error"] is not None and len(row["tree"]) <= 1 else 0
            if failures == IN_A_ROW:
                what = f"{IN_A_ROW} questions failed one after another ({str(row['error']).partition(' — ')[0]})"
                raise ModelError(
                    what, "see that the model answers (`ramify doctor`), then run the command again: it goes on where it stopped"
                )

        if tasks:
            await run(tasks, done, order.at_once, order.workers, measured, cluster)


def copy_duplicates(plan: RunPlan, log: Log, out: Path) -> None:
    """Copy existing answers to the lines of sweep values that equal the default."""
    finished = {key for key, row in read_outcomes(out / RESULTS).items() if row["error"] is None}
    twins = {
        task.key: [twin for twin in plan.duplicates(task) if twin.key not in finished] for task in plan.tasks() if task.key in finished
    }
    if any(twins.values()):
        rows = {row["key"]: row for row in iter_rows(out / RESULTS) if twins.get(row["key"])}
        for key, row in rows.items():
            log.write({**row, **task_fields(twin)} for twin in twins[key])


def execute(order: Order, watch: Watch = lambda row: None) -> list[Row]:
    """Execute a whole run and return its lines. Blocking."""
    plan = prepare(order, *load_inputs(order))
    tasks = pending_tasks(plan, order.out)
    with cluster_for(order, tasks) as cluster:
        index(plan, order)
        search(plan, order)
        degrade(plan, order)
        check_indexes(tasks, cluster)
        asyncio.run(ask(tasks, plan, order, watch, cluster=cluster))
    return read_rows(order.out / RESULTS)
