"""Who answers the questions of a run: this process, several beside it, or the workers of a Ray cluster."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from ramify.evaluation.asking import Task, answer, failed
from ramify.evaluation.rows import Row
from ramify.evaluation.worker_processes import process
from ramify.tools.ray.cluster import AHEAD as AHEAD_ON_RAY
from ramify.tools.ray.cluster import Cluster, LostError, plainly

Batch = Sequence[Task]
Ask = Callable[[Batch], Awaitable[list[Row]]]
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
