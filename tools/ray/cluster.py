"""A Ray cluster as a program sees it: joined or started, asked how many can work, given work, and left."""

import logging
import os
import secrets
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from ramify.tools.errors import RamifyError
from ramify.tools.quoting import brief
from ramify.tools.ray.address import LOCAL, check_address

RETRIES = 3
"""How often work is given to another worker when the one that had it ends."""
AHEAD = 2
"""Batches under way for each worker: one that it works on and one that waits."""
MEMORY = 2**30
"""Bytes that a worker with its models is reckoned with: no more are started on a machine than have room there."""
_STORE = 2**28
"""Bytes for what is on its way between the processes of a cluster of our own."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_task_oom_retries": str(RETRIES)}
"""Ray tells nobody of its use, sends no folder about by itself, and gives up work that is too large for memory."""
_ALONE = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
"""A cluster of our own listens on loopback only, and to those who know its token; its workers do not give way to all else, as Ray's do."""

Given = TypeVar("Given")
Made = TypeVar("Made")


class LostError(RamifyError):
    """Whichever worker took up a piece of work ended: killed, out of memory, or gone with its machine."""


class Cluster(NamedTuple):
    """Those who work on the cluster that this process has joined."""

    workers: int
    """How many work at the same time: one for each core, as far as there is memory."""
    gpus: int
    machines: int

    @property
    def told(self) -> str:
        """Say who they are."""
        workers = f"{self.workers:,} {'worker' if self.workers == 1 else 'workers'}"
        return f"{workers} on {self.machines:,} {'machine' if self.machines == 1 else 'machines'} of a Ray cluster"

    def submit(self, work: Callable[..., Made], *given: Any, gpu: bool = False) -> Future[Made]:
        """Have a function of a module called by a worker; what it raises is told by `plainly`."""
        future: Future[Made] = _remote(work).options(num_gpus=int(gpu)).remote(*given).future()
        return future


def in_order(submit: Callable[[Given], Future[Made]], each: Iterable[Given], room: int) -> Iterator[tuple[Given, Future[Made]]]:
    """Submit things, so many under way or waiting to be taken at a time; give what comes of them in their order."""
    under_way: deque[tuple[Given, Future[Made]]] = deque()
    for one in each:
        under_way.append((one, submit(one)))
        if len(under_way) == room:
            yield under_way.popleft()
    yield from under_way


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join a cluster, or start one on this machine (`local`), for as long as the block runs; a program that has joined one stays there."""
    check_address(address)
    ray = _ray(address)
    if ray.is_initialized():
        yield _measured(ray, address)
        return
    with TemporaryDirectory(prefix="ramify-ray-", dir="/tmp" if os.name == "posix" else None, ignore_cleanup_errors=True) as spare:
        try:
            _join(ray, address, spare)
            yield _measured(ray, address)
        finally:
            ray.shutdown()


def _ray(address: str) -> Any:
    """Import Ray, which reads its settings then, and only then."""
    if "ray" not in sys.modules:
        own = {**_ALONE, "RAY_AUTH_TOKEN": secrets.token_hex(32)} if address == LOCAL else {}
        for name, value in (_QUIET | own).items():
            os.environ.setdefault(name, value)
    ray: Any = import_module("ray")
    ray._private.worker._worker_logs_enabled = False  # else a worker's death is told on stdout, among results
    return ray


def _join(ray: Any, address: str, spare: str) -> None:
    from ray.exceptions import RayError

    own: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE, "_temp_dir": spare, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **(own if address == LOCAL else {}))
    except (RayError, RuntimeError, ValueError, OSError, AssertionError, ImportError) as error:
        doing = "start a Ray cluster on this machine" if address == LOCAL else f"join the Ray cluster at {address!r}"
        remedy = "see that Ray works by itself: `ray start --head`, `ray status`, `ray stop`; it has to be the same version everywhere"
        raise RamifyError(f"cannot {doing} ({brief(error, 200)})", remedy) from error


def _measured(ray: Any, address: str) -> Cluster:
    """Count who can work; RamifyError where nobody can."""
    there = ray.cluster_resources()
    workers = int(min(there.get("CPU", 0), there.get("memory", 0) // MEMORY))
    if not workers:
        what = f"the Ray cluster at {address!r} has nobody to work ({there.get('CPU', 0):g} cores, {there.get('memory', 0) / 2**30:.1f} GB)"
        raise RamifyError(what, "give it a machine with a core and 1 GB of memory")
    return Cluster(workers, int(there.get("GPU", 0)), sum(bool(node["Alive"]) for node in ray.nodes()))


@cache
def _remote(work: Callable[..., Any]) -> Any:
    import ray

    return ray.remote(num_cpus=1, memory=MEMORY, max_retries=RETRIES)(work)


@contextmanager
def plainly(doing: str) -> Iterator[None]:
    """Raise what was raised on a worker as if that had been here; LostError where `doing` it ended each worker that tried."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        what = f"{doing} ended the worker that did it, {RETRIES + 1} times ({type(error).__name__}: {brief(error, 120)})"
        raise LostError(what, "look whether memory runs out there; the same command goes on where it stopped") from error
