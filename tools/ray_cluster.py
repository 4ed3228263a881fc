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
"""A cluster of this machine's cores, started for the work and ended with it."""
AUTO = "auto"
"""The cluster that runs on this machine, or that RAY_ADDRESS names."""
PATIENCE_S = 5.0
_PLACE = re.compile(r"(?:ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>\d{1,5})")
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""What a client of Ray's protocol says first; a server answers it with a frame of settings."""
_SETTINGS = 4


def check_address(address: str) -> None:
    """Refuse an address at which there can be no Ray cluster: joining one would be tried for minutes.

    UsageError where it is no address; RamifyError where Ray is not installed, or nothing of the kind answers there.
    """
    if find_spec("ray") is None:
        raise RamifyError("ray is not installed, which shares work among processes and machines", "run `pip install 'ramify-rag[ray]'`")
    if address in (LOCAL, AUTO):
        return
    place = _PLACE.fullmatch(address)
    if place is None or not 0 < int(place["port"]) < 65_536:
        raise UsageError(f"{address!r} is no address of a Ray cluster", "give local, auto, HOST:PORT or ray://HOST:PORT")
    try:
        with socket.create_connection((place["host"].strip("[]"), int(place["port"])), PATIENCE_S) as wire:
            known = bool(os.environ.get("RAY_USE_TLS")) or _answers(wire)
    except OSError as error:
        what = f"no Ray cluster answers at {address!r} ({error.strerror or error})"
        raise RamifyError(what, "see `ray status` there, or start one: `ray start --head`") from error
    if not known:
        raise RamifyError(f"what answers at {address!r} is no Ray cluster", "give the port of `ray start --head`, 6379 if none was named")


def _answers(wire: socket.socket) -> bool:
    """Return whether a server speaks Ray's protocol."""
    wire.settimeout(PATIENCE_S)
    wire.sendall(_GREETING)
    frame = wire.recv(9, socket.MSG_WAITALL)
    return len(frame) == 9 and frame[3] == _SETTINGS


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
    """The size of the cluster that this process has joined."""

    workers: int
    """Parallel workers: one for each core, as far as there is memory."""
    gpus: int
    machines: int

    @property
    def description(self) -> str:
        """Describe the workers and machines."""
        return f"{pluralize(self.workers, 'worker')} on {pluralize(self.machines, 'machine')} of a Ray cluster"

    def submit(self, work: Callable[..., Made], *given: Any, gpu: bool = False) -> Future[Made]:
        """Call a module's function on a worker; `worker_errors` re-raises its exceptions."""
        future: Future[Made] = _remote(work).options(num_gpus=int(gpu)).remote(*given).future()
        return future


def submit_in_order(submit: Callable[[Given], Future[Made]], each: Iterable[Given], room: int) -> Iterator[tuple[Given, Future[Made]]]:
    """Submit items, at most `room` at a time, and yield each with its future, in order."""
    under_way: deque[tuple[Given, Future[Made]]] = deque()
    for one in each:
        under_way.append((one, submit(one)))
        if len(under_way) == room:
            yield under_way.popleft()
    yield from under_way


@contextmanager
def join_cluster(address: str) -> Iterator[Cluster]:
    """Join a cluster, or start one on this machine (`local`), for as long as the block runs; a program that has joined one stays there."""
    check_address(address)
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
        raise RamifyError(f"cannot {doing} ({truncate_line(error, 200)})", remedy) from error


def _cluster_size(ray: Any, address: str) -> Cluster:
    """Return the size of the cluster; RamifyError where it has no workers."""
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
def worker_errors(doing: str) -> Iterator[None]:
    """Raise what was raised on a worker as if that had been here; LostError where `doing` it ended each worker that tried."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        what = f"{doing} ended the worker that did it, {RETRIES + 1} times ({type(error).__name__}: {truncate_line(error, 120)})"
        raise LostError(what, "look whether memory runs out there; the same command goes on where it stopped") from error


class MachineInfo(NamedTuple):
    """The version of ramify on a machine, and what it lacks."""

    version: str
    missing: list[str]
    """Folders that it cannot access."""


def machine_info(folders: list[str]) -> MachineInfo:
    """Return the version and missing folders of the machine this runs on."""
    try:
        own = version("ramify-rag")
    except PackageNotFoundError:
        own = "unknown"
    return MachineInfo(own, [folder for folder in folders if not Path(folder).exists()])


def check_machines(folders: Iterable[str] = ()) -> None:
    """Check every machine of the cluster; RamifyError where one lacks this version of ramify or a folder."""
    ray: Any = import_module("ray")
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = machine_info([])
    wanted = [str(Path(folder).absolute()) for folder in folders]
    asked = ray.remote(num_cpus=0, max_retries=1)(machine_info)
    there = {
        str(node["NodeManagerAddress"]): asked.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    }
    answers = {machine: ask.remote(wanted).future() for machine, ask in there.items()}
    for machine, answer in answers.items():
        try:
            with worker_errors(f"a look at the machine {machine}"):
                _check_machine(machine, here, answer.result())
        except (ImportError, LostError, RuntimeError) as error:
            if isinstance(error, RamifyError) and not isinstance(error, LostError):
                raise
            what = f"the machine {machine} of the Ray cluster cannot run ramify ({str(error).strip().splitlines()[-1]})"
            raise RamifyError(what, f"install ramify-rag {here.version} with the same extras there") from error


def _check_machine(machine: str, here: MachineInfo, there: MachineInfo) -> None:
    if there.version != here.version:
        what = f"the machine {machine} of the Ray cluster has ramify {there.version}, this one {here.version}"
        raise RamifyError(what, "install the same version on both")
    if there.missing:
        what = f"the machine {machine} of the Ray cluster does not see {there.missing[0]!r}"
        raise RamifyError(
            what, "keep the index where every machine has it under the same path; RAMIFY_CACHE names the folder of a run's indexes"
        )


def encoding_on(address: str, encoder: "Encoder") -> "Encoding":
    """Have batches encoded on the cluster at an address, joined when there is one to encode.

    UsageError at once for an encoder that a worker cannot load by its name, and for what is no address.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.encoder import Prefixes, with_prefixes
    from ramify.tools.embeddings.named import FOREIGN

    plain = with_prefixes(encoder, Prefixes())
    if plain.name.startswith(FOREIGN) or type(load_encoder(plain.name)) is not type(plain):
        what = f"workers on Ray cannot load the embedding {plain.name!r}, an object of this program"
        raise UsageError(what, "give an embedding by its name, or index without ray")
    check_address(address)
    return partial(_encode, address)


def _encode(address: str, encoder: "Encoder", batches: "Iterable[Texts]") -> "Generator[tuple[Texts, Matrix], None, None]":
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    with join_cluster(address) as cluster:
        check_machines()
        room = 2 * AHEAD * (cluster.gpus or cluster.workers)  # twice: behind a batch that takes long others can be finished

        def submit(texts: "Texts") -> "Future[Matrix]":
            return cluster.submit(_vectors, encoder.name, encoder.prefixes, texts, gpu=cluster.gpus > 0)

        for texts, encoded in submit_in_order(submit, chain([first], batches), room):
            with worker_errors(f"encoding {len(texts):,} passages, the first {truncate_line(texts[0], 60)!r},"):
                vectors = encoded.result()
            yield texts, vectors


def _vectors(name: str, prefixes: "Prefixes", texts: "Texts") -> "Matrix":
    """Encode on a worker, which loads the encoder once."""
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.encoder import with_prefixes

    return with_prefixes(load_encoder(name), prefixes).encode_documents(texts)
