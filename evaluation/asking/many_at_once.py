"""Run tasks many at once, in this process, in several beside it, or on a Ray cluster, and hand each line over as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from ramify.evaluation.asking.one_question import Task, answer, failed
from ramify.evaluation.asking.worker_processes import process
from ramify.evaluation.rows import Row
from ramify.tools.ray.cluster import AHEAD as AHEAD_ON_RAY
from ramify.tools.ray.cluster import Cluster, LostError, plainly

Batch = Sequence[Task]
Ask = Callable[[Batch], Awaitable[list[Row]]]
Done = Callable[[Task, Row], None]
UnderWay = dict[asyncio.Future[list[Row]], Batch]
PILOT = 8
"""Tasks, at the least, that show the speed; a quarter of all in a short run."""
AHEAD = 64
"""Tasks that wait for a process, so that none is idle while others have several questions."""


class Crew(NamedTuple):
    """How tasks are handed out."""

    processes: int
    """Each loads what it needs."""
    at_once: int
    """Questions that are asked at the same time."""
    under_way: int
    """Batches handed out at a time."""
    batches: Callable[[Sequence[Task]], list[Batch]]
    ask: Ask


async def run(
    tasks: Sequence[Task], done: Done, at_once: int, workers: int = 1, measured: Callable[[], None] = lambda: None,
    cluster: Cluster | None = None,
) -> None:  # fmt: skip
    """Answer tasks, `at_once` under way, in `workers` processes or on a cluster; an interruption loses at most those under way.

    A few come first, and `measured` is called when they are done: they show how fast the others will go.
    """
    under_way: UnderWay = {}
    try:
        with crew(at_once, workers, cluster) as those:
            first, pilot, rest = in_parts(tasks, those.at_once, those.processes)
            await _run(first, done, those, under_way)
            await _run(pilot, done, those, under_way)
            measured()
            await _run(rest, done, those, under_way)
    finally:  # after the processes: one that ends gives each task that waits for it an error, which a cancelled one cannot take
        for future in under_way:
            future.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def in_parts(tasks: Sequence[Task], at_once: int, processes: int) -> tuple[list[Task], list[Task], list[Task]]:
    """Part tasks: one of each strategy for each process, which waits for what it loads; some that show the speed; and all others.

    A question that was just asked in another variant says nothing about the speed: the embedded model keeps what it has read.
    """
    wanted = min(max(PILOT, 2 * at_once, 2 * len({task.variant.strategy for task in tasks})), len(tasks) // 4)
    first: dict[tuple[str, int], Task] = {}
    pilot: dict[tuple[str, str], Task] = {}
    for task in tasks:
        strategy, question = task.variant.strategy, task.question.id
        if first.setdefault((strategy, place(task, processes)), task).question.id != question and len(pilot) < wanted:
            pilot.setdefault((strategy, question), task)
    early = {task.key for task in (*first.values(), *pilot.values())}
    return [*first.values()], [*pilot.values()], [task for task in tasks if task.key not in early]


async def _run(tasks: Sequence[Task], done: Done, those: Crew, under_way: UnderWay) -> None:
    for batch in those.batches(tasks):
        under_way[asyncio.ensure_future(those.ask(batch))] = batch
        if len(under_way) >= those.under_way:
            await _next(under_way, done)
    while under_way:
        await _next(under_way, done)


async def _next(under_way: UnderWay, done: Done) -> None:
    finished, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    for future in finished:
        for task, row in zip(under_way.pop(future), future.result(), strict=True):
            done(task, row)


@contextmanager
def crew(at_once: int, workers: int, cluster: Cluster | None) -> Iterator[Crew]:
    """Gather those who answer."""
    if cluster is not None:
        yield Crew(cluster.workers, cluster.workers, AHEAD_ON_RAY * cluster.workers, by_question, _on(cluster))
    elif workers == 1:
        yield Crew(1, at_once, at_once, one_by_one, _here)
    else:
        with ExitStack() as stack:
            pools = [stack.enter_context(process(workers)) for _ in range(workers)]
            yield Crew(workers, workers, AHEAD * workers, one_by_one, _shared(pools))


def place(task: Task, processes: int) -> int:
    """Name the process that a question is asked in."""
    return crc32(task.question.id.encode()) % processes


def one_by_one(tasks: Sequence[Task]) -> list[Batch]:
    """Make each task a batch of its own."""
    return [[task] for task in tasks]


def by_question(tasks: Sequence[Task]) -> list[Batch]:
    """Put all variants of a question together: they read much the same passages, which whoever answers keeps."""
    return [list(found) for _, found in groupby(tasks, lambda task: (task.dataset, task.question.id))]


async def _here(batch: Batch) -> list[Row]:
    return [await answer(task) for task in batch]


def _shared(pools: list[ProcessPoolExecutor]) -> Ask:
    """Share tasks among processes: one answers all variants of a question."""

    async def ask(batch: Batch) -> list[Row]:
        pool = pools[place(batch[0], len(pools))]
        return await asyncio.get_running_loop().run_in_executor(pool, _there, batch)

    return ask


def _on(cluster: Cluster) -> Ask:
    """Give batches to whichever worker of a cluster is free; one that no worker survives has failed, and the run goes on."""

    async def ask(batch: Batch) -> list[Row]:
        try:
            with plainly("answering it"):
                return await asyncio.wrap_future(cluster.submit(_there, batch))
        except LostError as error:
            return [failed(task, str(error)) for task in batch]

    return ask


def _there(batch: Batch) -> list[Row]:
    """Answer in a process of its own."""
    return asyncio.run(_here(batch))
