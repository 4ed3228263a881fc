"""Disks: work on one that is full, at each size in steps of 10 KB, and on one that is remounted read-only; what is left of it.

    python -m tests.torture.disk SCENARIO WAY STEP FOLDER

The disk is a tmpfs in a mount namespace of its own (`unshare --mount`, as an ordinary user with `--user --map-root-user`). Where neither is
allowed, no file may grow beyond the size (RLIMIT_FSIZE), and nothing is remounted.
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
from tests.torture.forks import in_child
from tests.torture.processes import ROOT
from tests.torture.report import Failures
from tests.torture.scenarios import SCENARIOS, Scenario, not_one_line

WAYS = {"a mount of root's": ["unshare", "--mount"], "a mount in a user namespace": ["unshare", "--user", "--map-root-user", "--mount"]}
LIMITED = "a limit on files"
STEP = 10
"""KB."""
MOST = 4096
"""KB at which any of the work must have room."""
FILLING = [name for name in SCENARIOS if name != "agent"]
"""What fills a disk; an agent's checkpointer is its user's own, and so are its errors."""
PARTS = (".part", ".faiss", ".npy", "-journal")
"""Ends of names beginning with `next.` that a failed build must not leave: half a file is of no use, and needs room."""


def way() -> str:
    """Return how a disk can be limited here."""
    for name, command in WAYS.items():
        done = subprocess.run([*command, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"], capture_output=True, check=False)
        if done.returncode == 0:
            return name
    return LIMITED


class Disk:
    """A folder on a disk of a size that can be changed."""

    def __init__(self, folder: Path, limited: bool) -> None:
        self.folder, self.limited = folder, limited
        folder.mkdir(parents=True, exist_ok=True)

    def make(self, base: Path, size: int) -> None:
        """Make the disk anew, with what is there before and so many KB of room."""
        self.remove()
        used = sum(-(-file.stat().st_size // 4096) * 4 for file in base.rglob("*") if file.is_file())
        if not self.limited:
            self._mount("-t", "tmpfs", "-o", f"size={MOST + used}k", "none")
        shutil.copytree(base, self.folder, dirs_exist_ok=True)
        self.resize(used + size)

    def remove(self) -> None:
        """Take it away."""
        if not self.limited:
            subprocess.run(["umount", str(self.folder)], capture_output=True, check=False)
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def resize(self, size: int) -> None:
        """Give it so many KB."""
        self.size = size
        if not self.limited:
            self._mount("-o", f"remount,size={size}k")

    def read_only(self, yes: bool) -> None:
        """Remount it read-only, or for writing again."""
        self._mount("-o", "remount,ro" if yes else f"remount,rw,size={MOST}k")

    def work(self, work: Callable[[], Any]) -> str:
        """Do work on it; return the one line of its error, or empty."""
        if self.limited:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size * 1024, resource.RLIM_INFINITY))
        try:
            work()
        except RamifyError as error:
            return not_one_line(error) or str(error)
        return ""

    def _mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self.folder)], check=True)


def left(folder: Path) -> list[str]:
    """List what a failed build must not leave."""
    index = folder / "index"
    found = [*index.iterdir()] if index.exists() else []
    return [file.name for file in found if file.name.startswith("next.") and file.name.endswith(PARTS)]


def sizes(scenario: Scenario, base: Path, disk: Disk, step: int, old: Any, new: Any) -> Iterator[dict[str, Any]]:
    """Do the work at each size from nothing until it has room three times; yield what came of each."""
    enough = 0
    for size in range(step, MOST, step):
        disk.make(base, size)
        done = in_child(lambda: disk.work(lambda: scenario.act(disk.folder)))
        wrong = done.wrong or (done.value if done.value.startswith("no clear error") else "")
        if not wrong and done.value:
            wrong = "" if "make room" in done.value else f"a remedy that does not help: {done.value}"
            wrong = wrong or (f"left: {parts}" if (parts := left(disk.folder)) else "")
        seen = in_child(lambda: scenario.unusable(disk.folder, old, new))
        disk.resize(MOST)
        ended = in_child(lambda: scenario.wrong(disk.folder, old, new))
        wrong = wrong or seen.wrong or seen.value or ended.wrong or ended.value
        yield {"size": size, "error": done.value, "wrong": wrong}
        enough = 0 if done.value else enough + 1
        if enough == 3:
            return


def on_read_only(scenario: Scenario, base: Path, disk: Disk, old: Any, new: Any) -> dict[str, Any]:
    """Do the work on a disk that is read-only: one error; and again, when it can be written."""
    disk.make(base, MOST)
    disk.read_only(True)
    done = in_child(lambda: disk.work(lambda: scenario.act(disk.folder)))
    read = in_child(lambda: scenario.unusable(disk.folder, old, new))
    disk.read_only(False)
    ended = in_child(lambda: scenario.wrong(disk.folder, old, new))
    wrong = done.wrong or ("" if done.value else "no error on a disk that is read-only") or read.wrong or read.value
    return {"size": "read-only", "error": done.value, "wrong": wrong or ended.wrong or ended.value}


def disks(name: str, limited: bool, step: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Do one scenario's work on all disks."""
    scenario, base, calm = SCENARIOS[name], folder / "base", folder / "calm"
    base.mkdir(parents=True)
    prepared = in_child(lambda: scenario.prepare(base) and None)
    shutil.copytree(base, calm)
    done = in_child(lambda: scenario.act(calm) and None)
    old, new = (in_child(lambda place=place: scenario.outcome(place)).value for place in (base, calm))  # type: ignore[misc]
    if prepared.wrong or done.wrong:
        yield {"size": "undisturbed", "error": "", "wrong": prepared.wrong or done.wrong}
        return
    disk = Disk(folder / "disk", limited)
    yield from sizes(scenario, base, disk, step, old, new)
    if not limited:
        yield on_read_only(scenario, base, disk, old, new)
    disk.remove()


def run(seed: int, step: int, out: Path, failures: Failures, only: str | None = None) -> list[str]:
    """Do all scenarios' work on all disks; return what to tell."""
    named = way()
    lines = [f"The disks are limited by {named}."]
    for name in [only] if only else FILLING:
        folder = out / "disk" / name.replace(" ", "-")
        command = [*WAYS.get(named, ()), sys.executable, "-m", "tests.torture.disk", name, named, str(step), str(folder)]
        told = []
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                told.append(json.loads(line))
                if told[-1]["wrong"]:
                    failures.add("disk", f"{name} at {told[-1]['size']} KB: {told[-1]['wrong']}", seed=seed, scenario=name)
        if process.returncode or not told:
            failures.add("disk", f"{name} ended with {process.returncode}", seed=seed, scenario=name)
        lines.append(
            f"{name}: {len(told)} disks in steps of {step} KB, {sum(bool(one['error']) for one in told)} of them too small or read-only"
        )
        print(f"  {lines[-1]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return lines


if __name__ == "__main__":
    for one in disks(sys.argv[1], sys.argv[2] == LIMITED, int(sys.argv[3]), Path(sys.argv[4])):
        print(json.dumps(one), flush=True)
