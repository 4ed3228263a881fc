"""A Ray cluster: its address, joining or starting it, checking its machines, submitting work, and encoding passages on it."""

import logging
import os
import re
import secrets
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.quoting import pluralize, truncate_line

if TYPE_CHECKING:
    from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, Prefixes, Texts

LOCAL = "local"
"""A temporary cluster of this machine's cores."""
AUTO = "auto"
"""The cluster running on this machine, or at RAY_ADDRESS."""
TIMEOUT_S = 5.0
_ADDRESS = re.compile(r"(?:ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>\d{1,5})")
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""The first bytes of an HTTP/2 client (Ray uses gRPC); a server replies with a SETTINGS frame."""
_SETTINGS_FRAME = 4


def check_ray_address(address: str) -> None:
    """Check that a Ray cluster answers at an address, as Ray itself would retry for minutes.

    UsageError for an invalid address; RamifyError if Ray is not installed, or no cluster answers.
    """
    if find_spec("ray") is None:
        raise RamifyError("ray, which distributes work to processes and machines, is not installed", "run `pip install 'ramify-rag[ray]'`")
    if address in (LOCAL, AUTO):
        return
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 65_536:
        raise UsageError(f"{address!r} is not an address of a Ray cluster", "give local, auto, HOST:PORT or ray://HOST:PORT")
    try:
        with socket.create_connection((match["host"].strip("[]"), int(match["port"])), TIMEOUT_S) as connection:
            is_ray = bool(os.environ.get("RAY_USE_TLS")) or _speaks_ray(connection)
    except OSError as error:
        what = f"no Ray cluster answers at {address!r} ({error.strerror or error})"
        raise RamifyError(what, "check it with `ray status` there, or start one: `ray start --head`") from error
    if not is_ray:
        raise RamifyError(f"the server at {address!r} is not a Ray cluster", "give the port of `ray start --head`, by default 6379")


def _speaks_ray(connection: socket.socket) -> bool:
    """Return whether a server speaks Ray's protocol."""
    connection.settimeout(TIMEOUT_S)
    connection.sendall(_HTTP2_PREFACE)
    frame = connection.recv(9, socket.MSG_WAITALL)
    return len(frame) == 9 and frame[3] == _SETTINGS_FRAME


RETRIES = 3
"""Number of times a task is retried on another worker after its worker died."""
BATCHES_PER_WORKER = 2
"""Batches submitted per worker: one in progress and one queued."""
WORKER_MEMORY = 2**30
"""Bytes of memory reserved for a worker with its models; limits the workers of a machine."""
_OBJECT_STORE_BYTES = 2**28
"""Bytes of the object store of a local cluster."""
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_task_oom_retries": str(RETRIES)}
"""Environment variables: no usage statistics, no upload of the working directory, and limited retries of out-of-memory tasks."""
_LOCAL_ENVIRONMENT = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
"""Environment variables of a local cluster: token authentication, and workers at normal priority."""

Item = TypeVar("Item")
Returned = TypeVar("Returned")


class WorkerLostError(RamifyError):
    """Every worker that tried a task died: killed, out of memory, or with its machine."""


class Cluster(NamedTuple):
    """The size of the joined cluster."""

    workers: int
    """Number of parallel workers: one per core, limited by memory."""
    gpus: int
    machines: int

    @property
    def description(self) -> str:
        """Return the number of workers and machines as text."""
        return f"{pluralize(self.workers, 'worker')} on {pluralize(self.machines, 'machine')} of a Ray cluster"

    def submit(self, work: Callable[..., Returned], *arguments: Any, gpu: bool = False) -> Future[Returned]:
        """Run a module-level function on a worker and return its future; wrap `result()` in `worker_errors`."""
        future: Future[Returned] = _remote(work).options(num_gpus=int(gpu)).remote(*arguments).future()
        return future


def submit_in_order(
    submit: Callable[[Item], Future[Returned]], items: Iterable[Item], max_pending: int
) -> Iterator[tuple[Item, Future[Returned]]]:
    """Submit items, at most `max_pending` at a time, and yield each with its future, in order."""
    pending: deque[tuple[Item, Future[Returned]]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        if len(pending) == max_pending:
            yield pending.popleft()
    yield from pending


@contextmanager
def join_cluster(address: str) -> Iterator[Cluster]:
    """Join a cluster, or start one on this machine (`local`), for the block; a program already connected keeps its connection."""
    check_ray_address(address)
    ray = _import_ray(address)
    if ray.is_initialized():
        yield _cluster_size(ray, address)
        return
    with TemporaryDirectory(prefix="ramify-ray-", dir="/tmp" if os.name == "posix" else None, ignore_cleanup_errors=True) as spare:
        try:
            _join(ray, address, spare)
            yield _cluster_size(ray, address)
        finally:
            ray.shutdown()


def _import_ray(address: str) -> Any:
    """Import Ray, which reads its environment variables at import."""
    if "ray" not in sys.modules:
        own = {**_LOCAL_ENVIRONMENT, "RAY_AUTH_TOKEN": secrets.token_hex(32)} if address == LOCAL else {}
        for name, value in (_ENVIRONMENT | own).items():
            os.environ.setdefault(name, value)
    ray: Any = import_module("ray")
    ray._private.worker._worker_logs_enabled = False  # else Ray prints a worker's death to stdout, among results
    return ray


def _join(ray: Any, address: str, spare: str) -> None:
    from ray.exceptions import RayError

    options: dict[str, Any] = {
        "include_dashboard": False,
        "object_store_memory": _OBJECT_STORE_BYTES,
        "_temp_dir": spare,
        "_node_ip_address": "127.0.0.1",
    }
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **(options if address == LOCAL else {}))
    except (RayError, RuntimeError, ValueError, OSError, AssertionError, ImportError) as error:
        action = "start a Ray cluster on this machine" if address == LOCAL else f"join the Ray cluster at {address!r}"
        remedy = "check Ray with `ray start --head`, `ray status` and `ray stop`; all machines need the same version"
        raise RamifyError(f"cannot {action} ({truncate_line(error, 200)})", remedy) from error


def _cluster_size(ray: Any, address: str) -> Cluster:
    """Return the size of the cluster; RamifyError if it has no capacity for a worker."""
    resources = ray.cluster_resources()
    workers = int(min(resources.get("CPU", 0), resources.get("memory", 0) // WORKER_MEMORY))
    if not workers:
        size = f"{resources.get('CPU', 0):g} cores, {resources.get('memory', 0) / 2**30:.1f} GB of memory"
        what = f"the Ray cluster at {address!r} has no capacity for a worker ({size})"
        raise RamifyError(what, "add a machine with at least one core and 1 GB of memory")
    return Cluster(workers, int(resources.get("GPU", 0)), sum(bool(node["Alive"]) for node in ray.nodes()))


@cache
def _remote(work: Callable[..., Any]) -> Any:
    import ray

    return ray.remote(num_cpus=1, memory=WORKER_MEMORY, max_retries=RETRIES)(work)


@contextmanager
def worker_errors(action: str) -> Iterator[None]:
    """Raise exceptions of a worker in this process; WorkerLostError if every worker that tried `action` died."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        what = f"{action} failed: its worker died {RETRIES + 1} times ({type(error).__name__}: {truncate_line(error, 120)})"
        raise WorkerLostError(
            what, "check the memory of the machines, then run the same command again: it resumes where it stopped"
        ) from error


class MachineInfo(NamedTuple):
    """The version of ramify on a machine, and inaccessible folders."""

    version: str
    missing: list[str]
    """Folders it cannot access."""


def machine_info(folders: list[str]) -> MachineInfo:
    """Return the version and missing folders of the current machine."""
    try:
        own = version("ramify-rag")
    except PackageNotFoundError:
        own = "unknown"
    return MachineInfo(own, [folder for folder in folders if not Path(folder).exists()])


def check_machines(folders: Iterable[str] = ()) -> None:
    """Check every machine of the cluster; RamifyError if one lacks this version of ramify or a folder."""
    ray: Any = import_module("ray")
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    local = machine_info([])
    wanted = [str(Path(folder).absolute()) for folder in folders]
    remote_info = ray.remote(num_cpus=0, max_retries=1)(machine_info)
    remote_calls = {
        str(node["NodeManagerAddress"]): remote_info.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    }
    answers = {machine: ask.remote(wanted).future() for machine, ask in remote_calls.items()}
    for machine, answer in answers.items():
        try:
            with worker_errors(f"checking the machine {machine}"):
                _check_machine(machine, local, answer.result())
        except (ImportError, WorkerLostError, RuntimeError) as error:
            if isinstance(error, RamifyError) and not isinstance(error, WorkerLostError):
                raise
            what = f"the machine {machine} of the Ray cluster cannot run ramify ({str(error).strip().splitlines()[-1]})"
            raise RamifyError(what, f"install ramify-rag {local.version} with the same extras there") from error


def _check_machine(machine: str, local: MachineInfo, remote: MachineInfo) -> None:
    if remote.version != local.version:
        what = f"the machine {machine} of the Ray cluster has ramify {remote.version}, this one {local.version}"
        raise RamifyError(what, "install the same version on both")
    if remote.missing:
        what = f"the machine {machine} of the Ray cluster cannot access {remote.missing[0]!r}"
        raise RamifyError(what, "store the index under the same path on all machines; RAMIFY_CACHE sets the folder of a run's indexes")


def ray_encoding(address: str, encoder: "Encoder") -> "Encoding":
    """Return an encoding on the cluster at an address, which is joined when the first batch is encoded.

    UsageError for an encoder that workers cannot load by name, and for an invalid address.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.encoder import Prefixes, with_prefixes
    from ramify.tools.embeddings.named import LANGCHAIN_SCHEME

    base = with_prefixes(encoder, Prefixes())
    if base.name.startswith(LANGCHAIN_SCHEME) or type(load_encoder(base.name)) is not type(base):
        what = f"workers on Ray cannot load the embedding {base.name!r}, an object of this program"
        raise UsageError(what, "give an embedding by name, or index without ray")
    check_ray_address(address)
    return partial(_encode_on_cluster, address)


def _encode_on_cluster(address: str, encoder: "Encoder", batches: "Iterable[Texts]") -> "Generator[tuple[Texts, Matrix], None, None]":
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    with join_cluster(address) as cluster:
        check_machines()
        max_pending = (
            2 * BATCHES_PER_WORKER * (cluster.gpus or cluster.workers)
        )  # twice as many, so that a slow batch does not block others

        def submit(texts: "Texts") -> "Future[Matrix]":
            return cluster.submit(_encode_on_worker, encoder.name, encoder.prefixes, texts, gpu=cluster.gpus > 0)

        for texts, encoded in submit_in_order(submit, chain([first], batches), max_pending):
            with worker_errors(f"encoding {len(texts):,} passages, the first {truncate_line(texts[0], 60)!r},"):
                vectors = encoded.result()
            yield texts, vectors


def _encode_on_worker(name: str, prefixes: "Prefixes", texts: "Texts") -> "Matrix":
    """Return the vectors of passages; runs on a worker, which loads the encoder once."""
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.encoder import with_prefixes

    return with_prefixes(load_encoder(name), prefixes).encode_documents(texts)
