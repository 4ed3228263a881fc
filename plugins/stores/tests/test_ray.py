"""Work on a Ray cluster: the same index and result lines as without it, whichever worker dies."""

import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from plugins.lab.tests.conftest import cache
from plugins.lab.tests.small_data_set import TOWNS, make_questions, write_data
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index import Index
from tests.studio.conftest import Ramify, ramify

__all__ = ["cache", "ramify"]


ROOT = Path(__file__).parents[3]


NEAR = 1e-3


BATCHES = 16


installed = pytest.mark.skipif(
    find_spec("ray") is None or not Path("/proc").exists(), reason="needs the extra ray, and /proc to see which processes are workers"
)


def vectors(folder: Path) -> dict[str, Matrix]:
    """Read the vectors of an index."""
    with sqlite3.connect(folder / "passages.sqlite") as database:
        rows = database.execute("SELECT id, vector FROM passages JOIN vectors USING (digest)").fetchall()
    return {id: np.frombuffer(vector, dtype="<f4") for id, vector in rows}


def assert_near(one: Path, other: Path) -> None:
    """Assert that two indexes hold the same passages, with vectors that are the same but for the last digits."""
    here, there = vectors(one), vectors(other)
    assert here.keys() == there.keys()
    assert max(float(np.abs(here[id] - there[id]).max()) for id in here) < NEAR


def write_documents(folder: Path, count: int) -> Path:
    """Write short documents, all of them different."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.txt").write_text(f"Ship {number} was built in {TOWNS[number % 6]}. " * (1 + number % 5), encoding="utf-8")
    return folder


@installed
class TestOnTwoWorkers:
    """Everything in one process that has joined the cluster: to start and to join one takes seconds."""

    @pytest.fixture(scope="class")
    @classmethod
    def place(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("ray")
        write_documents(folder / "docs", 4 * BATCHES)
        write_data(folder / "data", make_questions(6))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "RAMIFY_CACHE": str(folder / "cache")}
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        quiet |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_worker_niceness": "0"}
        command = [sys.executable, "-m", "plugins.stores.tests.on_ray", str(folder)]
        done = subprocess.run(command, cwd=ROOT, env=environment | quiet, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        assert "died" not in done.stdout
        return folder

    @pytest.fixture
    def report(self, place: Path) -> Any:
        return json.loads((place / "found.json").read_text(encoding="utf-8"))

    def test_an_index_is_the_same_though_a_worker_is_killed(self, place: Path, report: Any) -> None:
        assert report["lost"]["workers"] == 2
        assert report["encoding"]["killed"]
        assert report["encoding"]["told"] == [4 * batch for batch in range(BATCHES + 1)]
        Index.build(place / "docs", place / "plain", batch_size=4, document_prefix="passage: ")
        assert_near(place / "plain", place / "ray")

    def test_lines_trees_and_passages_are_the_same_though_a_worker_is_killed(self, report: Any) -> None:
        answering = report["answering"]
        assert answering["killed"]
        assert answering["same"]
        assert answering["asked"] == answering["without"] == 24

    def test_a_worker_that_dies_costs_its_batch_and_a_batch_that_ends_four_is_named(self, report: Any) -> None:
        lost = report["lost"]
        assert lost["again"] == 2
        assert lost["never"] == 4
        assert "reading page 7" in lost["said"]
        assert "memory" in lost["said"]

    def test_a_worker_s_exception_is_raised_in_this_process(self, report: Any) -> None:
        assert report["raised"] == {"what": "no such model 'm'", "remedy": "pull it"}

    def test_a_machine_that_does_not_see_an_index_is_named(self, place: Path, report: Any) -> None:
        assert str(place / "elsewhere") in report["unseen"]["said"]
        assert "same path" in report["unseen"]["said"]


def encoded(folder: Path) -> int:
    """Count the vectors that a build has committed; one that was killed while it wrote is rolled back, as the next build does."""
    try:
        with sqlite3.connect(f"file:{folder / 'passages.sqlite'}?mode=rw", uri=True) as database:
            return int(database.execute("SELECT count(*) FROM vectors").fetchone()[0])
    except sqlite3.OperationalError:  # not begun, or just being written
        return 0


class Process(NamedTuple):
    """A process of this machine."""

    parent: int
    niceness: int
    line: str


def processes() -> dict[int, Process]:
    """List the processes of this machine."""
    running = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            running[int(folder.name)] = Process(int(fields[1]), int(fields[16]), (folder / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return running


def folder_of_cluster(pid: int) -> Path | None:
    """Name the folder of the cluster that a process has started, and of no other: somebody else may run one, too."""
    matches = (re.search(r"/tmp/ramify-ray-\w+", process.line) for process in processes().values() if process.parent == pid)
    return next((Path(folder[0]) for folder in matches if folder), None)


def uses(folder: Path) -> bool:
    """Tell whether a process of the cluster in a folder is alive."""
    return any(f"{folder}/" in process.line for process in processes().values())


def workers_of(folder: Path) -> list[Process]:
    """List those who work on the cluster in a folder."""
    there = processes()
    return [
        process
        for process in there.values()
        if process.line.startswith("ray::_encode_on_worker") and f"{folder}/" in there[process.parent].line
    ]


@installed
def test_a_killed_run_leaves_no_process_and_is_resumed(tmp_path: Path, ramify: Ramify) -> None:
    records = [
        {"id": str(number), "text": f"Vessel {number} left {TOWNS[number % 6]} with {number * number} tons. " * (1 + number % 9)}
        for number in range(1200)
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    arguments = ("index", str(tmp_path / "docs.jsonl"), "--no-clean", "--out", str(tmp_path / "index"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", "from ramify.studio.cli import main; main()", *arguments, "--ray"]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until(lambda: encoded(tmp_path / "index") > 0 or run.poll() is not None)
        cluster = folder_of_cluster(run.pid)
        assert cluster
        assert {worker.niceness for worker in workers_of(cluster)} == {os.nice(0)}, "they have no less of the processor than without Ray"
    finally:
        run.kill()
    said, _ = run.communicate()
    assert run.returncode == -signal.SIGKILL, said
    until(lambda: not uses(cluster))
    shutil.rmtree(cluster, ignore_errors=True)
    kept = encoded(tmp_path / "index")
    assert kept % 256 == 0
    done = ramify(*arguments)
    assert done.code == 0, done.err
    assert f"({len(records) - kept:,} encoded)" in done.out


def until(holds: Callable[[], bool], seconds: float = 300) -> None:
    """Wait until something holds."""
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.02)
