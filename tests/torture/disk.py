"""Run work on a full disk, at each size in steps of 10 KB, and on a disk remounted read-only, and check what remains.

    python -m tests.torture.disk SCENARIO WAY STEP FOLDER

The disk is a tmpfs in a mount namespace of its own (`unshare --mount`, as an ordinary user with `--user --map-root-user`). If neither is
allowed, the size of files is limited (RLIMIT_FSIZE), and nothing is remounted.
"""

import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ramify.tools.errors import RamifyError
from ramify.tools.index.manifest import MANIFEST, read_index_manifest
from tests.torture.forks import run_in_child
from tests.torture.processes import ROOT
from tests.torture.report import Failures
from tests.torture.scenarios import SCENARIOS, Scenario, describe_unclear_error

LIMIT_COMMANDS = {
    "a mount of root's": ["unshare", "--mount"],
    "a mount in a user namespace": ["unshare", "--user", "--map-root-user", "--mount"],
}
FILE_LIMIT = "a limit on files"
DEFAULT_STEP_KB = 10
"""KB."""
MAX_KB = 4096
"""Size in KB that is enough for all work."""
DISK_SCENARIOS = [name for name in SCENARIOS if name != "agent"]
"""Scenarios run on full disks; an agent is left out, because its checkpointer is the user's own."""
PARTIAL_FILE_SUFFIXES = (".part", ".faiss", ".npy", "-journal")
"""Suffixes of files that a failed build must not leave, unless the manifest names them."""


def find_limit_method() -> str:
    """Return the name of the method by which disks can be limited on this machine."""
    for name, command in LIMIT_COMMANDS.items():
        done = subprocess.run([*command, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"], capture_output=True, check=False)
        if done.returncode == 0:
            return name
    return FILE_LIMIT


class Disk:
    """A folder on a disk of a size that can be changed."""

    def __init__(self, folder: Path, limited: bool) -> None:
        self.folder, self.limited = folder, limited
        folder.mkdir(parents=True, exist_ok=True)

    def make(self, base: Path, size: int) -> None:
        """Recreate the disk with a copy of `base` and `size` KB of free space."""
        self.remove()
        used = sum(-(-file.stat().st_size // 4096) * 4 for file in base.rglob("*") if file.is_file())
        if not self.limited:
            self._mount("-t", "tmpfs", "-o", f"size={MAX_KB + used}k", "none")
        shutil.copytree(base, self.folder, dirs_exist_ok=True)
        self.resize(used + size)

    def remove(self) -> None:
        """Unmount the disk, or empty its folder."""
        if not self.limited:
            subprocess.run(["umount", str(self.folder)], capture_output=True, check=False)
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def resize(self, size: int) -> None:
        """Set its size in KB."""
        self.size = size
        if not self.limited:
            self._mount("-o", f"remount,size={size}k")

    def read_only(self, yes: bool) -> None:
        """Remount it read-only, or for writing again."""
        self._mount("-o", "remount,ro" if yes else f"remount,rw,size={MAX_KB}k")

    def work(self, work: Callable[[], Any]) -> str:
        """Run work on it and return its error message; empty if it succeeds."""
        if self.limited:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size * 1024, resource.RLIM_INFINITY))
        try:
            work()
        except RamifyError as error:
            return describe_unclear_error(error) or str(error)
        return ""

    def _mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self.folder)], check=True)


def find_leftovers(folder: Path) -> list[str]:
    """Return the names of partial files that a failed build must not leave."""
    index = folder / "index"
    files = [*index.iterdir()] if index.exists() else []
    manifest = read_index_manifest(index / MANIFEST)
    named = manifest.sha256 if manifest else {}
    return [file.name for file in files if file.name not in named and file.name.endswith(PARTIAL_FILE_SUFFIXES)]


def run_at_sizes(scenario: Scenario, base: Path, disk: Disk, step: int, old: Any, new: Any) -> Iterator[dict[str, Any]]:
    """Run the work at increasing sizes until it succeeds three times in a row; yield the result of each."""
    successes = 0
    for size in range(step, MAX_KB, step):
        disk.make(base, size)
        done = run_in_child(lambda: disk.work(lambda: scenario.act(disk.folder)))
        wrong = done.wrong or (done.value if done.value.startswith("no clear error") else "")
        if not wrong and done.value:
            wrong = "" if "make room" in done.value else f"a remedy that does not help: {done.value}"
            wrong = wrong or (f"left: {parts}" if (parts := find_leftovers(disk.folder)) else "")
        checked = run_in_child(lambda: scenario.find_corruption(disk.folder, old, new))
        disk.resize(MAX_KB)
        ended = run_in_child(lambda: scenario.find_problem(disk.folder, old, new))
        wrong = wrong or checked.wrong or checked.value or ended.wrong or ended.value
        yield {"size": size, "error": done.value, "wrong": wrong}
        successes = 0 if done.value else successes + 1
        if successes == 3:
            return


def run_on_read_only(scenario: Scenario, base: Path, disk: Disk, old: Any, new: Any) -> dict[str, Any]:
    """Run the work on a read-only disk, which must give one error, and again when it is writable."""
    disk.make(base, MAX_KB)
    disk.read_only(True)
    done = run_in_child(lambda: disk.work(lambda: scenario.act(disk.folder)))
    read = run_in_child(lambda: scenario.find_corruption(disk.folder, old, new))
    disk.read_only(False)
    ended = run_in_child(lambda: scenario.find_problem(disk.folder, old, new))
    wrong = done.wrong or ("" if done.value else "no error on a disk that is read-only") or read.wrong or read.value
    return {"size": "read-only", "error": done.value, "wrong": wrong or ended.wrong or ended.value}


def run_scenario(name: str, limited: bool, step: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Run the work of a scenario on all disks, and yield the results."""
    scenario, base, undisturbed = SCENARIOS[name], folder / "base", folder / "calm"
    base.mkdir(parents=True)
    prepared = run_in_child(lambda: scenario.prepare(base) and None)
    shutil.copytree(base, undisturbed)
    done = run_in_child(lambda: scenario.act(undisturbed) and None)
    old, new = (run_in_child(lambda place=place: scenario.outcome(place)).value for place in (base, undisturbed))  # type: ignore[misc]
    if prepared.wrong or done.wrong:
        yield {"size": "undisturbed", "error": "", "wrong": prepared.wrong or done.wrong}
        return
    disk = Disk(folder / "disk", limited)
    yield from run_at_sizes(scenario, base, disk, step, old, new)
    if not limited:
        yield run_on_read_only(scenario, base, disk, old, new)
    disk.remove()


def run(seed: int, step: int, out: Path, failures: Failures, only: str | None = None) -> list[str]:
    """Run the work of all scenarios on all disks; return the lines of the report."""
    method = find_limit_method()
    lines = [f"The disks are limited by {method}."]
    for name in [only] if only else DISK_SCENARIOS:
        folder = out / "disk" / name.replace(" ", "-")
        command = [*LIMIT_COMMANDS.get(method, ()), sys.executable, "-m", "tests.torture.disk", name, method, str(step), str(folder)]
        results = []
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                results.append(json.loads(line))
                if results[-1]["wrong"]:
                    failures.add("disk", f"{name} at {results[-1]['size']} KB: {results[-1]['wrong']}", seed=seed, scenario=name)
        if process.returncode or not results:
            failures.add("disk", f"{name} ended with {process.returncode}", seed=seed, scenario=name)
        lines.append(
            f"{name}: {len(results)} disks in steps of {step} KB, "
            f"{sum(bool(one['error']) for one in results)} of them too small or read-only"
        )
        print(f"  {lines[-1]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return lines


if __name__ == "__main__":
    for one in run_scenario(sys.argv[1], sys.argv[2] == FILE_LIMIT, int(sys.argv[3]), Path(sys.argv[4])):
        print(json.dumps(one), flush=True)
