"""Failures with the command that repeats each; and the report of a run, with a plot of memory, descriptors and threads of each process."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from tests.torture.processes import MonitoredProcess

MEASURES = {"memory": "resident memory, MiB", "descriptors": "open descriptors", "threads": "threads"}


class Failures:
    """Failures, which are printed immediately and written to a file of JSON lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: list[dict[str, Any]] = []

    def add(self, part: str, what: str, **about: Any) -> None:
        """Add a failure."""
        entry = {"part": part, "what": what, **about, "repeat": repeat_command(part, **about)}
        self.found.append(entry)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        print(f"FAILED {json.dumps(entry)}", flush=True)


def repeat_command(part: str, seed: int, case: int | None = None, scenario: str | None = None, **_: Any) -> str:
    """Return the command that repeats a failure."""
    more = f" --only {case}" if case is not None else f" --scenario {scenario!r}" if scenario else ""
    return f"python -m tests.torture --part {part} --seed {seed}{more}"


def write_page(out: Path, lines: Sequence[str], failures: Failures, monitored: Sequence[MonitoredProcess]) -> None:
    """Write report.md, and the plot if processes were measured."""
    parts = ["# Torture", *lines]
    if monitored:
        _draw(out / "processes.svg", monitored)
        parts += [
            "![Memory, descriptors and threads of each process over the run](processes.svg)",
            "| process | measure | second fifth | last fifth | at the end |\n|---|---|--:|--:|--:|",
        ]
        for process in monitored:
            for what in MEASURES if process.samples else ():
                early, late = process.fifths(what)
                parts[-1] += f"\n| {process.name} | {what} | {early:.0f} | {late:.0f} | {getattr(process.samples[-1], what):.0f} |"
    parts.append(f"## {len(failures.found)} failures")
    parts += [f"* {one['part']}: {one['what'][:500]}\n  `{one['repeat']}`" for one in failures.found]
    (out / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _draw(file: Path, monitored: Sequence[MonitoredProcess]) -> None:
    figure = Figure(figsize=(9, 8), layout="constrained")
    grid: Any = figure.subplots(len(MEASURES), 1, sharex=True)
    for axes, what in zip(grid, MEASURES, strict=True):
        _panel(axes, what, monitored)
    grid[0].legend(loc="upper left", fontsize=8, ncols=len(monitored), frameon=False)
    grid[-1].set_xlabel("seconds")
    FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})  # type: ignore[no-untyped-call]


def _panel(axes: Axes, what: str, monitored: Sequence[MonitoredProcess]) -> None:
    for process in monitored:
        axes.plot([one.second for one in process.samples], [getattr(one, what) for one in process.samples], label=process.name, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(MEASURES[what])
