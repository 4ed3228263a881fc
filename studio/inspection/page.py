"""A self-contained page of an index without scripts: facts, graph with reports, or groups."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ramify.nodes.tree.citation import Citation
from ramify.studio.drawing.phrases import named
from ramify.studio.inspection import graph_layout
from ramify.studio.inspection.contents import Inspection, sources
from ramify.studio.inspection.description import GroupTree, about, anchor, beside, facts, how_to_add, notes, tables
from ramify.tools.hierarchy.index import Grouped
from ramify.tools.hierarchy.leaves import Node
from ramify.tools.index import Index
from ramify.tools.knowledge.index import Inside
from ramify.tools.knowledge.reports import QUOTED
from ramify.tools.pages import render_macro, render_page
from ramify.tools.quoting import truncate_line

PARTS = "inspect_parts.html"
NOTHING = Markup()
ROOM = 4_000_000
"""Size limit of the foldable parts in bytes: reports by level and size, groups by size."""
NAMES = 40
"""Names of a community that are written out."""
_LEAVES = 30
"""Passages below a summary that are shown."""
_NAMED, _LONG = 80, 240
"""Characters of a name in a table, and of a passage."""
_TOGETHER = 400
"""Communities whose passages are read at a time."""
_AROUND, _BRIEF = 250, 1500
"""Bytes of what is around a report, and those kept for each group that is still to come."""


def inspect_page(found: Inspection, index: Index) -> str:
    """Return the page of an index."""
    own = _graph(found.inside, index) if found.inside else _hierarchy(found.grouped, index) if found.grouped else {}
    return render_page(
        "inspect.html",
        found=found,
        title=Path(found.folder).name or found.folder,
        sizes=list(facts(found)),
        tables=[one._replace(rows=[(truncate_line(first, _NAMED), *rest) for first, *rest in one.rows]) for one in tables(found)],
        notes=notes(found),
        how_to_add=how_to_add(found),
        **own,
    )


def _graph(inside: Inside, index: Index) -> dict[str, Any]:
    shown = graph_layout.picture(inside)
    legend = [(colour, _place(id), inside.reports[id].title, f"{inside.size(id):,} names") for id, colour in shown.colours.items()]
    if others := len(inside.root) - len(shown.colours):
        legend.append((graph_layout.OTHER, "", f"{others:,} other communities", ""))
    written = _reports(inside, index)
    return {
        "picture": render_macro(PARTS, "picture", shown, _place),
        "legend": legend,
        "caption": _caption(inside, shown),
        "left_out": list(_left_out(inside, written)),
        "unfolded": [_community(inside, id, written) for id in inside.root if id in written],
    }


def _place(id: str) -> str:
    """Return the anchor of a community's report."""
    return f"community-{id}"


def _caption(inside: Inside, shown: graph_layout.Picture) -> str:
    undrawn = f", and of the connections among them the {len(shown.lines):,} told of most often" if shown.undrawn else ""
    most, dots, names = f"{graph_layout.NAMES:,}", f"{len(shown.dots):,}", f"{len(inside.graph.names):,}"
    whole = f"The {dots} most connected of {names} names"
    fewer = f"Of the {most} most connected of {names} names the {dots} that are connected with one another"
    return (
        f"{whole if len(shown.dots) == graph_layout.NAMES else fewer}{undrawn}. The area of a dot is its number of "
        "connections in the whole graph, its colour its community at level 0; a dot leads to its community's report. Placed by ForceAtlas2."
    )


def _left_out(inside: Inside, written: Mapping[str, Markup]) -> Iterator[str]:
    missing = Counter(community.level for id, community in inside.partition.items() if id not in written)
    if missing:
        counted = ", ".join(f"{missing[level]:,} of level {level}" for level in sorted(missing))
        yield f"Left out, so that the page stays small: the reports of the smallest communities ({counted}); --json gives all."
    if any(report.made_by == QUOTED for report in inside.reports.values()):
        yield "Quoted reports are sentences of the documents; their title is the most connected names, their rating grows with their size."


def _reports(inside: Inside, index: Index) -> dict[str, Markup]:
    """Return the reports of communities up to the size limit, parents first."""
    order = sorted(inside.partition, key=lambda id: (inside.partition[id].level, -inside.size(id)))
    written: dict[str, Markup] = {}
    left = ROOM
    for start in range(0, len(order), _TOGETHER):
        ids = order[start : start + _TOGETHER]
        cited = sources(index, [passage for id in ids for passage in inside.reports[id].passages])
        for id in ids:
            report = _report(inside, id, cited)
            left -= len(report.encode()) + _AROUND
            if left < 0:
                return written
            written[id] = report
    return written


def _report(inside: Inside, id: str, cited: Mapping[str, Citation]) -> Markup:
    """Return a report's findings with their sources, quoted if the report is not itself a quotation."""
    report, members = inside.reports[id], inside.members(id)
    quoted = report.made_by == QUOTED
    findings = []
    for finding in report.findings:
        rests_on = [cited[passage] for passage in finding.passages if passage in cited]
        findings.append((finding.text, list(map(named, rests_on)), [] if quoted else [truncate_line(one.text, _LONG) for one in rests_on]))
    more = f" and {len(members) - NAMES:,} more" if len(members) > NAMES else ""
    return render_macro(PARTS, "report", report, quoted, findings, " · ".join(truncate_line(name, 60) for name in members[:NAMES]), more)


def _community(inside: Inside, id: str, written: Mapping[str, Markup]) -> Markup:
    report, parts = inside.reports[id], inside.parts.get(id, ())
    within = [_community(inside, one, written) for one in parts if one in written]
    if absent := sum(one not in written for one in parts):
        within.append(render_macro(PARTS, "note", f"{absent:,} smaller communities are left out."))
    size = f"{inside.size(id):,} names · rating {report.rating:g} · community {id}"
    heading = f"{len(parts):,} communities within" if parts else ""
    return render_macro(PARTS, "unfolded", report.title, size, written[id], _place(id), heading, within)


def _hierarchy(found: Grouped, index: Index) -> dict[str, Any]:
    """Return groups by size up to the size limit: whole, else only the first summary."""
    written: dict[str, Markup] = {}
    left = ROOM
    for coming, group in zip(reversed(range(len(found.groups))), found.by_size, strict=True):
        near = [(anchor(other.number), truncate_line(other.name, _NAMED), f"{cosine:.2f}") for other, cosine in beside(found, group)]
        tree, told, place = (
            _Tree(found, group, index, _LEAVES),
            render_macro(PARTS, "facts", about(found, group), near),
            anchor(group.number),
        )
        made = tree.html(tree.root, told, place)
        if len(made.encode()) > left - _BRIEF * coming:
            made = tree.html(tree.root, told, place, whole=False)
        if len(made.encode()) <= left:
            written[place] = made
            left -= len(made.encode())
    missing = len(found.groups) - len(written)
    left_out = [f"Left out, so that the page stays small: {missing:,} of the smallest groups; --json gives all."] if missing else []
    if found.made_by == QUOTED:
        left_out.append("Quoted summaries are sentences of the passages, those nearest their middle.")
    return {"left_out": left_out, "unfolded": written}


class _Tree(GroupTree):
    """A group's tree as HTML."""

    def html(self, node: Node, facts: Markup = NOTHING, id: str = "", whole: bool = True) -> Markup:
        """Return a foldable summary with the facts of its group and, if `whole`, everything below it."""
        said = facts + render_macro(PARTS, "summary", [(one.text, *self._where(one.leaf)) for one in node.summary.said])
        size = f"{len(node.leaves):,} passages{' · quoted instead' if self.is_replaced(node) else ''}"
        if not whole:
            left_out = render_macro(PARTS, "note", "What is below it is left out, so that the page stays small: --group shows it.")
            return render_macro(PARTS, "unfolded", node.title, size, said + left_out, id)
        heading = f"{len(node.children):,} summaries within" if node.children else f"{len(node.leaves):,} passages"
        within = [self.html(self.nodes[child]) for child in node.children] or [self._passages(node.leaves)]
        return render_macro(PARTS, "unfolded", node.title, size, said, id, heading, within)

    def _passages(self, leaves: Sequence[int]) -> Markup:
        shown = [(self.text(leaf, _LONG), *self._where(leaf), self.kinds.get(leaf, "")) for leaf in leaves[:_LEAVES]]
        more = f"and {len(leaves) - _LEAVES:,} more passages" if len(leaves) > _LEAVES else ""
        return render_macro(PARTS, "leaves", shown, more)

    def _where(self, leaf: int) -> tuple[str, str]:
        id, cited = self.cited[leaf]
        return named(cited) if cited else (id, "")
