"""Processes that live as long as the load: started, watched in /proc, and ended."""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
GROWTH = 1.15
SPARE_MIB = 32.0
SPARE = 12
"""A process is flat where its last fifth has at most 15 % and 32 MiB more memory than its second, and where 12 descriptors and threads more
than in its second are left at most once nothing is asked any more: while it is asked, each conversation that is open has some."""
SETTLED_S = 600.0
"""Runs shorter than this are not judged: processes are still loading in their second fifth."""


class Sample(NamedTuple):
    """What a process had at a second of the load."""

    second: float
    memory: float
    """Resident, in MiB."""
    descriptors: float
    threads: float


@dataclass
class Watched:
    """A process by its number, and what was measured."""

    name: str
    pid: int
    samples: list[Sample] = field(default_factory=list)

    def measure(self, second: float) -> None:
        """Measure it once more; nothing where it has ended."""
        try:
            told = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines())
            descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))
            self.samples.append(Sample(second, int(told["VmRSS"].split()[0]) / 1024, descriptors, int(told["Threads"])))
        except (OSError, KeyError):
            return

    def fifths(self, what: str) -> tuple[float, float]:
        """Return the medians of the second and of the last fifth."""
        values = [getattr(sample, what) for sample in self.samples]
        size = max(1, len(values) // 5)
        return median(values[size : 2 * size] or values), median(values[-size:])

    def growing(self) -> list[str]:
        """Say what is not flat."""
        found = []
        for what in ("memory", "descriptors", "threads") if self.samples and self.samples[-1].second >= SETTLED_S else ():
            early, late = self.fifths(what)
            late = late if what == "memory" else getattr(self.samples[-1], what)
            if late > (early * GROWTH + SPARE_MIB if what == "memory" else early + SPARE):
                found.append(f"{self.name}: {what} grew from {early:.0f} to {late:.0f}")
        return found


async def start(name: str, command: Sequence[str], log: Path, environment: Mapping[str, str], stderr: bool = False) -> Process:
    """Start a process; what it says beside its output goes to a file, or with `stderr` to a pipe, too."""
    with (log / f"{name}.log".replace(" ", "-")).open("ab") as file:
        return await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env={**os.environ, **environment}, stdin=PIPE, stdout=PIPE, stderr=PIPE if stderr else file, limit=2**26
        )


def child(words: str) -> int:
    """Return the number of the child process whose command line has these words."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            line, told = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(), status.read_text()
        except OSError:
            continue
        if words in line and f"PPid:\t{os.getpid()}\n" in told:
            return int(status.parent.name)
    raise RuntimeError(f"no child process runs {words!r}")
