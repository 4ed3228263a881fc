"""Progress in the terminal: a bar, the growing tree, and where lines go."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import typer
from rich.console import Console, Group
from rich.live import Live
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
from rich.spinner import Spinner
from rich.text import Text

from ramify.graphs.run import RunTracker
from ramify.nodes.tree import DROPPED, Branch
from ramify.nodes.tree.phrases import kind_of
from ramify.studio.drawing.terminal import style_of
from ramify.tools.index.progress import Progress as Report
from ramify.tools.quoting import one_line as one_line
from ramify.tools.quoting import reveal, shortened
from ramify.tools.scrub import scrub


def out() -> Console:
    """Return the console for results."""
    return Console(file=sys.stdout, highlight=False)


def err() -> Console:
    """Return the console for progress and notices."""
    return Console(file=sys.stderr, highlight=False)


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout: exact, with invisible characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    typer.echo(reveal(text, lambda character: json.dumps(character)[1:-1]))


def note(message: str) -> None:
    """Print a notice on stderr, in one line, without secrets."""
    err().print(Text(scrub(one_line(message)), style="dim"), soft_wrap=True)


def fail(message: object) -> None:
    """Print an error on stderr, in one line, without secrets."""
    line = Text("error: ", style="bold red")
    err().print(line.append(shortened(scrub(one_line(message))), style="not bold default"), soft_wrap=True)


VERBS = {
    **{"files": "reading", "documents": "reading", "units": "reading", "verdicts": "reaching", "passages for names": "reading"},
    **{"passages": "encoding", "vectors": "linking", "words": "linking", "descriptions": "writing", "reports": "writing"},
    **{"passages in groups": "summing up", "cells": "measuring"},
}
EVERY_S = 10.0


class Rate(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        """Return the speed, once known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def bar() -> Iterator[Report]:
    """Show the progress of each unit of work while the block runs."""
    if not err().is_terminal:
        yield Lines(note)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=err(), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def report(done: int, total: int | None, unit: str) -> None:
            if unit not in tasks:
                for earlier in tasks.values():  # what had no known end has reached it
                    progress.update(earlier, total=progress.tasks[earlier].completed)
                tasks[unit] = progress.add_task(_doing(unit), total=total)
            progress.update(tasks[unit], completed=done, total=total)

        yield report


class Lines:
    """Print a line of progress every `EVERY_S` seconds, for logs."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._told = clock()
        self._began: dict[str, tuple[float, int]] = {}

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Update the progress of a unit of work."""
        now = self._clock()
        began, first = self._began.setdefault(unit, (now, done))
        if now - self._told < EVERY_S:
            return
        self._told = now
        rate = (done - first) / (now - began) if now > began else 0.0
        parts = [f"{done:,}" if total is None else f"{done:,} of {total:,}"]
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 1 else f"{rate:.1f}/s")
        if rate and total is not None:
            parts.append(f"{(total - done) / rate:,.0f} s left")
        self._tell(f"{_doing(unit)}: {', '.join(parts)}")


def _doing(unit: str) -> str:
    return f"{VERBS.get(unit, 'counting')} {unit}"


class Watching(RunTracker):
    """Show notices of a run, and on a terminal the growing tree, which is removed at the end."""

    def __init__(self, console: Console, tell: Callable[[str], None] = note) -> None:
        super().__init__(tell)
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = (
            Live(console=console, get_renderable=self.picture, transient=True, refresh_per_second=10) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def picture(self) -> Group:
        """Return the current state, one line per branch."""
        busy = self.busy
        self._spinner.text = Text(f" {self.doing} · {time.monotonic() - self._began:.0f} s", style="bold")
        lines = [_line(branch, busy.get(branch.path)) for branch in self.tree.values()]
        return Group(self._spinner, *lines)


def _line(branch: Branch, doing: str | None) -> Text:
    line = Text("  " * (branch.depth + 1), no_wrap=True, overflow="ellipsis")
    line.append(f"{branch.path} ", style="bold")
    line.append(f"{doing} …" if doing else branch.status, style="yellow" if doing else style_of(branch.status))
    line.append(f"  {one_line(kind_of(branch))}", style="dim" if branch.status in DROPPED else "")
    if branch.answer is not None and not doing:
        line.append(f" → {one_line(branch.answer)}", style="bold")
    return line
