"""What an index would cost, printed before it is built."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from ramify.graphs.building import asks_model
from ramify.graphs.estimating import PILOT, REPORTED, Range, Stage, encoding, estimate
from ramify.studio.bar import bar
from ramify.studio.consoles import note, out
from ramify.tools.index.manifest import MANIFEST, PASSAGES, Kind, read_manifest
from ramify.tools.index.split import Chunking
from ramify.tools.knowledge.planned import planned
from ramify.tools.knowledge.units import read_pieces
from ramify.tools.knowledge.work import WORK

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show_estimate(
    paths: Sequence[Path], folder: Path, kind: Kind, options: Mapping[str, Any], embedding: str, chunking: tuple[int, int], clean: bool
) -> None:
    """Print stage by stage what a build would cost; nothing is built, and what a model was asked for it is not asked again by a build."""
    if kind == "graph" and asks_model(options):
        note(f"for an estimate the model is asked about {PILOT} texts and {REPORTED} reports; a build does not ask that again")
    there = read_manifest(folder / MANIFEST) if not paths else None
    with bar() as progress, TemporaryDirectory(prefix="ramify-estimate-") as spare:
        if there is not None:
            pieces, encoder = read_pieces(folder / PASSAGES), None
        else:
            pieces, encoder = planned(paths or [folder], embedding, Chunking(*chunking).checked(), clean, progress)
        work = folder / WORK if asks_model(options) and (folder / MANIFEST).is_file() else Path(spare) / WORK
        stages = estimate(pieces, encoder, options, work, progress) if kind == "graph" else [encoding(pieces, encoder)] if encoder else []
    out().print(_table(stages))
    if any(stage.calls[1] for stage in stages):
        note(
            "every reply is kept: an interrupted build goes on where it stopped; --max-calls and --max-seconds end one with a usable graph"
        )


def _table(stages: Sequence[Stage]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("stage", "to do", "model calls", "tokens", "time"):
        table.add_column(name, justify="left" if name in ("stage", "to do") else "right")
    for stage in stages:
        table.add_row(stage.name, stage.todo, _between(stage.calls), _between(stage.tokens), _lasting(stage.seconds))
    total = [tuple(sum(pair) for pair in zip(*(getattr(stage, name) for stage in stages), strict=True)) for name in ("calls", "tokens")]
    seconds = tuple(sum(pair) for pair in zip(*(stage.seconds for stage in stages), strict=True))
    if len(stages) > 1:
        table.add_row(
            "together", "", _between((total[0][0], total[0][1])), _between((total[1][0], total[1][1])), _lasting((seconds[0], seconds[1]))
        )
    return table


def _between(of: Range) -> str:
    low, high = (round(value) for value in of)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _lasting(of: Range) -> str:
    low, high = map(_time, of)
    return low if low == high else f"{low} to {high}"


def _time(seconds: float) -> str:
    for size, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
