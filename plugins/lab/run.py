"""The stages of a run: validate everything, build indexes, then answer the questions."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ramify.lab._variants import Variant
from ramify.lab.answering import answer_tasks
from ramify.lab.dataset import Dataset
from ramify.lab.load import load_dataset
from ramify.lab.load.own_questions import load_own_questions
from ramify.lab.plan import RunOptions, RunPlan, list_variants, prepare_run
from ramify.lab.search import list_search_methods, run_degraded_searches, run_searches, update_indexes
from ramify.lab.task import RESULTS, ResultLog, Row, RowCallback, Task, iter_rows, read_outcomes, read_rows, task_fields
from ramify.stores.ray_cluster import Cluster, check_machines, join_cluster
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.index.progress import Progress, ignore_progress

MAX_CONSECUTIVE_FAILURES = 10
"""Number of consecutive failures, each without any branch, after which a run stops."""


def load_inputs(options: RunOptions, progress: Progress = ignore_progress) -> tuple[list[tuple[str, Dataset]], list[Variant]]:
    """Load the data sets and list the variants, before any cost; UsageError or InputError if either is invalid."""
    variants = list_variants(options)
    list_search_methods(options)  # raises for invalid values before any data are read
    datasets = [(path, load_dataset(path, options.work, retrieval_only=options.retrieval_only)) for path in options.datasets]
    if options.questions is not None and options.index is not None:
        own_dataset = load_own_questions(options.index, options.questions, retrieval_only=options.retrieval_only, progress=progress)
        datasets = [(str(options.questions), own_dataset)]
    datasets = [(path, loaded.model_copy(update={"questions": loaded.questions[: options.limit]})) for path, loaded in datasets]
    if repeated := [name for name, count in Counter(dataset.name for _, dataset in datasets).items() if count > 1]:
        raise UsageError(f"two data sets have the name {repeated[0]!r}", "give each once, or rename a folder")
    return datasets, variants


def pending_tasks(plan: RunPlan, out: Path) -> list[Task]:
    """Return the tasks without a result, followed by those that failed."""
    outcomes = read_outcomes(out / RESULTS)
    tasks = [task for task in plan.tasks() if task.key not in outcomes or outcomes[task.key]["error"] is not None]
    return sorted(tasks, key=lambda task: task.key in outcomes)


def open_cluster(options: RunOptions, tasks: Sequence[Task]) -> AbstractContextManager[Cluster | None]:
    """Return a context manager that joins the Ray cluster; its value is None without a cluster or tasks."""
    return nullcontext() if options.ray is None or not tasks else join_cluster(options.ray)


def check_indexes(tasks: Sequence[Task], cluster: Cluster | None) -> None:
    """Raise RamifyError if a machine of the cluster cannot read the indexes. Blocking."""
    if cluster is not None:
        check_machines({task.index for task in tasks if Path(task.index).exists()})


async def run_tasks(
    tasks: list[Task],
    plan: RunPlan,
    options: RunOptions,
    on_row: RowCallback,
    on_pilot_done: Callable[[], None] = lambda: None,
    cluster: Cluster | None = None,
) -> None:
    """Answer the tasks and write each row as it comes; ModelError after too many consecutive failures.

    `on_pilot_done` is called when the first few answers have measured the speed.
    """
    failures = 0
    with ResultLog(options.out / RESULTS) as log:
        copy_duplicates(plan, log, options.out)

        def done(task: Task, row: Row) -> None:
            log.write([row, *({**row, **task_fields(duplicate)} for duplicate in plan.duplicates(task))])
            on_row(row)
            nonlocal failures  # a failure after the tree has branches shows that the model works
            failures = failures + 1 if row["error"] is not None and len(row["tree"]) <= 1 else 0
            if failures == MAX_CONSECUTIVE_FAILURES:
                what = f"{MAX_CONSECUTIVE_FAILURES} questions failed one after another ({str(row['error']).partition(' — ')[0]})"
                raise ModelError(what, "check the model with `ramify doctor`, then run the command again: it resumes where it stopped")

        if tasks:
            await answer_tasks(tasks, done, options.at_once, options.workers, on_pilot_done, cluster)


def copy_duplicates(plan: RunPlan, log: ResultLog, out: Path) -> None:
    """Copy existing answers to the rows of sweep values that equal the default."""
    finished = {key for key, row in read_outcomes(out / RESULTS).items() if row["error"] is None}
    duplicates = {
        task.key: [duplicate for duplicate in plan.duplicates(task) if duplicate.key not in finished]
        for task in plan.tasks()
        if task.key in finished
    }
    if any(duplicates.values()):
        rows = {row["key"]: row for row in iter_rows(out / RESULTS) if duplicates.get(row["key"])}
        for key, row in rows.items():
            log.write({**row, **task_fields(duplicate)} for duplicate in duplicates[key])


def execute(options: RunOptions, on_row: RowCallback = lambda row: None) -> list[Row]:
    """Execute a whole run and return its rows. Blocking."""
    plan = prepare_run(options, *load_inputs(options))
    tasks = pending_tasks(plan, options.out)
    with open_cluster(options, tasks) as cluster:
        update_indexes(plan, options)
        run_searches(plan, options)
        run_degraded_searches(plan, options)
        check_indexes(tasks, cluster)
        asyncio.run(run_tasks(tasks, plan, options, on_row, cluster=cluster))
    return read_rows(options.out / RESULTS)
