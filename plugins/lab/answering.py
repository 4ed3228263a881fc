"""Run tasks in this process, in worker processes or on a Ray cluster, and estimate the remaining time."""

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

from ramify.lab._variants import Variant
from ramify.lab.task import Row, Task, failed_row, run_task
from ramify.stores.ray_cluster import BATCHES_PER_WORKER as AHEAD_ON_RAY
from ramify.stores.ray_cluster import Cluster, WorkerLostError, worker_errors
from ramify.tools.errors import RamifyError

VariantKey = tuple[str, str]
"""A strategy and its variant."""


class TimeEstimate:
    """Estimate the time left from the mean duration of each variant: variants differ in cost.

    The first answers, one per strategy and process, are excluded because they include loading.
    """

    def __init__(self, variants: Iterable[Variant], clock: Callable[[], float], processes: int = 1) -> None:
        self.done = 0
        self._left: Counter[VariantKey] = Counter((variant.strategy, variant.name) for variant in variants)
        self._first = processes * len({strategy for strategy, _ in self._left})
        self._seconds: dict[VariantKey, list[float]] = defaultdict(list)
        self._clock = clock
        self._started_at = 0.0

    def add(self, row: Row) -> None:
        """Count a finished row; the duration of a failed one is ignored."""
        kind = row["strategy"], row["variant"]
        self._left[kind] -= 1
        self.done += 1
        if self.done == self._first:
            self._started_at = self._clock()
        elif self.done > self._first and row["error"] is None:
            self._seconds[kind].append(row["usage"]["wall_s"])

    @property
    def seconds_per_answer(self) -> float | None:
        """Return the mean seconds between answers; None while unknown."""
        measured = self.done - self._first
        return (self._clock() - self._started_at) / measured if measured > 0 else None

    def remaining_seconds(self) -> float | None:
        """Return the estimated seconds left; None while unknown."""
        answered = sum(map(len, self._seconds.values()))
        spent = sum(map(sum, self._seconds.values()))
        if not answered or not spent:
            return None
        work = sum(count * self._mean_seconds(kind, spent / answered) for kind, count in self._left.items())
        return (self._clock() - self._started_at) * work / spent

    def _mean_seconds(self, kind: VariantKey, otherwise: float) -> float:
        """Return the mean seconds of a variant's answers; without one, the mean of its strategy, else `otherwise`."""
        seconds = self._seconds.get(kind) or self._seconds.get((kind[0], ""))
        return sum(seconds) / len(seconds) if seconds else otherwise


@contextmanager
def worker_process(share: int) -> Iterator[ProcessPoolExecutor]:
    """Start one of `share` worker processes; an error or Ctrl-C inside the block terminates it immediately."""
    context = get_context("spawn")  # a forked torch can hang
    receiver, sender = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(1, context, _initialize_worker, (receiver, share))
    try:
        _start_process(pool)
        yield pool
    except BrokenProcessPool as error:
        sender.close()
        what = "a worker process was terminated while working; the operating system does this when memory runs out"
        raise RamifyError(what, "lower --workers and run the command again: it resumes where it stopped") from error
    except BaseException:
        sender.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        sender.close()
        receiver.close()


def _start_process(pool: ProcessPoolExecutor) -> None:
    """Start the process immediately with SIGINT blocked: a terminal sends Ctrl-C to all processes, and workers end by their pipe."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool.submit(os.getpid)  # a pool starts its process with the first task
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _initialize_worker(receiver: Connection, share: int) -> None:
    """Limit the threads of a worker to its share of the cores, and make it exit when its parent ends."""
    threading.Thread(target=_exit_with_parent, args=(receiver,), daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // share))  # read by torch when it is imported


def _exit_with_parent(receiver: Connection) -> None:
    """Exit when the pipe closes, that is, when the parent closes it or ends; nothing is sent through it."""
    try:
        receiver.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


TaskBatch = Sequence[Task]
TaskCallback = Callable[[Task, Row], None]
PendingBatches = dict[asyncio.Future[list[Row]], TaskBatch]
MIN_PILOT_TASKS = 8
"""Minimum number of tasks that measure the speed; at most a quarter of all tasks."""
MAX_QUEUED_TASKS = 64
"""Maximum number of tasks queued per process, so that none is idle."""


class TaskDistribution(NamedTuple):
    """How tasks are distributed."""

    processes: int
    """Number of worker processes; each loads its own models."""
    at_once: int
    """Number of questions asked concurrently."""
    max_batches: int
    """Maximum number of batches submitted at a time."""
    answer_batch: Callable[[TaskBatch], Awaitable[list[Row]]]
    by_question: bool = False
    """Whether a batch is a question with all its variants, so that a worker reuses cached passages; else it is a single task."""


async def answer_tasks(
    tasks: Sequence[Task], done: TaskCallback, at_once: int, workers: int = 1, on_pilot_done: Callable[[], None] = lambda: None,
    cluster: Cluster | None = None,
) -> None:  # fmt: skip
    """Answer tasks, `at_once` concurrently, in `workers` processes or on a cluster; an interruption loses only the running ones.

    A few run first to measure the speed; `on_pilot_done` is called when they are done.
    """
    pending: PendingBatches = {}
    try:
        with open_workers(at_once, workers, cluster) as distribution:
            first, pilot, rest = split_tasks(tasks, distribution.at_once, distribution.processes)
            await _answer_part(first, done, distribution, pending)
            await _answer_part(pilot, done, distribution, pending)
            on_pilot_done()
            await _answer_part(rest, done, distribution, pending)
    finally:  # after the processes: a process that ends sets an error on each waiting future, which fails on a cancelled one
        for future in pending:
            future.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def split_tasks(tasks: Sequence[Task], at_once: int, processes: int) -> tuple[list[Task], list[Task], list[Task]]:
    """Return three parts: one task per strategy and process, which also loads models; pilot tasks that measure the speed; and the rest.

    A question already asked in another variant is no pilot task, because the embedded model caches what it has read.
    """
    pilot_size = min(max(MIN_PILOT_TASKS, 2 * at_once, 2 * len({task.variant.strategy for task in tasks})), len(tasks) // 4)
    first: dict[tuple[str, int], Task] = {}
    pilot: dict[tuple[str, str], Task] = {}
    for task in tasks:
        strategy, question = task.variant.strategy, task.question.id
        if first.setdefault((strategy, process_number(task, processes)), task).question.id != question and len(pilot) < pilot_size:
            pilot.setdefault((strategy, question), task)
    started = {task.key for task in (*first.values(), *pilot.values())}
    return [*first.values()], [*pilot.values()], [task for task in tasks if task.key not in started]


async def _answer_part(tasks: Sequence[Task], done: TaskCallback, distribution: TaskDistribution, pending: PendingBatches) -> None:
    for _, batch in groupby(tasks, lambda task: (task.dataset, task.question.id) if distribution.by_question else task.key):
        tasks_of_batch = list(batch)
        pending[asyncio.ensure_future(distribution.answer_batch(tasks_of_batch))] = tasks_of_batch
        if len(pending) >= distribution.max_batches:
            await _collect_finished(pending, done)
    while pending:
        await _collect_finished(pending, done)


async def _collect_finished(pending: PendingBatches, done: TaskCallback) -> None:
    finished, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    for future in finished:
        for task, row in zip(pending.pop(future), future.result(), strict=True):
            done(task, row)


@contextmanager
def open_workers(at_once: int, workers: int, cluster: Cluster | None) -> Iterator[TaskDistribution]:
    """Start the worker processes, or use the cluster, and return how tasks are distributed."""
    if cluster is not None:
        yield TaskDistribution(
            cluster.workers, cluster.workers, AHEAD_ON_RAY * cluster.workers, partial(_on_cluster, cluster), by_question=True
        )
    elif workers == 1:
        yield TaskDistribution(1, at_once, at_once, _answer_batch)
    else:
        with ExitStack() as stack:
            pools = [stack.enter_context(worker_process(workers)) for _ in range(workers)]
            yield TaskDistribution(workers, workers, MAX_QUEUED_TASKS * workers, partial(_in_pool, pools))


def process_number(task: Task, processes: int) -> int:
    """Return the number of the process that answers a question."""
    return crc32(task.question.id.encode()) % processes


async def _answer_batch(batch: TaskBatch) -> list[Row]:
    return [await run_task(task) for task in batch]


async def _in_pool(pools: Sequence[ProcessPoolExecutor], batch: TaskBatch) -> list[Row]:
    """Answer a batch in a process; all variants of a question go to the same one."""
    pool = pools[process_number(batch[0], len(pools))]
    return await asyncio.get_running_loop().run_in_executor(pool, _answer_in_worker, batch)


async def _on_cluster(cluster: Cluster, batch: TaskBatch) -> list[Row]:
    """Answer a batch on an idle worker; a batch that crashes every worker counts as failed, and the run continues."""
    try:
        with worker_errors("answering it"):
            return await asyncio.wrap_future(cluster.submit(_answer_in_worker, batch))
    except WorkerLostError as error:
        return [failed_row(task, str(error)) for task in batch]


def _answer_in_worker(batch: TaskBatch) -> list[Row]:
    """Answer a batch in a worker process."""
    return asyncio.run(_answer_batch(batch))
