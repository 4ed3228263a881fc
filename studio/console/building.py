"""Building an index on the command line: cost estimates, and summaries of what was built."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, out, say
from ramify.tools.index.searcher import hidden_note
from ramify.tools.quoting import one_line, pluralize

if TYPE_CHECKING:
    from ramify.graphs.building.cost import Range, Stage
    from ramify.nodes.state import Usage
    from ramify.tools.documents.files import Skipped
    from ramify.tools.index.build import Built, IndexStore
    from ramify.tools.index.manifest import Kind

LISTED = 5
"""Maximum number of units, notes or groups listed."""
NAMED = 10
"""Maximum number of files listed with the reason."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show_estimate(
    paths: Sequence[Path], home: "IndexStore", kind: "Kind", options: Mapping[str, Any], embedding: str, chunking: tuple[int, int],
    clean: bool, group_by: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """Print the estimated cost of each stage of a build, without building."""
    from ramify.graphs.building.cost import index_cost

    with bar() as progress:
        stages = index_cost(paths, home, kind, options, embedding, chunking, clean, group_by, note, progress)
    out().print(_table(stages))
    if any(stage.calls[1] for stage in stages):
        kept = "every reply is stored: an interrupted build resumes where it stopped"
        note(f"{kept}; --max-calls and --max-seconds end one with a usable {kind}")


def _table(stages: "Sequence[Stage]") -> Table:
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


def _between(of: "Range", put: Callable[[float], str]) -> str:
    low, high = map(put, of)
    return low if low == high else f"{low} to {high}"


def _count(value: float) -> str:
    return f"{round(value):,}"


def _time(seconds: float) -> str:
    for size, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def taken_in(built: "Built") -> str:
    """Return a one-line summary of a build."""
    fates = {"added": built.added, "changed": built.changed, "unchanged": built.unchanged, "removed": built.removed}
    parts = [f"{count:,} {fate}" for fate, count in fates.items() if count]
    skipped = f", {pluralize(len(built.skipped), 'file')} skipped" if built.skipped else ""
    documents = f"{built.documents:,} documents ({', '.join(parts)}){skipped}"
    number = f" in {built.computed_in}" if built.computed_in else ""
    rate = f", {built.encoded / built.seconds:,.0f} passages/s{number}, start included" if built.encoded else ""
    return f"{documents}, {built.passages:,} passages ({built.encoded:,} encoded){hidden_note(built.hidden)} in {built.seconds:.1f} s{rate}"


def skipped(files: "Sequence[Skipped]", verbose: bool = False) -> Iterator[str]:
    """Yield lines on skipped files: unsupported formats by count, others by name; with `verbose`, one line per file."""
    from ramify.tools.documents.readers import NO_READER

    if verbose:
        yield from (f"skipped {name}: {reason}" for name, reason in files)
        return
    others = [(name, reason) for name, reason in files if not reason.startswith(NO_READER)]
    yield from (f"skipped {name}: {reason}" for name, reason in others[:NAMED])
    if len(others) > NAMED:
        yield f"skipped {len(others) - NAMED:,} more; --verbose lists all"
    unread = Counter(_ending(PurePath(name)) for name, reason in files if reason.startswith(NO_READER))
    if unread:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unread.items(), key=lambda one: (-one[1], one[0])))
        yield f"skipped {kinds}: no reader for these"


def remarked(remarks: "Sequence[Skipped]", verbose: bool = False) -> Iterator[str]:
    """Yield remarks on files that were read."""
    named = remarks if verbose else remarks[:NAMED]
    yield from (f"{name}: {remark}" for name, remark in named)
    if rest := len(remarks) - len(named):
        yield f"{rest:,} more remarks on files; --verbose lists all"


def _ending(name: PurePath) -> str:
    inner = PurePath(name.stem).suffix if name.suffix.lower() == ".gz" else ""
    return f"{inner}{name.suffix}".lower() or "without ending"


def add_graph(folder: Path, options: dict[str, Any], recluster: bool) -> None:
    """Build or update the graph of an index; first print the estimated cost if a model is used."""
    from ramify.graphs.building import asks_model, structure
    from ramify.tools.knowledge.build import NEW_EDGES

    asks = asks_model(options)
    _tell_cost(folder, "graph", options, asks)
    with bar() as progress:
        made, usage = structure(folder, options, recluster, progress)
    reports = f"{made.communities:,} communities on {pluralize(made.levels, 'level')}, {made.rewritten:,} reports made"
    _tell(folder, f"{made.names:,} names, {made.edges:,} connections, {reports}", usage)
    for id, why in list(made.unread.items())[:LISTED]:
        note(f"not read: {one_line(id)}: {one_line(why)}")
    if made.unread:
        note(f"{len(made.unread):,} units could not be read and were skipped: run the same command again to retry them")
    if made.replaced and asks:
        note(f"{made.replaced:,} of {made.communities:,} reports are quoted from the documents, not written by the model")
    if made.new_edges > NEW_EDGES and not recluster:
        note(f"{made.new_edges:.0%} of the connections are newer than the communities: --recluster recomputes them")


def build_hierarchy(folder: Path, options: dict[str, Any], group_by: list[str] | None, rebuild: bool) -> None:
    """Build or update the hierarchy of an index; first print the estimated cost if a model is used."""
    from ramify.graphs.building import hierarchy, hierarchy_settings
    from ramify.nodes.settings import is_embedded
    from ramify.tools.hierarchy.summaries import WEIGHED

    asks = not is_embedded(hierarchy_settings(options)[1].model)
    _tell_cost(folder, "hierarchy", options, asks, group_by)
    if not asks:
        note(f"up to {WEIGHED} sentences of each new or changed cluster are encoded for its summary; no passage is encoded again")
    with bar() as progress:
        made, usage = hierarchy(folder, options, group_by, rebuild, progress)
    note(f"passages are grouped by {', '.join(made.fields)}{'' if group_by else ': --group-by names others'}")
    edges = ((made.routed, "without metadata assigned to groups"), (made.escaped, "linked to further groups"), (made.pool, "in no group"))
    passages = "".join(f", {count:,} {what}" for count, what in edges if count)
    founded = f" ({made.founded:,} founded)" if made.founded else ""
    suspicious = f", suspicious after {pluralize(made.repairs, 'repair')}: {pluralize(made.flagged, 'group')}" if made.flagged else ""
    grown = f"{pluralize(made.nodes, 'summary', 'summaries')}, {pluralize(made.grown, 'tree')} grown"
    _tell(folder, f"{pluralize(made.groups, 'group')}{founded}{passages}; {grown}{suspicious}", usage)
    for line in made.notes[:LISTED]:
        note(one_line(line))
    if not made.groups - made.founded - bool(made.pool):
        note("no passage has these metadata: there is one tree over everything")
    if made.replaced and asks:
        note(f"{made.replaced:,} of {made.nodes:,} summaries are quoted from the documents, not written by the model")
    if made.drifted:
        named = ", ".join(map(one_line, made.drifted[:LISTED]))
        note(f"{len(made.drifted):,} groups have changed much since they were clustered ({named}): --rebuild clusters them again")


def _tell_cost(folder: Path, kind: "Kind", options: dict[str, Any], asks: bool, group_by: list[str] | None = None) -> None:
    """Print the estimated cost if a model is used for the first time."""
    from ramify.tools.index.index_store import FolderStore
    from ramify.tools.knowledge.build import WORK

    if asks and not (folder / WORK).exists():
        show_estimate([], FolderStore(folder), kind, options, "", (300, 30), True, group_by)


def _tell(folder: Path, made: str, usage: "Usage") -> None:
    calls = f", {usage.llm_calls:,} model calls, {usage.tokens:,} tokens" if usage.llm_calls else ""
    say(f"{one_line(folder)}: {made}{calls}")
