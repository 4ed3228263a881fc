"""The bar of a run: how far it is, the scores so far and the time still to go."""

import time
from collections import defaultdict

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ramify.evaluation.asking import Task
from ramify.evaluation.pace import Pace
from ramify.evaluation.rows import Row
from ramify.studio.console.streams import err, one_line

SHOWN = 6
"""Strategies whose running score fits beside the bar."""


class Watching:
    """A bar on a terminal; elsewhere only the line that tells the speed."""

    def __init__(self, tasks: list[Task], processes: int) -> None:
        columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[told]}", markup=False))
        self._progress = Progress(*columns, console=err(), transient=True, disable=not err().is_terminal)
        self._bar = self._progress.add_task("answering", total=len(tasks), told="")
        self._pace = Pace([task.variant for task in tasks], time.monotonic, processes)
        self._total = len(tasks)
        self._scores: dict[str, list[float]] = defaultdict(list)

    def __enter__(self) -> "Watching":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, row: Row) -> None:
        """Count an answer."""
        self._pace.add(row)
        if not row["variant"] and row["em"] is not None:
            self._scores[row["strategy"]].append(row["em"])
        togo = self._pace.to_go()
        told = [f"{lasting(togo)} to go"] if togo is not None else []
        shown = list(self._scores.items())[:SHOWN]
        told += [f"EM {name} {sum(values) / len(values):.2f}" for name, values in shown]
        self._progress.update(self._bar, completed=self._pace.done, told=" · ".join(told))

    def tell_speed(self) -> None:
        """Say, before the many answers are begun, how long they will take at the speed of the first few."""
        each, togo = self._pace.each, self._pace.to_go()
        if each is not None and togo is not None and self._pace.done < self._total:
            self._say(f"{each:.2g} s an answer, measured on the first {self._pace.done}: about {lasting(togo)} to go")

    def _say(self, message: str) -> None:
        """Print above the bar."""
        self._progress.console.print(Text(one_line(message), style="dim"), soft_wrap=True)


def lasting(seconds: float) -> str:
    """Say how long something takes."""
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
