"""Building an index on the command line: cost estimates, and summaries of a build."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ramify.studio.console.progress_bar import progress_bar
from ramify.studio.console.streams import note, out, say
from ramify.tools.quoting import one_line, pluralize
from ramify.tools.search.searcher import hidden_note

if TYPE_CHECKING:
    from ramify.graphs.building.cost import Range, Stage
    from ramify.nodes.state import Usage
    from ramify.tools.documents.files import Skipped
    from ramify.tools.index.build import Built, IndexStore
    from ramify.tools.index.manifest import IndexKind

MAX_LISTED = 5
"""Maximum number of units, notes or groups listed."""
MAX_NAMED_FILES = 10
"""Maximum number of files listed with the reason."""
MAX_NAMED_TOGETHER = 3
"""Maximum number of files named that have the same remark."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show_estimate(
    paths: Sequence[Path], store: "IndexStore", kind: "IndexKind", options: Mapping[str, Any], embedding: str, chunking: tuple[int, int],
    clean: bool, group_by: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """Print the estimated cost of each stage of a build, without building."""
    from ramify.graphs.building.cost import index_cost

    with progress_bar() as progress:
        stages = index_cost(paths, store, kind, options, embedding, chunking, clean, group_by, note, progress)
    out().print(_estimate_table(stages))
    if any(stage.calls[1] for stage in stages):
        resume_hint = "every reply is stored, so an interrupted build resumes where it stopped"
        note(f"{resume_hint}; --max-calls and --max-seconds limit a build, and its {kind} is usable")


def _estimate_table(stages: "Sequence[Stage]") -> Table:
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
        calls, tokens, seconds = ((sum(low for low, _ in one), sum(high for _, high in one)) for one in ranges)
        table.add_row(
            "together",
            "",
            _format_range(calls, _format_count),
            _format_range(tokens, _format_count),
            _format_range(seconds, _format_duration),
        )
    return table


def _format_range(bounds: "Range", format_number: Callable[[float], str]) -> str:
    low, high = map(format_number, bounds)
    return low if low == high else f"{low} to {high}"


def _format_count(value: float) -> str:
    return f"{round(value):,}"


def _format_duration(seconds: float) -> str:
    for size, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def build_summary(built: "Built") -> str:
    """Return a one-line summary of a build."""
    changes = {"added": built.added, "changed": built.changed, "unchanged": built.unchanged, "removed": built.removed}
    parts = [f"{count:,} {change}" for change, count in changes.items() if count]
    skipped = f", {pluralize(len(built.skipped), 'file')} skipped" if built.skipped else ""
    documents = f"{built.documents:,} documents ({', '.join(parts)}){skipped}"
    precision = f" in {built.computed_in}" if built.computed_in else ""
    rate = f", {built.encoded / built.seconds:,.0f} passages/s{precision}, start included" if built.encoded else ""
    return f"{documents}, {built.passages:,} passages ({built.encoded:,} encoded){hidden_note(built.hidden)} in {built.seconds:.1f} s{rate}"


def skipped_lines(files: "Sequence[Skipped]", verbose: bool = False) -> Iterator[str]:
    """Yield lines on skipped files: unsupported formats by count, others by name; with `verbose`, one line per file."""
    from ramify.tools.documents.readers import NO_READER

    if verbose:
        yield from (f"skipped {name}: {reason}" for name, reason in files)
        return
    other_files = [(name, reason) for name, reason in files if not reason.startswith(NO_READER)]
    yield from (f"skipped {name}: {reason}" for name, reason in other_files[:MAX_NAMED_FILES])
    if len(other_files) > MAX_NAMED_FILES:
        yield f"skipped {len(other_files) - MAX_NAMED_FILES:,} more; --verbose lists all"
    unsupported = Counter(_suffix(PurePath(name)) for name, reason in files if reason.startswith(NO_READER))
    if unsupported:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unsupported.items(), key=lambda one: (-one[1], one[0])))
        packages = dict.fromkeys(reason.partition(": ")[2] for _, reason in files if reason.startswith(NO_READER) and "package" in reason)
        yield f"skipped {kinds}: no reader for these{''.join(f'; {package}' for package in packages)}"


def remark_lines(built: "Built", verbose: bool = False) -> Iterator[str]:
    """Yield remarks on files that were read; unless `verbose`, the same remark on many files is one line."""
    if built.reread:
        yield f"{pluralize(built.reread, 'file')} read again: their reader has changed"
    files: dict[str, list[str]] = {}
    for name, remark in built.remarks:
        files.setdefault(remark, []).append(name)
    if verbose:
        yield from (f"{name}: {remark}" for name, remark in built.remarks)
        return
    for remark, names in list(files.items())[:MAX_NAMED_FILES]:
        yield f"{', '.join(names) if len(names) <= MAX_NAMED_TOGETHER else pluralize(len(names), 'file')}: {remark}"
    if len(files) > MAX_NAMED_FILES:
        yield f"{len(files) - MAX_NAMED_FILES:,} more remarks on files; --verbose lists all"


def _suffix(name: PurePath) -> str:
    inner = PurePath(name.stem).suffix if name.suffix.lower() == ".gz" else ""
    return f"{inner}{name.suffix}".lower() or "files without a suffix"


def add_graph(folder: Path, options: dict[str, Any], recluster: bool) -> None:
    """Build or update the graph of an index; first print the estimated cost if a model is used."""
    from ramify.graphs.building import asks_model, make_graph
    from ramify.tools.knowledge.build import MAX_NEW_EDGE_SHARE

    uses_model = asks_model(options)
    _print_cost(folder, "graph", options, uses_model)
    with progress_bar() as progress:
        result, usage = make_graph(folder, options, recluster, progress)
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


def build_hierarchy(folder: Path, options: dict[str, Any], group_by: list[str] | None, rebuild: bool) -> None:
    """Build or update the hierarchy of an index; first print the estimated cost if a model is used."""
    from ramify.graphs.building import hierarchy_settings, make_hierarchy
    from ramify.nodes.settings import is_embedded
    from ramify.tools.hierarchy.summaries import MAX_ENCODED_SENTENCES

    uses_model = not is_embedded(hierarchy_settings(options)[1].model)
    _print_cost(folder, "hierarchy", options, uses_model, group_by)
    if not uses_model:
        note(
            f"up to {MAX_ENCODED_SENTENCES} sentences of each new or changed cluster are encoded for its summary; "
            "no passage is encoded again"
        )
    with progress_bar() as progress:
        result, usage = make_hierarchy(folder, options, group_by, rebuild, progress)
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


def _print_cost(folder: Path, kind: "IndexKind", options: dict[str, Any], uses_model: bool, group_by: list[str] | None = None) -> None:
    """Print the estimated cost if a model is used for the first time."""
    from ramify.tools.index.index_store import FolderStore
    from ramify.tools.knowledge.build import REPLIES_FILE

    if uses_model and not (folder / REPLIES_FILE).exists():
        show_estimate([], FolderStore(folder), kind, options, "", (300, 30), True, group_by)


def _print_result(folder: Path, result: str, usage: "Usage") -> None:
    calls = f", {usage.llm_calls:,} model calls, {usage.tokens:,} tokens" if usage.llm_calls else ""
    say(f"{one_line(folder)}: {result}{calls}")
