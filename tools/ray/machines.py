"""Whether the machines of a cluster can do the work: each has this toolkit, in this version, and sees the folders it needs."""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from ramify.tools.errors import RamifyError
from ramify.tools.ray.cluster import LostError, plainly


class Greeting(NamedTuple):
    """What a machine says of itself."""

    version: str
    missing: list[str]
    """Folders that it does not see."""


def greet(folders: list[str]) -> Greeting:
    """Say on a machine what it has."""
    try:
        own = version("ramify-rag")
    except PackageNotFoundError:
        own = "unknown"
    return Greeting(own, [folder for folder in folders if not Path(folder).exists()])


def check_machines(folders: Iterable[str] = ()) -> None:
    """Ask every machine of the cluster that this process has joined; RamifyError where one cannot do the work."""
    ray: Any = import_module("ray")
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = greet([])
    wanted = [str(Path(folder).absolute()) for folder in folders]
    asked = ray.remote(num_cpus=0, max_retries=1)(greet)
    there = {
        str(node["NodeManagerAddress"]): asked.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    }
    answers = {machine: ask.remote(wanted).future() for machine, ask in there.items()}
    for machine, answer in answers.items():
        try:
            with plainly(f"a look at the machine {machine}"):
                _compare(machine, here, answer.result())
        except (ImportError, LostError, RuntimeError) as error:
            if isinstance(error, RamifyError) and not isinstance(error, LostError):
                raise
            what = f"the machine {machine} of the Ray cluster cannot run ramify ({str(error).strip().splitlines()[-1]})"
            raise RamifyError(what, f"install ramify-rag {here.version} with the same extras there") from error


def _compare(machine: str, here: Greeting, there: Greeting) -> None:
    if there.version != here.version:
        what = f"the machine {machine} of the Ray cluster has ramify {there.version}, this one {here.version}"
        raise RamifyError(what, "install the same version on both")
    if there.missing:
        what = f"the machine {machine} of the Ray cluster does not see {there.missing[0]!r}"
        raise RamifyError(
            what, "keep the index where every machine has it under the same path; RAMIFY_CACHE names the folder of a run's indexes"
        )
