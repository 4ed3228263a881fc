"""What an index would cost, printed before it is built."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from ramify.graphs.building.graph_cost import Range, Stage
from ramify.graphs.building.index_cost import index_cost
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, out
from ramify.tools.index.location import Home
from ramify.tools.index.manifest import Kind

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show_estimate(
    paths: Sequence[Path], home: Home, kind: Kind, options: Mapping[str, Any], embedding: str, chunking: tuple[int, int], clean: bool,
    group_by: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """Print stage by stage what a build would cost; nothing is built."""
    with bar() as progress:
        stages = index_cost(paths, home, kind, options, embedding, chunking, clean, group_by, note, progress)
    out().print(_table(stages))
    if any(stage.calls[1] for stage in stages):
        kept = "every reply is kept: an interrupted build goes on where it stopped"
        note(f"{kept}; --max-calls and --max-seconds end one with a usable {kind}")


def _table(stages: Sequence[Stage]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("stage", "to do", "model calls", "tokens", "time"):
        table.add_column(name, justify="left" if name in ("stage", "to do") else "right")
    for stage in stages:
        table.add_row(stage.name, stage.todo, _between(stage.calls, _count), _between(stage.tokens, _count), _between(stage.seconds, _time))
    if len(stages) > 1:
        ranges = ([stage.calls for stage in stages], [stage.tokens for stage in stages], [stage.seconds for stage in stages])
        calls, tokens, seconds = ((sum(low for low, _ in one), sum(high for _, high in one)) for one in ranges)
        table.add_row("together", "", _between(calls, _count), _between(tokens, _count), _between(seconds, _time))
    return table


def _between(of: Range, put: Callable[[float], str]) -> str:
    low, high = map(put, of)
    return low if low == high else f"{low} to {high}"


def _count(value: float) -> str:
    return f"{round(value):,}"


def _time(seconds: float) -> str:
    for size, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
