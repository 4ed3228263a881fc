"""ramify inspect: show the contents of an index."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import AsJson, check_optional_text
from ramify.studio.console.streams import err, note, out, print_json
from ramify.tools.errors import UsageError
from ramify.tools.user_input import check_text

Where = Annotated[
    str,
    typer.Argument(
        metavar="DIR", help="Folder or address of the index, or demo for the corpus that comes with ramify.", callback=check_text
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write one self-contained page with levels, graph and reports, or with groups."),
]
GroupName = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="NAME", help="Show one group of a hierarchy: its tree of summaries with passages.", callback=check_optional_text
    ),
]


def inspect_command(where: Where, html: Html = None, group: GroupName = None, as_json: AsJson = False) -> None:
    """Show the contents of an index: communities of a graph with their reports, groups of a hierarchy with their diagnostics."""
    if html is not None and as_json:
        raise UsageError("--html and --json exclude each other", "choose one")
    if html is not None and group is not None:
        raise UsageError("--html and --group exclude each other", "choose one")
    with err().status("reading …"):
        from ramify.lab.inspection.contents import group_json, inspect_index
        from ramify.lab.inspection.terminal import print_index, render_group
        from ramify.tools.demo import demo_index
        from ramify.tools.search.searcher import DEMO, open_index

        index = open_index(demo_index("graph") if where == DEMO else where)
        inspection = inspect_index(index)
    if group is not None and inspection.hierarchy is None:
        remedy = f"omit it, or build a hierarchy: `ramify index --kind hierarchy --out {inspection.folder}`"
        raise UsageError(f"--group is for an index of kind hierarchy, not {inspection.manifest.kind}", remedy)
    if group is not None and inspection.hierarchy is not None:
        overview = inspection.hierarchy.find(group)
        if as_json:
            print_json(group_json(inspection.hierarchy, overview))
        else:
            out().print(render_group(inspection.hierarchy, overview, index))
    elif as_json:
        print_json(inspection.to_json())
    else:
        print_index(inspection, out())
    if html is not None:
        from ramify.lab.inspection.page import inspect_page
        from ramify.tools.new_files import write_atomically

        with err().status("drawing …"):
            write_atomically(inspect_page(inspection, index), html)
        note(f"the page is in {html}")


COMMAND = Command(inspect_command, "Documents", after="watch")
