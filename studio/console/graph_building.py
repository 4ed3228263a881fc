"""The building of a graph as it is told on the command line: what it will cost where a model is asked, how far it is, what it came to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, one_line, out

if TYPE_CHECKING:
    from ramify.nodes.state import Usage
    from ramify.tools.knowledge.build import Structured

LISTED = 5
"""Units that could not be read and are named."""


def build(folder: Path, options: dict[str, Any], recluster: bool) -> None:
    """Make the graph of the index in a folder, or bring it up to date; where a model is asked, say first what that will cost."""
    from ramify.graphs.building import asks_model, structure
    from ramify.studio.console.estimate import show_estimate
    from ramify.tools.index.location import Folder
    from ramify.tools.knowledge.build import NEW_EDGES
    from ramify.tools.knowledge.kept_replies import WORK

    if asks_model(options) and not (folder / WORK).exists():
        show_estimate([], Folder(folder), "graph", options, "", (300, 30), True)
    with bar() as progress:
        made, usage = structure(folder, options, recluster, progress)
    out().print(f"{one_line(folder)}: {told(made, usage)}", soft_wrap=True, markup=False)
    for id, why in list(made.unread.items())[:LISTED]:
        note(f"not read: {one_line(id)}: {one_line(why)}")
    if made.unread:
        note(f"{len(made.unread):,} units were not read, and are passed over: run the same command again to go on with them")
    if made.replaced and asks_model(options):
        note(f"{made.replaced:,} of {made.communities:,} reports are quoted from the documents, not written by the model")
    if made.new_edges > NEW_EDGES and not recluster:
        note(f"{made.new_edges:.0%} of the connections are new since the communities were made: --recluster makes them anew")


def told(made: "Structured", usage: "Usage") -> str:
    """Say what a build came to, in one line."""
    calls = f", {usage.llm_calls:,} model calls, {usage.tokens:,} tokens" if usage.llm_calls else ""
    reports = (
        f"{made.communities:,} communities on {made.levels} {'level' if made.levels == 1 else 'levels'}, {made.rewritten:,} reports made"
    )
    return f"{made.names:,} names, {made.edges:,} connections, {reports}{calls}"
