"""`ramify index` for a graph or a hierarchy: the estimated cost of a build, and what a build made."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from ramify.kinds.building import asks_model, build_graph, build_hierarchy, hierarchy_settings
from ramify.kinds.cost import Range, Stage, index_cost
from ramify.kinds.hierarchy.summaries import MAX_ENCODED_SENTENCES
from ramify.kinds.knowledge.build import MAX_NEW_EDGE_SHARE, REPLIES_FILE
from ramify.nodes.settings import is_embedded
from ramify.nodes.state import Usage
from ramify.studio.console.progress_bar import progress_bar
from ramify.studio.console.streams import note, out, say
from ramify.tools.index.build import IndexStore
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.manifest import IndexKind
from ramify.tools.quoting import one_line, pluralize

MAX_LISTED = 5
"""Maximum number of units, notes or groups listed."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show_estimate(
    paths: Sequence[Path], store: IndexStore, kind: IndexKind, options: Mapping[str, Any], embedding: str, chunking: tuple[int, int],
    clean: bool, group_by: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """Print the estimated cost of each stage of a build, without building."""
    with progress_bar() as progress:
        stages = index_cost(paths, store, kind, options, embedding, chunking, clean, group_by, note, progress)
    out().print(_estimate_table(stages))
    if any(stage.calls[1] for stage in stages):
        resume_hint = "every reply is stored, so an interrupted build resumes where it stopped"
        note(f"{resume_hint}; --max-calls and --max-seconds limit a build, and its {kind} is usable")


def _estimate_table(stages: Sequence[Stage]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("stage", "to do", "model calls", "tokens", "time"):
        table.add_column(name, justify="left" if name in ("stage", "to do") else "right")
    for stage in stages:
        table.add_row(
            stage.name,
            stage.todo,
            _format_range(stage.calls, _format_count),
            _format_range(stage.tokens, _format_count),
            _format_range(stage.seconds, _format_duration),
        )
    if len(stages) > 1:
        ranges = ([stage.calls for stage in stages], [stage.tokens for stage in stages], [stage.seconds for stage in stages])
        calls, tokens, seconds = ((sum(low for low, _ in pairs), sum(high for _, high in pairs)) for pairs in ranges)
        table.add_row(
            "together",
            "",
            _format_range(calls, _format_count),
            _format_range(tokens, _format_count),
            _format_range(seconds, _format_duration),
        )
    return table


def _format_range(bounds: Range, format_number: Callable[[float], str]) -> str:
    low, high = map(format_number, bounds)
    return low if low == high else f"{low} to {high}"


def _format_count(value: float) -> str:
    return f"{round(value):,}"


def _format_duration(seconds: float) -> str:
    for size, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def add_graph(folder: Path, options: dict[str, Any], recluster: bool) -> None:
    """Build or update the graph of an index; first print the estimated cost if a model is used."""
    uses_model = asks_model(options)
    _print_cost(folder, "graph", options, uses_model)
    with progress_bar() as progress:
        result, usage = build_graph(folder, options, recluster, progress)
    reports = f"{result.communities:,} communities on {pluralize(result.levels, 'level')}, {result.rewritten:,} reports made"
    _print_result(folder, f"{result.names:,} names, {result.edges:,} connections, {reports}", usage)
    for id, why in list(result.unread.items())[:MAX_LISTED]:
        note(f"not read: {one_line(id)}: {one_line(why)}")
    if result.unread:
        note(f"{len(result.unread):,} units could not be read and were skipped: run the same command again to retry them")
    if result.replaced and uses_model:
        note(f"{result.replaced:,} of {result.communities:,} reports are quoted from the documents, not written by the model")
    if result.new_edges > MAX_NEW_EDGE_SHARE and not recluster:
        note(f"{result.new_edges:.0%} of the connections are newer than the communities: --recluster recomputes them")


def add_hierarchy(folder: Path, options: dict[str, Any], group_by: Sequence[str] | None, rebuild: bool) -> None:
    """Build or update the hierarchy of an index; first print the estimated cost if a model is used."""
    uses_model = not is_embedded(hierarchy_settings(options)[1].model)
    _print_cost(folder, "hierarchy", options, uses_model, group_by)
    if not uses_model:
        note(
            f"up to {MAX_ENCODED_SENTENCES} sentences of each new or changed cluster are encoded for its summary; "
            "no passage is encoded again"
        )
    with progress_bar() as progress:
        result, usage = build_hierarchy(folder, options, group_by, rebuild, progress)
    note(f"passages are grouped by {', '.join(result.fields)}{'' if group_by else ': --group-by names others'}")
    edges = (
        (result.assigned, "without metadata assigned to groups"),
        (result.linked, "linked to further groups"),
        (result.ungrouped, "in no group"),
    )
    passages = "".join(f", {count:,} {what}" for count, what in edges if count)
    founded = f" ({result.new_groups:,} founded)" if result.new_groups else ""
    suspicious = f", suspicious after {pluralize(result.repairs, 'repair')}: {pluralize(result.flagged, 'group')}" if result.flagged else ""
    trees = f"{pluralize(result.nodes, 'summary', 'summaries')}, {pluralize(result.rebuilt_trees, 'tree')} grown"
    _print_result(folder, f"{pluralize(result.groups, 'group')}{founded}{passages}; {trees}{suspicious}", usage)
    for line in result.notes[:MAX_LISTED]:
        note(one_line(line))
    if not result.groups - result.new_groups - bool(result.ungrouped):
        note("no passage has these metadata: one tree is built over all passages")
    if result.replaced and uses_model:
        note(f"{result.replaced:,} of {result.nodes:,} summaries are quoted from the documents, not written by the model")
    if result.drifted:
        drifted = ", ".join(map(one_line, result.drifted[:MAX_LISTED]))
        note(f"{len(result.drifted):,} groups have changed much since they were clustered ({drifted}): --rebuild clusters them again")


def _print_cost(folder: Path, kind: IndexKind, options: dict[str, Any], uses_model: bool, group_by: Sequence[str] | None = None) -> None:
    """Print the estimated cost if a model is used for the first time."""
    if uses_model and not (folder / REPLIES_FILE).exists():
        show_estimate([], FolderStore(folder), kind, options, "", (300, 30), True, group_by)


def _print_result(folder: Path, result: str, usage: Usage) -> None:
    calls = f", {usage.llm_calls:,} model calls, {usage.tokens:,} tokens" if usage.llm_calls else ""
    say(f"{one_line(folder)}: {result}{calls}")
