"""What an index would cost, printed before it is built."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

from rich.table import Table

from ramify.graphs.building import asks_model, hierarchy_settings
from ramify.graphs.estimating import PILOT, REPORTED, Range, Stage, encoding, estimate
from ramify.graphs.estimating_groups import SUMMED, estimate_hierarchy
from ramify.nodes.settings import EMBEDDED
from ramify.studio.console.building import LISTED
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, out
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import read_leaves
from ramify.tools.index import Index
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.location import Folder, Home
from ramify.tools.index.manifest import MANIFEST, PASSAGES, Kind, Manifest
from ramify.tools.knowledge.kept_replies import WORK
from ramify.tools.knowledge.planned_passages import planned
from ramify.tools.knowledge.units import read_pieces

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
T = TypeVar("T")


class Plan(Protocol):
    """Reads the passages that there are, or that there would be; with an encoder where they are to be encoded."""

    def __call__(self, read: Callable[[Path], T]) -> tuple[T, Encoder | None]:
        """Read them."""
        ...


def show_estimate(
    paths: Sequence[Path],
    home: Home,
    kind: Kind,
    options: Mapping[str, Any],
    embedding: str,
    chunking: tuple[int, int],
    clean: bool,
    group_by: Sequence[str] | None = None,
) -> None:
    """Print stage by stage what a build would cost; nothing is built."""
    if not isinstance(home, Folder) and not paths:
        raise UsageError(f"there is nothing to estimate of the index in {home.where!r}", "name the files or folders that are to be indexed")
    folder = home.path if isinstance(home, Folder) else Path()  # only a folder has a kind beside its passages
    there = home.manifest() if not paths else None

    def plan(read: Callable[[Path], T]) -> tuple[T, Encoder | None]:
        """Read the passages of the index that is there, else those that there would be, with what encodes them."""
        if there is not None:
            return read(folder / PASSAGES), None
        return planned(paths or [folder], embedding, Chunking(*chunking).checked(), clean, progress, read)

    with TemporaryDirectory(prefix="ramify-estimate-") as spare, bar() as progress:
        if kind == "hierarchy":
            stages = _of_hierarchy(plan, folder, there, dict(options), group_by, Path(spare) / WORK)
        elif kind == "graph":
            asks = asks_model(options)
            if asks:  # what it was asked here is not asked again by a build
                note(f"for an estimate the model is asked about {PILOT} texts and {REPORTED} reports; a build does not ask that again")
            pieces, encoder = plan(read_pieces)
            work = folder / WORK if asks and (folder / MANIFEST).is_file() else Path(spare) / WORK
            stages = estimate(pieces, encoder, options, work, progress)
        else:
            pieces, encoder = plan(read_pieces)
            stages = [encoding(pieces, encoder)] if encoder else []
    out().print(_table(stages))
    if any(stage.calls[1] for stage in stages):
        kept = "every reply is kept: an interrupted build goes on where it stopped"
        note(f"{kept}; --max-calls and --max-seconds end one with a usable {kind}")


def _of_hierarchy(
    plan: Plan, folder: Path, there: Manifest | None, options: dict[str, Any], group_by: Sequence[str] | None, work: Path
) -> list[Stage]:
    """Estimate a hierarchy, and say what passages would be grouped by."""
    if hierarchy_settings(options)[1].model != EMBEDDED:
        note(f"for an estimate the model is asked for {SUMMED} summaries")
    (pieces, leaves), encoder = plan(lambda path: (read_pieces(path), read_leaves(path, encoded=there is not None)))
    fields = group_by or (there.group_by if there and there.kind == "hierarchy" else None)
    made = estimate_hierarchy(leaves, pieces, encoder or Index.open(folder).embeddings, options, fields, work)
    told = [", ".join(one) for one in made.fields]
    chosen = "" if group_by else ": --group-by names others"
    several = f"one of {' · '.join(told[:LISTED])}{' …' if len(told) > LISTED else ''}, chosen when they are encoded"
    note(f"passages would be grouped by {told[0] if len(told) == 1 else several}{chosen}")
    return made.stages


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
