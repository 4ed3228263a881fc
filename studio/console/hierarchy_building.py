"""The building of a hierarchy as it is told on the command line: what passages are grouped by, how far it is, what it came to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramify.studio.console.graph_building import LISTED
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, one_line, out

if TYPE_CHECKING:
    from ramify.nodes.state import Usage
    from ramify.tools.hierarchy.build import Made


def build(folder: Path, options: dict[str, Any], group_by: list[str] | None, rebuild: bool) -> None:
    """Make the hierarchy of the index in a folder, or bring it up to date; where a model is asked, say first what that will cost."""
    from ramify.graphs.building import hierarchy, hierarchy_settings
    from ramify.nodes.settings import EMBEDDED
    from ramify.studio.console.estimate import show_estimate
    from ramify.tools.index.location import Folder
    from ramify.tools.knowledge.kept_replies import WORK

    asks = hierarchy_settings(options)[1].model != EMBEDDED
    if asks and not (folder / WORK).exists():
        show_estimate([], Folder(folder), "hierarchy", options, "", (300, 30), True, group_by)
    with bar() as progress:
        made, usage = hierarchy(folder, options, group_by, rebuild, progress)
    chosen = "" if group_by else ": --group-by names others"
    note(f"passages are grouped by {', '.join(made.fields)}{chosen}")
    out().print(f"{one_line(folder)}: {told(made, usage)}", soft_wrap=True, markup=False)
    for line in made.notes[:LISTED]:
        note(one_line(line))
    if not made.groups - made.founded - bool(made.pool):
        note("no passage has these metadata: there is one tree over everything")
    if made.replaced and asks:
        note(f"{made.replaced:,} of {made.nodes:,} summaries are quoted from the documents, not written by the model")
    if made.drifted:
        named = ", ".join(map(one_line, made.drifted[:LISTED]))
        note(f"{len(made.drifted):,} groups have changed much since they were clustered ({named}): --rebuild clusters them anew")


def told(made: "Made", usage: "Usage") -> str:
    """Say what a build came to, in one line."""
    calls = f", {usage.llm_calls:,} model calls, {usage.tokens:,} tokens" if usage.llm_calls else ""
    edges = ((made.routed, "without metadata given to groups"), (made.escaped, "linked to further groups"), (made.pool, "in no group"))
    passages = "".join(f", {count:,} {what}" for count, what in edges if count)
    founded = f" ({made.founded:,} founded)" if made.founded else ""
    suspicious = f", suspicious after {_of(made.repairs, 'repair')}: {_of(made.flagged, 'group')}" if made.flagged else ""
    grown = f"{made.nodes:,} {'summary' if made.nodes == 1 else 'summaries'}, {_of(made.grown, 'tree')} grown"
    return f"{_of(made.groups, 'group')}{founded}{passages}; {grown}{suspicious}{calls}"


def _of(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else f'{what}s'}"
