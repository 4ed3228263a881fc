"""A run from its order to its lines: look at everything first, index, then ask."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ramify.evaluation.asking import Task, head
from ramify.evaluation.dataset import Dataset
from ramify.evaluation.degrading import degrade
from ramify.evaluation.giving_up import Patience
from ramify.evaluation.index_building import bring
from ramify.evaluation.index_kinds import HIERARCHY, written
from ramify.evaluation.load import load
from ramify.evaluation.manifest import describe, file_of, reader_of, write_manifest
from ramify.evaluation.models import with_models
from ramify.evaluation.order import Order, variants_of
from ramify.evaluation.plan import Plan, Source
from ramify.evaluation.results_log import Log
from ramify.evaluation.rows import RESULTS, Row, each_row, outlines, read_rows
from ramify.evaluation.runner import run
from ramify.evaluation.searching import search_all, ways_left, ways_of
from ramify.evaluation.variants import Variant
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.location import home_of, is_address
from ramify.tools.index.manifest import file_sha256
from ramify.tools.index.progress import Progress, silent
from ramify.tools.ray.cluster import Cluster, joined
from ramify.tools.ray.machines import check_machines

Watch = Callable[[Row], None]
Tell = Callable[[str], None]
CHUNK_TOKENS = {"document": 300, "fact": 256}
"""Length of passages: the toolkit's own, and MultiHop-RAG's."""


def unheard(text: str) -> None:
    """Tell nobody."""


def look(order: Order) -> tuple[list[tuple[str, Dataset]], list[Variant]]:
    """Read the data sets and list the variants, before anything is spent; UsageError or InputError for what is wrong with either."""
    wanted = variants_of(order)
    ways_of(order)  # a bad value is told before anything is read
    datasets = [(path, _limited(load(path, order.work, retrieval_only=order.retrieval_only), order.limit)) for path in order.datasets]
    if twice := [name for name, count in Counter(dataset.name for _, dataset in datasets).items() if count > 1]:
        raise UsageError(f"two data sets are called {twice[0]!r}", "give each once, or rename a folder")
    return datasets, wanted


def _limited(dataset: Dataset, limit: int | None) -> Dataset:
    return dataset.model_copy(update={"questions": dataset.questions[:limit]})


def prepare(order: Order, datasets: list[tuple[str, Dataset]], wanted: list[Variant], tell: Tell = unheard) -> Plan:
    """Look the models up, and note down in the run's folder what it is.

    ModelError where a model is missing, UsageError where the folder holds a run of another configuration.
    """
    wanted, model = with_models(wanted, tell)
    facts = order.model_dump(include={"seed", "sample", "limit", "embedding", "retrieval_only"})
    base = {name: value for name, value in order.options.items() if name != "model"}
    told = {
        **facts,
        **({"index_kinds": order.kinds} if order.index_kinds is not None else {}),
        **({"label": list(order.label)} if order.label else {}),
        **({"index": home_of(order.index).where} if order.index else {}),
        **({"group_by": list(order.group_by)} if HIERARCHY in order.kinds else {}),
        "model": model,
        "reader": reader_of(model),
        "model_file": file_of(model),
        "base": base,
        "concurrency": order.at_once,
        "workers": order.workers,
        **({"ray": order.ray} if order.ray is not None else {}),
    }
    write_manifest(order.out, describe(datasets, wanted, **told))
    sources = [
        Source(path, dataset, _place(dataset, order, order.label), Path(_place(dataset, order)), order.group_by)
        for path, dataset in datasets
    ]
    return Plan(sources, wanted, order.seed, order.sample)


def _place(dataset: Dataset, order: Order, label: Sequence[str] = ()) -> str:
    name = written(order.embedding)
    digest = "".join(file_sha256(path)[:12] for path in dataset.documents)
    labelled = "".join(f"-{written(field)}" for field in label)
    called = f"{dataset.name}-{digest}-{name}-{CHUNK_TOKENS[dataset.hits_by]}{labelled}"
    if order.index is not None and is_address(order.index):
        return f"{order.index.rstrip(':')}:{written(called)[-100:]}"
    return str((order.work / "indexes" if order.index is None else Path(order.index).expanduser()) / called)


def index(plan: Plan, order: Order, progress: Progress = silent) -> None:
    """Bring each data set's index up to date, in every kind that is wanted."""
    for source in plan.sources:
        wanted = {**({str(source.bare): ()} if order.degrade else {}), source.place: order.label}
        for place, label in wanted.items():
            chunk_tokens, documents = CHUNK_TOKENS[source.dataset.hits_by], list(source.dataset.documents)
            Index.build(
                documents, place, order.embedding, chunk_tokens=chunk_tokens, label=label, progress=progress, ray=order.ray
            )  # fmt: skip
        for kind in order.kinds:
            bring(source.folder, kind, source.group_by, progress)


def left(plan: Plan, out: Path) -> list[Task]:
    """List the tasks that have no line yet, and after them those whose line says that they failed."""
    known = outlines(out / RESULTS)
    tasks = [task for task in plan.tasks() if task.key not in known or known[task.key]["error"] is not None]
    return sorted(tasks, key=lambda task: task.key in known)


def search(plan: Plan, order: Order, watch: Watch) -> None:
    """Write the lines of searching alone that are not there yet; blocking."""
    ways = ways_of(order)
    with Log(order.out / RESULTS) as log:
        known = outlines(order.out / RESULTS)
        for source in plan.sources:
            if missing := ways_left(source, ways, known):
                fresh = [row for row in search_all(plan, source, missing) if row["key"] not in known]
                log.write(fresh)
                for row in fresh:
                    watch(row)


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
