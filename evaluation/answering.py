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
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple
from zlib import crc32

from ramify.evaluation.rows import Row
from ramify.evaluation.task import Task, answer, failed
from ramify.evaluation.variants import Variant
from ramify.tools.errors import RamifyError
from ramify.tools.ray.cluster import AHEAD as AHEAD_ON_RAY
from ramify.tools.ray.cluster import Cluster, LostError, plainly

Kind = tuple[str, str]
"""A strategy and its variant."""


class Pace:
    """Work out the time to go from the seconds that the answers of each variant take: a tree takes longer than a baseline.

    The first answers, one of each strategy in each process, are not measured: they also wait for what has to be loaded.
    """

    def __init__(self, variants: Iterable[Variant], clock: Callable[[], float], processes: int = 1) -> None:
        self.done = 0
        self._left: Counter[Kind] = Counter((variant.strategy, variant.name) for variant in variants)
        self._first = processes * len({strategy for strategy, _ in self._left})
        self._seconds: dict[Kind, list[float]] = defaultdict(list)
        self._clock = clock
        self._began = 0.0

    def add(self, row: Row) -> None:
        """Count an answer; one that failed says nothing of how long answers take."""
        kind = row["strategy"], row["variant"]
        self._left[kind] -= 1
        self.done += 1
        if self.done == self._first:
            self._began = self._clock()
        elif self.done > self._first and row["error"] is None:
            self._seconds[kind].append(row["usage"]["wall_s"])

    @property
    def each(self) -> float | None:
        """Give the seconds between one answer and the next, on average; none while that is not known."""
        measured = self.done - self._first
        return (self._clock() - self._began) / measured if measured > 0 else None

    def to_go(self) -> float | None:
        """Give the seconds that are still to go; none while that is not known."""
        answered = sum(map(len, self._seconds.values()))
        spent = sum(map(sum, self._seconds.values()))
        if not answered or not spent:
            return None
        work = sum(count * self._usual(kind, spent / answered) for kind, count in self._left.items())
        return (self._clock() - self._began) * work / spent

    def _usual(self, kind: Kind, otherwise: float) -> float:
        """Give the seconds that an answer of a variant takes; of one that is new, as many as the strategy's own, else any."""
        seconds = self._seconds.get(kind) or self._seconds.get((kind[0], ""))
        return sum(seconds) / len(seconds) if seconds else otherwise


@contextmanager
def process(share: int) -> Iterator[ProcessPoolExecutor]:
    """Give a process to work in, one of `share`; where the block is left by an error or Ctrl-C, it ends in the middle of its work."""
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
    """Start the process at once, such that it does not hear Ctrl-C, which a terminal sends to all: it ends by its pipe."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool.submit(_nothing)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """A process is started by the first work that finds none idle."""


def _prepare(listening: Connection, share: int) -> None:
    """Make a worker share the processor with the others, and end with its parent."""
    threading.Thread(target=_end_with, args=(listening,), daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // share))  # read by torch, where it is ever loaded


def _end_with(listening: Connection) -> None:
    """Wait for the end of a pipe that nothing is ever sent through: it is closed by the parent, or by its end."""
    try:
        listening.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


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
