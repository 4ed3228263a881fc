"""Progress of long work on stderr: a bar on a terminal, a line every ten seconds elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ramify.studio.console.streams import err, note
from ramify.tools.index.progress import Progress as ProgressReport

UNIT_VERBS = {
    **{
        "files": "reading",
        "documents": "reading",
        "units": "reading",
        "verdicts": "reaching",
        "passages for names": "reading",
        "passages for questions": "reading",
    },
    **{"passages": "encoding", "vectors": "linking", "words": "linking", "descriptions": "writing", "reports": "writing"},
    **{"passages in groups": "summing up", "cells": "measuring", "MB": "receiving"},
}
REPORT_INTERVAL_S = 10.0


class SpeedColumn(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        """Return the speed, once known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def progress_bar() -> Iterator[ProgressReport]:
    """Show the progress of each unit of work while the block runs."""
    if not err().is_terminal:
        yield ProgressLines(note)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        SpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err(), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def report(done: int, total: int | None, unit: str) -> None:
            if unit not in tasks:
                for earlier in tasks.values():  # earlier units are finished, also those without a known total
                    progress.update(earlier, total=progress.tasks[earlier].completed)
                tasks[unit] = progress.add_task(_describe_unit(unit), total=total)
            progress.update(tasks[unit], completed=done, total=total)

        yield report


class ProgressLines:
    """Print a line of progress every `EVERY_S` seconds, for logs."""

    def __init__(self, on_line: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._on_line = on_line
        self._clock = clock
        self._last_report = clock()
        self._started: dict[str, tuple[float, int]] = {}

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Update the progress of a unit of work."""
        now = self._clock()
        started, first_done = self._started.setdefault(unit, (now, done))
        if now - self._last_report < REPORT_INTERVAL_S:
            return
        self._last_report = now
        rate = (done - first_done) / (now - started) if now > started else 0.0
        parts = [f"{done:,}" if total is None else f"{done:,} of {total:,}"]
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 1 else f"{rate:.1f}/s")
        if rate and total is not None:
            parts.append(f"{(total - done) / rate:,.0f} s left")
        self._on_line(f"{_describe_unit(unit)}: {', '.join(parts)}")


def _describe_unit(unit: str) -> str:
    return f"{UNIT_VERBS.get(unit, 'counting')} {unit}"
