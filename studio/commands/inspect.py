"""ramify inspect: what an index holds."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.console.index_options import prefix
from ramify.studio.console.key_values import readable
from ramify.studio.console.streams import err, note, one_line, out
from ramify.tools.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from ramify.studio.inspection.contents import Inside, Inspection
    from ramify.tools.index import Index

Where = Annotated[
    str,
    typer.Argument(metavar="DIR", help="Folder or address of the index, or demo for the corpus that comes with ramify.", callback=readable),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write one self-contained page: the levels, a picture of the graph, all reports; or the groups."
    ),
]
GroupName = Annotated[
    str | None,
    typer.Option("--group", metavar="NAME", help="One group of a hierarchy: its tree of summaries, with its passages.", callback=prefix),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one object and nothing else.")]


def inspect(where: Where, html: Html = None, group: GroupName = None, as_json: AsJson = False) -> None:
    """Look at an index: what it holds, the communities of a graph with their reports, the groups of a hierarchy with their diagnostics."""
    if html is not None and as_json:
        raise UsageError("--html and --json are two ways to see an index", "take one of them")
    if html is not None and group is not None:
        raise UsageError("the page has all groups, --group shows one", "take one of them")
    with err().status("looking …"):
        from ramify.studio.inspection.contents import inspection
        from ramify.tools.demo import demo_index
        from ramify.tools.index.searcher import DEMO, opened

        index = opened(demo_index("graph") if where == DEMO else where)
        found = inspection(index)
    if group is not None:
        _one_group(found, index, group, as_json)
        return
    if as_json:
        typer.echo(json.dumps(as_object(found), ensure_ascii=False, indent=2))
        return
    show(found)
    if html is not None:
        from ramify.studio.inspection.page import inspect_page
        from ramify.tools.atomic_file import write_whole

        with err().status("drawing …"):
            write_whole(inspect_page(found, index), html)
        note(f"the page is in {html}")


def _one_group(found: "Inspection", index: "Index", name: str, as_json: bool) -> None:
    """Print one group of a hierarchy; UsageError where the index has no groups, or none of that name."""
    from ramify.studio.inspection.group_json import tree_object
    from ramify.studio.inspection.group_terminal import one_group

    if found.grouped is None:
        remedy = f"leave it out, or make a hierarchy: `ramify index --kind hierarchy --out {found.folder}`"
        raise UsageError(f"--group is for an index of kind hierarchy, not {found.manifest.kind}", remedy)
    group = found.grouped.find(name)
    if as_json:
        typer.echo(json.dumps(tree_object(found.grouped, group), ensure_ascii=False, indent=2))
        return
    out().print(one_group(found.grouped, group, index))


def show(found: "Inspection") -> None:
    """Print what an index holds."""
    from rich.text import Text

    from ramify.studio.inspection.group_terminal import overview
    from ramify.studio.inspection.phrases import NOTES, how_to_add, sizes

    console = out()
    console.print(Text(one_line(found.folder), style="bold"), soft_wrap=True)
    table = _table(headed=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for thing, told in sizes(found):
        table.add_row(thing, Text(one_line(told)))
    console.print(table)
    if found.grouped is not None:
        console.print()
        console.print(overview(found.grouped))
        return
    if found.inside is None:
        console.print(Text(how_to_add(found), style="cyan"), soft_wrap=True)
        return
    for part in _tables(found, found.inside):
        console.print()
        console.print(part)
    console.print()
    for line in NOTES:
        console.print(Text(line, style="dim"))


def _tables(found: "Inspection", inside: "Inside") -> "list[Table]":
    from rich.text import Text

    from ramify.studio.inspection.phrases import CORPORA, LEVELS, corpus_rows, largest, level_rows

    figures = [_figures(LEVELS, level_rows(inside)), _figures(CORPORA, corpus_rows(found))]
    communities = _table()
    for heading in ("names", "rating"):
        communities.add_column(heading, justify="right")
    communities.add_column("largest communities of level 0", overflow="fold")
    for one in largest(inside):
        communities.add_row(one.size, one.rating, Text(one.title))
    return [*figures, communities]


def _figures(heads: tuple[str, ...], rows: Any) -> "Table":
    table = _table()
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left", style=None if number else "bold")
    for row in rows:
        table.add_row(*row)
    return table


def _table(headed: bool = True) -> "Table":
    from rich.table import Table

    return Table(box=None, pad_edge=False, show_header=headed, padding=(0, 2, 0, 0))


def as_object(found: "Inspection") -> dict[str, Any]:
    """Give all there is to see of an index; a plain one has no levels and no reports."""
    from ramify.studio.inspection.group_json import hierarchy_object

    manifest, inside = found.manifest, found.inside
    counts = {"documents": manifest.documents, "passages": manifest.passages, "left_out": sum(manifest.hidden.values())}
    told = {
        "index": found.folder,
        "kind": manifest.kind,
        "embedding": manifest.embedding,
        "chunk_tokens": manifest.chunk_tokens,
        "overlap": manifest.overlap,
        "left_out": manifest.hidden,
        "counts": counts,
        "levels": [],
        "reports": [],
        "facts": {},
    }
    if found.grouped is not None:
        return {**told, **hierarchy_object(found.grouped, counts)}
    return told if inside is None else {**told, **_of_graph(inside, counts)}


def _of_graph(inside: "Inside", counts: dict[str, int]) -> dict[str, Any]:
    more = {
        "names": len(inside.graph.names),
        "connections": len(inside.graph.edges),
        "claims": len(inside.graph.claims),
        "communities": len(inside.partition),
        "unconnected_names": inside.unconnected,
        "passages_with_names": inside.named,
        "tokens": inside.tokens,
        "unread_units": len(inside.unread),
        "replaced_reports": inside.replaced,
    }
    levels = [dict(zip(("level", "communities", "tokens", "share", "modularity"), level, strict=True)) for level in inside.levels]
    return {
        "counts": {**counts, **more},
        "levels": levels,
        "reports": [_report(inside, id) for id in inside.partition],
        "facts": dict(inside.facts),
    }


def _report(inside: "Inside", id: str) -> dict[str, Any]:
    community, report = inside.partition[id], inside.reports[id]
    return {
        "community": id,
        "level": community.level,
        "parent": community.parent,
        "members": inside.members(id),
        "title": report.title,
        "summary": report.summary,
        "rating": report.rating,
        "made_by": report.made_by,
        "findings": [{"text": finding.text, "passages": list(finding.passages)} for finding in report.findings],
    }
