"""Run tasks many at once, whoever answers them, and hand each line over as it comes."""

import asyncio
from collections.abc import Callable, Sequence

from ramify.evaluation.answerers import Batch, Crew, crew, place
from ramify.evaluation.asking import Task
from ramify.evaluation.rows import Row
from ramify.tools.ray.cluster import Cluster

Done = Callable[[Task, Row], None]
UnderWay = dict[asyncio.Future[list[Row]], Batch]
PILOT = 8
"""Tasks, at the least, that show the speed; a quarter of all in a short run."""


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
