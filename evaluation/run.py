"""A run from its order to its lines: look at everything first, index, then ask."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ramify.evaluation.asking.many_at_once import run
from ramify.evaluation.asking.one_question import Task, head
from ramify.evaluation.dataset import Dataset
from ramify.evaluation.indexing import index
from ramify.evaluation.load import load
from ramify.evaluation.order import Order, variants_of
from ramify.evaluation.plan import Plan, prepare
from ramify.evaluation.rows import RESULTS, Log, Row, Watch, each_row, outlines, read_rows
from ramify.evaluation.searching.degraded_search import degrade
from ramify.evaluation.searching.search_variants import search, ways_of
from ramify.evaluation.variants import Variant
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.ray.cluster import Cluster, joined
from ramify.tools.ray.machines import check_machines

IN_A_ROW = 10
"""Questions that fail one after another, each before anything has come of it, until a run gives up."""


def look(order: Order) -> tuple[list[tuple[str, Dataset]], list[Variant]]:
    """Read the data sets and list the variants, before anything is spent; UsageError or InputError for what is wrong with either."""
    wanted = variants_of(order)
    ways_of(order)  # a bad value is told before anything is read
    datasets = []
    for path in order.datasets:
        whole = load(path, order.work, retrieval_only=order.retrieval_only)
        datasets.append((path, whole.model_copy(update={"questions": whole.questions[: order.limit]})))
    if twice := [name for name, count in Counter(dataset.name for _, dataset in datasets).items() if count > 1]:
        raise UsageError(f"two data sets are called {twice[0]!r}", "give each once, or rename a folder")
    return datasets, wanted


def left(plan: Plan, out: Path) -> list[Task]:
    """List the tasks that have no line yet, and after them those whose line says that they failed."""
    known = outlines(out / RESULTS)
    tasks = [task for task in plan.tasks() if task.key not in known or known[task.key]["error"] is not None]
    return sorted(tasks, key=lambda task: task.key in known)


@contextmanager
def joining(order: Order, tasks: Sequence[Task]) -> Iterator[Cluster | None]:
    """Be with the cluster that is to ask some tasks, for as long as the block runs; none where there is nothing to ask, or no cluster."""
    if order.ray is None or not tasks:
        yield None
        return
    with joined(order.ray) as cluster:
        yield cluster


def see_indexes(tasks: Sequence[Task], cluster: Cluster | None) -> None:
    """Look whether every machine of a cluster sees what is to be searched; RamifyError where one does not. Blocking."""
    if cluster is not None:
        check_machines({task.index for task in tasks if Path(task.index).exists()})


class Patience:
    """Watch lines; ModelError where nothing is answered any more: such a model is not asked two thousand times."""

    def __init__(self) -> None:
        self._failed = 0

    def see(self, row: Row) -> None:
        """Count failures in a row; a question that failed after its tree had begun to grow shows that the model does answer."""
        self._failed = self._failed + 1 if row["error"] is not None and len(row["tree"]) <= 1 else 0
        if self._failed == IN_A_ROW:
            what = f"{IN_A_ROW} questions failed one after another ({str(row['error']).partition(' — ')[0]})"
            raise ModelError(what, "see that the model answers (`ramify doctor`), then run the command again: it goes on where it stopped")


async def ask(
    tasks: list[Task], plan: Plan, order: Order, watch: Watch, measured: Callable[[], None] = lambda: None, cluster: Cluster | None = None
) -> None:
    """Answer the tasks, and write each line as it comes; ModelError where one question after another fails from the first call on.

    `measured` is called once a few of them have shown the speed, before the others are begun.
    """
    patience = Patience()
    with Log(order.out / RESULTS) as log:
        repeat(plan, log, order.out)

        def done(task: Task, row: Row) -> None:
            log.write([row, *({**row, **head(twin)} for twin in plan.twins(task))])
            watch(row)
            patience.see(row)

        if tasks:
            await run(tasks, done, order.at_once, order.workers, measured, cluster)


def repeat(plan: Plan, log: Log, out: Path) -> None:
    """Write the lines of a sweep's value that is the default, for what has been answered before the sweep was wanted."""
    finished = {key for key, row in outlines(out / RESULTS).items() if row["error"] is None}
    twins = {task.key: [twin for twin in plan.twins(task) if twin.key not in finished] for task in plan.tasks() if task.key in finished}
    if any(twins.values()):
        rows = {row["key"]: row for row in each_row(out / RESULTS) if twins.get(row["key"])}
        for key, row in rows.items():
            log.write({**row, **head(twin)} for twin in twins[key])


def execute(order: Order, watch: Watch = lambda row: None) -> list[Row]:
    """Do all of a run and give its lines, from synchronous code."""
    plan = prepare(order, *look(order))
    tasks = left(plan, order.out)
    with joining(order, tasks) as cluster:
        index(plan, order)
        search(plan, order, watch)
        degrade(plan, order)
        see_indexes(tasks, cluster)
        asyncio.run(ask(tasks, plan, order, watch, cluster=cluster))
    return read_rows(order.out / RESULTS)
