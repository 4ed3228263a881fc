"""Start processes, and monitor their memory, descriptors and threads in /proc."""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300.0
MAX_GROWTH_FACTOR = 1.15
ALLOWED_GROWTH_MIB = 32.0
ALLOWED_GROWTH_COUNT = 12
"""The memory of a process may grow by 15 % and 32 MiB from its second to its last fifth; after the last question it may have 12 descriptors
and threads more than in its second fifth. During the load, open conversations have some."""
MIN_JUDGED_S = 600.0
"""Minimum length of a run for checks of growth; in shorter ones, processes are still loading in their second fifth."""


class Sample(NamedTuple):
    """Resources of a process at a second of the load."""

    second: float
    memory: float
    """Resident memory in MiB."""
    descriptors: float
    threads: float


@dataclass
class MonitoredProcess:
    """A process with its pid and samples."""

    name: str
    pid: int
    samples: list[Sample] = field(default_factory=list)

    def measure(self, second: float) -> None:
        """Append a sample, unless the process has ended."""
        try:
            status = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines())
            descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))
            self.samples.append(Sample(second, int(status["VmRSS"].split()[0]) / 1024, descriptors, int(status["Threads"])))
        except (OSError, KeyError):
            return

    def fifths(self, what: str) -> tuple[float, float]:
        """Return the medians of the second and of the last fifth."""
        values = [getattr(sample, what) for sample in self.samples]
        size = max(1, len(values) // 5)
        return median(values[size : 2 * size] or values), median(values[-size:])

    def growth_messages(self) -> list[str]:
        """Return a message for each resource that grew beyond its limit."""
        messages = []
        for what in ("memory", "descriptors", "threads") if self.samples and self.samples[-1].second >= MIN_JUDGED_S else ():
            early, late = self.fifths(what)
            late = late if what == "memory" else getattr(self.samples[-1], what)
            if late > (early * MAX_GROWTH_FACTOR + ALLOWED_GROWTH_MIB if what == "memory" else early + ALLOWED_GROWTH_COUNT):
                messages.append(f"{self.name}: {what} grew from {early:.0f} to {late:.0f}")
        return messages


async def start_process(name: str, command: Sequence[str], log: Path, environment: Mapping[str, str], stderr: bool = False) -> Process:
    """Start a process; its standard error goes to a log file, or with `stderr` to a pipe."""
    with (log / f"{name}.log".replace(" ", "-")).open("ab") as file:
        return await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env={**os.environ, **environment}, stdin=PIPE, stdout=PIPE, stderr=PIPE if stderr else file, limit=2**26
        )


def find_child(words: str) -> int:
    """Return the pid of the child process whose command line contains these words."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            line, status_text = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(), status.read_text()
        except OSError:
            continue
        if words in line and f"PPid:\t{os.getpid()}\n" in status_text:
            return int(status.parent.name)
    raise RuntimeError(f"no child process runs {words!r}")
