"""Run tasks many at once, in this process or in several, and hand each line over as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from zlib import crc32

from ramify.evaluation.asking import Task, answer
from ramify.evaluation.rows import Row
from ramify.evaluation.workers import process

Done = Callable[[Task, Row], None]
Answer = Callable[[Task], Awaitable[Row]]
UnderWay = dict[asyncio.Future[Row], Task]
AHEAD = 64
"""Tasks that wait for a worker, so that none is idle while others have several questions."""
PILOT = 8
"""Tasks, at the least, that show the speed; a quarter of all in a short run."""


async def run(tasks: Sequence[Task], done: Done, at_once: int, workers: int = 1, measured: Callable[[], None] = lambda: None) -> None:
    """Answer tasks, `at_once` under way, in `workers` processes; an interruption loses at most those under way.

    A few come first, and `measured` is called when they are done: they show how fast the others will go.
    """
    first, pilot, rest = in_parts(tasks, at_once, workers)
    under = at_once if workers == 1 else AHEAD * workers
    under_way: UnderWay = {}
    try:
        with ExitStack() as stack:
            pools = [stack.enter_context(process(workers)) for _ in range(workers)] if workers > 1 else []
            ask = _shared(pools) if pools else answer
            await _run(first, done, under, ask, under_way)
            await _run(pilot, done, under, ask, under_way)
            measured()
            await _run(rest, done, under, ask, under_way)
    finally:  # after the processes: one that ends gives each task that waits for it an error, which a cancelled one cannot take
        for future in under_way:
            future.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def in_parts(tasks: Sequence[Task], at_once: int, workers: int) -> tuple[list[Task], list[Task], list[Task]]:
    """Part tasks: one of each strategy for each process, which waits for what it loads; some that show the speed; and all others.

    A question that was just asked in another variant says nothing about the speed: the embedded model keeps what it has read.
    """
    together = at_once if workers == 1 else workers
    wanted = min(max(PILOT, 2 * together, 2 * len({task.variant.strategy for task in tasks})), len(tasks) // 4)
    first: dict[tuple[str, int], Task] = {}
    pilot: dict[tuple[str, str], Task] = {}
    for task in tasks:
        strategy, question = task.variant.strategy, task.question.id
        if first.setdefault((strategy, _place(task, workers)), task).question.id != question and len(pilot) < wanted:
            pilot.setdefault((strategy, question), task)
    early = {task.key for task in (*first.values(), *pilot.values())}
    return [*first.values()], [*pilot.values()], [task for task in tasks if task.key not in early]


def _shared(pools: list[ProcessPoolExecutor]) -> Answer:
    """Share tasks among processes: one answers all variants of a question, because they read much the same passages, which it keeps."""
    loop = asyncio.get_running_loop()
    return lambda task: loop.run_in_executor(pools[_place(task, len(pools))], _answer, task)


def _place(task: Task, workers: int) -> int:
    return crc32(task.question.id.encode()) % workers


async def _run(tasks: Iterable[Task], done: Done, at_once: int, ask: Answer, under_way: UnderWay) -> None:
    for task in tasks:
        under_way[asyncio.ensure_future(ask(task))] = task
        if len(under_way) >= at_once:
            await _next(under_way, done)
    while under_way:
        await _next(under_way, done)


async def _next(under_way: UnderWay, done: Done) -> None:
    finished, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    for future in finished:
        done(under_way.pop(future), future.result())


def _answer(task: Task) -> Row:
    return asyncio.run(answer(task))
