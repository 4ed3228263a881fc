"""A self-contained page of an index without scripts: facts, graph with reports, or groups."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ramify.kinds.hierarchy.index import HierarchyView
from ramify.kinds.hierarchy.leaves import Node
from ramify.kinds.knowledge.communities import EXTRACTIVE
from ramify.kinds.knowledge.index import GraphView
from ramify.lab.inspection import graph_layout
from ramify.lab.inspection.contents import Inspection, load_citations
from ramify.lab.inspection.description import (
    GroupTree,
    group_anchor,
    group_details,
    index_facts,
    index_tables,
    structure_hint,
    table_notes,
)
from ramify.nodes.tree.citation import Citation
from ramify.studio.drawing.phrases import citation_title_link
from ramify.tools.index import Index
from ramify.tools.pages import render_macro, render_page
from ramify.tools.quoting import truncate_line

TEMPLATE = "inspect_parts.html"
EMPTY_MARKUP = Markup()
MAX_PARTS_BYTES = 4_000_000
"""Size limit of the foldable parts in bytes: reports by level and size, groups by size."""
MAX_MEMBER_NAMES = 40
"""Maximum number of names listed of a community."""
_MAX_LEAVES = 30
"""Maximum number of passages displayed below a summary."""
_MAX_NAME_CHARS, _MAX_TEXT_CHARS = 80, 240
"""Maximum lengths of a name in a table, and of a passage."""
_BATCH_SIZE = 400
"""Number of communities whose passages are loaded at a time."""
_REPORT_OVERHEAD_BYTES, _MIN_GROUP_BYTES = 250, 1500
"""Estimated size of the markup around a report, and size reserved for each remaining group."""


def inspect_page(inspection: Inspection, index: Index) -> str:
    """Return the self-contained HTML page of an index."""
    sections = (
        _graph_sections(inspection.graph, index)
        if inspection.graph
        else _hierarchy_sections(inspection.hierarchy, index)
        if inspection.hierarchy
        else {}
    )
    return render_page(
        "inspect.html",
        found=inspection,
        title=Path(inspection.folder).name or inspection.folder,
        sizes=list(index_facts(inspection)),
        tables=[
            table._replace(rows=[(truncate_line(first, _MAX_NAME_CHARS), *rest) for first, *rest in table.rows])
            for table in index_tables(inspection)
        ],
        notes=table_notes(inspection),
        structure_hint=structure_hint(inspection),
        **sections,
    )


def _graph_sections(inside: GraphView, index: Index) -> dict[str, Any]:
    drawing = graph_layout.layout_graph(inside)
    legend = [
        (colour, _community_anchor(id), inside.reports[id].title, f"{inside.size(id):,} names") for id, colour in drawing.colours.items()
    ]
    if others := len(inside.root) - len(drawing.colours):
        legend.append((graph_layout.OTHER_COLOUR, "", f"{others:,} other communities", ""))
    rendered = _render_reports(inside, index)
    return {
        "picture": render_macro(TEMPLATE, "picture", drawing, _community_anchor),
        "legend": legend,
        "caption": _caption(inside, drawing),
        "left_out": list(_omission_notes(inside, rendered)),
        "unfolded": [_render_community(inside, id, rendered) for id in inside.root if id in rendered],
    }


def _community_anchor(id: str) -> str:
    """Return the anchor of a community's report."""
    return f"community-{id}"


def _caption(inside: GraphView, drawing: graph_layout.GraphDrawing) -> str:
    edges_note = f", and of the connections among them the {len(drawing.edge_paths):,} most frequent" if drawing.omitted_edges else ""
    limit, dots, names = f"{graph_layout.MAX_NAMES:,}", f"{len(drawing.dots):,}", f"{len(inside.graph.names):,}"
    complete = f"The {dots} most connected of {names} names"
    partial = f"Of the {limit} most connected of {names} names the {dots} that are connected with one another"
    return (
        f"{complete if len(drawing.dots) == graph_layout.MAX_NAMES else partial}{edges_note}. The area of a dot is its number of "
        "connections in the whole graph, its colour its community at level 0; a dot leads to its community's report. Placed by ForceAtlas2."
    )


def _omission_notes(inside: GraphView, rendered: Mapping[str, Markup]) -> Iterator[str]:
    omitted = Counter(community.level for id, community in inside.partition.items() if id not in rendered)
    if omitted:
        counted = ", ".join(f"{omitted[level]:,} of level {level}" for level in sorted(omitted))
        yield f"Omitted to limit the size of the page: the reports of the smallest communities ({counted}); --json prints all."
    if any(report.made_by == EXTRACTIVE for report in inside.reports.values()):
        yield "Quoted reports are sentences of the documents; their title is the most connected names, their rating grows with their size."


def _render_reports(inside: GraphView, index: Index) -> dict[str, Markup]:
    """Return the reports of communities up to the size limit, parents first."""
    by_size = sorted(inside.partition, key=lambda id: (inside.partition[id].level, -inside.size(id)))
    rendered: dict[str, Markup] = {}
    remaining = MAX_PARTS_BYTES
    for start in range(0, len(by_size), _BATCH_SIZE):
        ids = by_size[start : start + _BATCH_SIZE]
        cited = load_citations(index, [passage for id in ids for passage in inside.reports[id].passages])
        for id in ids:
            report = _render_report(inside, id, cited)
            remaining -= len(report.encode()) + _REPORT_OVERHEAD_BYTES
            if remaining < 0:
                return rendered
            rendered[id] = report
    return rendered


def _render_report(inside: GraphView, id: str, cited: Mapping[str, Citation]) -> Markup:
    """Return a report's findings with their sources, quoted if the report is not itself a quotation."""
    report, members = inside.reports[id], inside.members(id)
    quoted = report.made_by == EXTRACTIVE
    findings = []
    for finding in report.findings:
        cited_passages = [cited[passage] for passage in finding.passages if passage in cited]
        findings.append(
            (
                finding.text,
                list(map(citation_title_link, cited_passages)),
                [] if quoted else [truncate_line(citation.text, _MAX_TEXT_CHARS) for citation in cited_passages],
            )
        )
    more = f" and {len(members) - MAX_MEMBER_NAMES:,} more" if len(members) > MAX_MEMBER_NAMES else ""
    return render_macro(
        TEMPLATE, "report", report, quoted, findings, " · ".join(truncate_line(name, 60) for name in members[:MAX_MEMBER_NAMES]), more
    )


def _render_community(inside: GraphView, id: str, rendered: Mapping[str, Markup]) -> Markup:
    report, parts = inside.reports[id], inside.sub_communities.get(id, ())
    children = [_render_community(inside, part, rendered) for part in parts if part in rendered]
    if omitted := sum(part not in rendered for part in parts):
        children.append(render_macro(TEMPLATE, "note", f"{omitted:,} smaller communities are omitted."))
    size = f"{inside.size(id):,} names · rating {report.rating:g} · community {id}"
    heading = f"{len(parts):,} communities within" if parts else ""
    return render_macro(TEMPLATE, "unfolded", report.title, size, rendered[id], _community_anchor(id), heading, children)


def _hierarchy_sections(hierarchy: HierarchyView, index: Index) -> dict[str, Any]:
    """Return the groups by size up to the size limit: complete, or if too large only their first summary."""
    rendered: dict[str, Markup] = {}
    remaining = MAX_PARTS_BYTES
    for groups_left, group in zip(reversed(range(len(hierarchy.groups))), hierarchy.by_size, strict=True):
        tree, details, anchor_id = (
            _GroupTreeHtml(hierarchy, group, index, _MAX_LEAVES),
            render_macro(TEMPLATE, "facts", group_details(hierarchy, group)),
            group_anchor(group.number),
        )
        html = tree.html(tree.root, details, anchor_id)
        if len(html.encode()) > remaining - _MIN_GROUP_BYTES * groups_left:
            html = tree.html(tree.root, details, anchor_id, whole=False)
        if len(html.encode()) <= remaining:
            rendered[anchor_id] = html
            remaining -= len(html.encode())
    omitted = len(hierarchy.groups) - len(rendered)
    left_out = [f"Omitted to limit the size of the page: the {omitted:,} smallest groups; --json prints all."] if omitted else []
    if hierarchy.made_by == EXTRACTIVE:
        left_out.append("Quoted summaries are the sentences of the passages nearest to their centre.")
    return {"left_out": left_out, "unfolded": rendered}


class _GroupTreeHtml(GroupTree):
    """A group's tree as HTML."""

    def html(self, node: Node, facts: Markup = EMPTY_MARKUP, id: str = "", whole: bool = True) -> Markup:
        """Return a foldable summary with the facts of its group and, if `whole`, everything below it."""
        content = facts + render_macro(
            TEMPLATE, "summary", [(sentence.text, *self._passage_link(sentence.leaf)) for sentence in node.summary.sentences]
        )
        size = f"{len(node.leaves):,} passages{' · quoted instead' if self.is_replaced(node) else ''}"
        if not whole:
            left_out = render_macro(TEMPLATE, "note", "The levels below are omitted to limit the size of the page: --group shows them.")
            return render_macro(TEMPLATE, "unfolded", node.title, size, content + left_out, id)
        heading = f"{len(node.children):,} summaries within" if node.children else f"{len(node.leaves):,} passages"
        children = [self.html(self.nodes[child]) for child in node.children] or [self._passages(node.leaves)]
        return render_macro(TEMPLATE, "unfolded", node.title, size, content, id, heading, children)

    def _passages(self, leaves: Sequence[int]) -> Markup:
        passages = [
            (self.text(leaf, _MAX_TEXT_CHARS), *self._passage_link(leaf), self.kinds.get(leaf, "")) for leaf in leaves[:_MAX_LEAVES]
        ]
        more = f"and {len(leaves) - _MAX_LEAVES:,} more passages" if len(leaves) > _MAX_LEAVES else ""
        return render_macro(TEMPLATE, "leaves", passages, more)

    def _passage_link(self, leaf: int) -> tuple[str, str]:
        id, cited = self.cited[leaf]
        return citation_title_link(cited) if cited else (id, "")
