"""Run tasks in this process, in worker processes or on a Ray cluster, pass on each result as it comes, and estimate the time left."""

import asyncio
import os
import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple
from zlib import crc32

from ramify.evaluation.task import Row, Task, answer, failed
from ramify.evaluation.variants import Variant
from ramify.tools.errors import RamifyError
from ramify.tools.ray_cluster import BATCHES_PER_WORKER as AHEAD_ON_RAY
from ramify.tools.ray_cluster import Cluster, WorkerLostError, worker_errors

VariantKey = tuple[str, str]
"""A strategy and its variant."""


class TimeEstimate:
    """Estimate the time left from the mean duration of each variant: a tree takes longer than a baseline.

    The first answers, one per strategy and process, are not measured: they include loading.
    """

    def __init__(self, variants: Iterable[Variant], clock: Callable[[], float], processes: int = 1) -> None:
        self.done = 0
        self._left: Counter[VariantKey] = Counter((variant.strategy, variant.name) for variant in variants)
        self._first = processes * len({strategy for strategy, _ in self._left})
        self._seconds: dict[VariantKey, list[float]] = defaultdict(list)
        self._clock = clock
        self._began = 0.0

    def add(self, row: Row) -> None:
        """Count an answer; the duration of a failed one is ignored."""
        kind = row["strategy"], row["variant"]
        self._left[kind] -= 1
        self.done += 1
        if self.done == self._first:
            self._began = self._clock()
        elif self.done > self._first and row["error"] is None:
            self._seconds[kind].append(row["usage"]["wall_s"])

    @property
    def each(self) -> float | None:
        """Return the mean seconds between answers; None while unknown."""
        measured = self.done - self._first
        return (self._clock() - self._began) / measured if measured > 0 else None

    def to_go(self) -> float | None:
        """Return the estimated seconds left; None while unknown."""
        answered = sum(map(len, self._seconds.values()))
        spent = sum(map(sum, self._seconds.values()))
        if not answered or not spent:
            return None
        work = sum(count * self._usual(kind, spent / answered) for kind, count in self._left.items())
        return (self._clock() - self._began) * work / spent

    def _usual(self, kind: VariantKey, otherwise: float) -> float:
        """Return the mean seconds of a variant's answers; if it has none, those of its strategy, else of all."""
        seconds = self._seconds.get(kind) or self._seconds.get((kind[0], ""))
        return sum(seconds) / len(seconds) if seconds else otherwise


@contextmanager
def worker_process(share: int) -> Iterator[ProcessPoolExecutor]:
    """Start a worker process, one of `share`; an error or Ctrl-C in the block ends it at once."""
    context = get_context("spawn")  # a forked torch can hang
    listening, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(1, context, _prepare, (listening, share))
    try:
        _start(pool)
        yield pool
    except BrokenProcessPool as error:
        held.close()
        what = "a worker process ended in the middle of its work; the system ends one when memory runs out"
        raise RamifyError(what, "take fewer --workers and run the command again: it goes on where it stopped") from error
    except BaseException:
        held.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        held.close()
        listening.close()


def _start(pool: ProcessPoolExecutor) -> None:
    """Start the process at once with Ctrl-C blocked, which a terminal sends to all processes: it ends by its pipe."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool.submit(os.getpid)  # a pool starts its process with the first task
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(listening: Connection, share: int) -> None:
    """Limit the threads of a worker to its share of the cores, and let it end with its parent."""
    threading.Thread(target=_end_with, args=(listening,), daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // share))  # read by torch, where it is ever loaded


def _end_with(listening: Connection) -> None:
    """Exit when the pipe closes: nothing is sent through it, so it closes when the parent closes it or ends."""
    try:
        listening.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


Batch = Sequence[Task]
Done = Callable[[Task, Row], None]
UnderWay = dict[asyncio.Future[list[Row]], Batch]
PILOT = 8
"""Minimum number of tasks to measure the speed; a quarter of all in a short run."""
AHEAD = 64
"""Tasks queued per process, so that none is idle."""


class Workers(NamedTuple):
    """How tasks are distributed."""

    processes: int
    """Each loads its own models."""
    at_once: int
    """Questions that are asked at the same time."""
    under_way: int
    """Batches handed out at a time."""
    ask: Callable[[Batch], Awaitable[list[Row]]]
    by_question: bool = False
    """Whether a batch is a question with all its variants, which read similar passages that a worker caches; else it is one task."""


async def run(
    tasks: Sequence[Task], done: Done, at_once: int, workers: int = 1, measured: Callable[[], None] = lambda: None,
    cluster: Cluster | None = None,
) -> None:  # fmt: skip
    """Answer tasks, `at_once` concurrently, in `workers` processes or on a cluster; an interruption loses only those under way.

    A few run first to measure the speed; `measured` is called when they are done.
    """
    under_way: UnderWay = {}
    try:
        with open_workers(at_once, workers, cluster) as those:
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
    """Return three parts: one task per strategy and process, which also loads models; some that measure the speed; and the rest.

    A question that was just asked in another variant does not measure the speed: the embedded model caches what it has read.
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


async def _run(tasks: Sequence[Task], done: Done, those: Workers, under_way: UnderWay) -> None:
    for _, batch in groupby(tasks, lambda task: (task.dataset, task.question.id) if those.by_question else task.key):
        found = list(batch)
        under_way[asyncio.ensure_future(those.ask(found))] = found
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
def open_workers(at_once: int, workers: int, cluster: Cluster | None) -> Iterator[Workers]:
    """Open the processes or the cluster that answer."""
    if cluster is not None:
        yield Workers(cluster.workers, cluster.workers, AHEAD_ON_RAY * cluster.workers, partial(_on_cluster, cluster), by_question=True)
    elif workers == 1:
        yield Workers(1, at_once, at_once, _here)
    else:
        with ExitStack() as stack:
            pools = [stack.enter_context(worker_process(workers)) for _ in range(workers)]
            yield Workers(workers, workers, AHEAD * workers, partial(_in_pool, pools))


def place(task: Task, processes: int) -> int:
    """Return the number of the process that a question is asked in."""
    return crc32(task.question.id.encode()) % processes


async def _here(batch: Batch) -> list[Row]:
    return [await answer(task) for task in batch]


async def _in_pool(pools: Sequence[ProcessPoolExecutor], batch: Batch) -> list[Row]:
    """Answer a batch in a process; all variants of a question go to the same one."""
    pool = pools[place(batch[0], len(pools))]
    return await asyncio.get_running_loop().run_in_executor(pool, _there, batch)


async def _on_cluster(cluster: Cluster, batch: Batch) -> list[Row]:
    """Answer a batch on an idle worker; one that no worker survives counts as failed, and the run continues."""
    try:
        with worker_errors("answering it"):
            return await asyncio.wrap_future(cluster.submit(_there, batch))
    except WorkerLostError as error:
        return [failed(task, str(error)) for task in batch]


def _there(batch: Batch) -> list[Row]:
    """Answer a batch in a worker process."""
    return asyncio.run(_here(batch))
