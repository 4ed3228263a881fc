"""Processes that work beside this one, and end with it, however it ends."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection

from ramify.tools.errors import RamifyError


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
