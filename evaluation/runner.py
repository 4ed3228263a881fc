"""Run tasks many at once, in this process or in several, and hand each line over as it comes."""

import asyncio
from collections import Counter
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
PILOT = 3
"""Tasks of each strategy that are answered one after another, before the others; the first of them is slow and measures nothing."""


async def run(tasks: Sequence[Task], done: Done, at_once: int, workers: int = 1, measured: Callable[[], None] = lambda: None) -> None:
    """Answer tasks, `at_once` under way, in `workers` processes; an interruption loses at most those under way.

    A few come first, one after another, and `measured` is called when they are done: they show how fast the others will go.
    """
    first = pilot(tasks)
    names = {task.key for task in first}
    rest = [task for task in tasks if task.key not in names]
    under_way: UnderWay = {}
    try:
        with ExitStack() as stack:
            pools = [stack.enter_context(process(workers)) for _ in range(workers)] if workers > 1 else []
            await _run(first, done, 1, _shared(pools[:1]), under_way)
            measured()
            await _run(rest, done, AHEAD * workers if pools else at_once, _shared(pools), under_way)
    finally:  # after the processes: one that ends gives each task that waits for it an error, which a cancelled one cannot take
        for future in under_way:
            future.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def pilot(tasks: Sequence[Task]) -> list[Task]:
    """Choose the tasks to measure with: one of each strategy, which also waits for what has to be loaded, and two more."""
    rounds: list[list[Task]] = [[] for _ in range(PILOT)]
    seen: Counter[str] = Counter()
    for task in tasks:
        if seen[task.variant.strategy] < PILOT:
            rounds[seen[task.variant.strategy]].append(task)
            seen[task.variant.strategy] += 1
    return [task for some in rounds for task in some]


def _shared(pools: list[ProcessPoolExecutor]) -> Answer:
    """Share tasks among processes, or answer them in this one where there are none.

    One process answers all variants of a question, because they read much the same passages, which it keeps.
    """
    if not pools:
        return answer
    loop = asyncio.get_running_loop()
    return lambda task: loop.run_in_executor(pools[crc32(task.question.id.encode()) % len(pools)], _answer, task)


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
