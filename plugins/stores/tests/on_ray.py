"""What is tried on a cluster of two workers that a program has joined; run beside the tests, writes down what came of it."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ray

from plugins.lab.tests.small_data_set import make_options, question_rows, without_times
from ramify.lab.run import execute
from ramify.lab.task import Row
from ramify.stores.ray_cluster import check_machines, join_cluster, worker_errors
from ramify.tools.errors import ModelError, RamifyError
from ramify.tools.index import Index

HERE = "local"
"""A program that has joined a cluster stays there."""
OURS = "ray::"


def working(doing: str) -> list[int]:
    """List the workers of our own cluster, and of nobody else's, that have done some work."""
    parents, workers = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(f"{OURS}{doing}".encode()):
                workers.append(int(folder.name))
        except OSError:
            continue
    return [pid for pid in workers if parents.get(parents[pid]) == os.getpid()]  # between them stands Ray's own daemon


class Killer:
    """Kill a worker the first time that something is told."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.killed = 0

    def __call__(self, *arguments: object) -> None:
        if not self.killed and (workers := working(self.doing)):
            self.killed = workers[0]
            os.kill(self.killed, signal.SIGKILL)


def encoding(folder: Path) -> dict[str, Any]:
    kill = Killer("_encode_on_worker")
    counts: list[int] = []

    def progress(done: int, total: int | None, unit: str) -> None:
        if unit == "passages":
            counts.append(done)
            kill()

    Index.build(folder / "docs", folder / "ray", batch_size=4, progress=progress, ray=HERE, document_prefix="passage: ")
    return {"killed": kill.killed, "told": counts}


def answering(folder: Path) -> dict[str, Any]:
    kill, seen = Killer("_answer_in_worker"), []

    def watch(row: Row) -> None:
        if row["strategy"] != "search":
            seen.append(row["key"])
            kill()

    more: dict[str, Any] = {"strategies": ("prune", "naive"), "sweeps": {"k": [3]}}
    with_ray = without_times(execute(make_options(folder / "data", folder / "run-ray", "extractive", ray=HERE, **more), watch))
    without = without_times(execute(make_options(folder / "data", folder / "run", "extractive", **more)))
    return {"killed": kill.killed, "asked": len(seen), "without": len(question_rows(list(without.values()))), "same": with_ray == without}


def counting(file: Path) -> Callable[[int], int]:
    """Make work that ends its worker until it has been tried so often."""

    def work(times: int) -> int:
        with file.open("a") as tries:
            tries.write("x")
        if file.stat().st_size < times:
            os.kill(os.getpid(), signal.SIGKILL)
        return file.stat().st_size

    return work


def lost(folder: Path) -> dict[str, Any]:
    with join_cluster(HERE) as cluster:
        again, never = cluster.submit(counting(folder / "again"), 2), cluster.submit(counting(folder / "never"), 1000)
        try:
            with worker_errors("reading page 7"):
                never.result()
            said = ""
        except RamifyError as error:
            said = str(error)
        return {"again": again.result(), "never": (folder / "never").stat().st_size, "said": said, "workers": cluster.workers}


def refuse() -> None:
    raise ModelError("no such model 'm'", "pull it")


def raised() -> dict[str, Any]:
    with join_cluster(HERE) as cluster:
        try:
            with worker_errors("asking"):
                cluster.submit(refuse).result()
        except ModelError as error:
            return {"what": error.what, "remedy": error.remedy}
    return {}


def unseen(folder: Path) -> dict[str, Any]:
    check_machines([str(folder)])
    try:
        check_machines([str(folder / "elsewhere")])
    except RamifyError as error:
        return {"said": str(error)}
    return {}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    spare = TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)  # not /tmp/ray, which all clusters share
    ray.init(num_cpus=2, object_store_memory=80 * 2**20, include_dashboard=False, log_to_driver=False, _temp_dir=spare.name)
    try:
        report = {"unseen": unseen(place), "encoding": encoding(place), "answering": answering(place)}
        report |= {"lost": lost(place), "raised": raised()}
        (place / "found.json").write_text(json.dumps(report), encoding="utf-8")
    finally:
        ray.shutdown()
        spare.cleanup()
