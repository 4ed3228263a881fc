"""ramify inspect: show the contents of an index."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.console.options import AsJson, readable_or_none
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
    typer.Option("--html", metavar="FILE", help="Write one self-contained page with levels, graph and reports, or with the groups."),
]
GroupName = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="NAME", help="Show one group of a hierarchy: its tree of summaries with passages.", callback=readable_or_none
    ),
]


def inspect(where: Where, html: Html = None, group: GroupName = None, as_json: AsJson = False) -> None:
    """Show the contents of an index: communities of a graph with their reports, groups of a hierarchy with their diagnostics."""
    if html is not None and as_json:
        raise UsageError("--html and --json exclude each other", "choose one")
    if html is not None and group is not None:
        raise UsageError("--html and --group exclude each other", "choose one")
    with err().status("reading …"):
        from ramify.studio.inspection.contents import group_json, inspection
        from ramify.studio.inspection.terminal import one_group, show
        from ramify.tools.demo import demo_index
        from ramify.tools.index.searcher import DEMO, opened

        index = opened(demo_index("graph") if where == DEMO else where)
        found = inspection(index)
    if group is not None and found.grouped is None:
        remedy = f"leave it out, or make a hierarchy: `ramify index --kind hierarchy --out {found.folder}`"
        raise UsageError(f"--group is for an index of kind hierarchy, not {found.manifest.kind}", remedy)
    if group is not None and found.grouped is not None:
        named = found.grouped.find(group)
        if as_json:
            print_json(group_json(found.grouped, named))
        else:
            out().print(one_group(found.grouped, named, index))
    elif as_json:
        print_json(found.to_json())
    else:
        show(found, out())
    if html is not None:
        from ramify.studio.inspection.page import inspect_page
        from ramify.tools.new_files import write_atomically

        with err().status("drawing …"):
            write_atomically(inspect_page(found, index), html)
        note(f"the page is in {html}")
