"""One self-contained page of an index: its sizes, a picture of its graph with its reports, or its groups. It loads and runs nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ramify.nodes.state import Citation
from ramify.studio.drawing.phrases import named
from ramify.studio.inspection import graph_layout
from ramify.studio.inspection.contents import Inspection, sources
from ramify.studio.inspection.group_page import groups_shown
from ramify.studio.inspection.phrases import CORPORA, LEVELS, NOTES, Table, corpus_rows, how_to_add, level_rows, sizes
from ramify.tools.index import Index
from ramify.tools.knowledge.overview import Inside
from ramify.tools.knowledge.reports import QUOTED
from ramify.tools.pages import draw_page, part
from ramify.tools.quoting import brief

PARTS = "inspect_parts.html"
ROOM = 4_000_000
"""Bytes that the reports of a page may take: the root level comes first, of each level the largest communities."""
NAMES = 40
"""Names of a community that are written out."""
_QUOTE = 240
_TOGETHER = 400
"""Communities whose passages are read at a time."""
_AROUND = 250
"""Bytes of what is around a report."""


def inspect_page(found: Inspection, index: Index) -> str:
    """Give the whole page of an index."""
    return draw_page(
        "inspect.html",
        found=found,
        title=Path(found.folder).name or found.folder,
        sizes=list(sizes(found)),
        grouped=groups_shown(found.grouped, index) if found.grouped else None,
        inside=_graph(found, found.inside, index) if found.inside else None,
        how_to_add=how_to_add(found),
    )


def anchor(id: str) -> str:
    """Name the place of a community's report on the page."""
    return f"community-{id}"


def _graph(found: Inspection, inside: Inside, index: Index) -> dict[str, Any]:
    shown = graph_layout.picture(inside)
    legend = [(colour, anchor(id), inside.reports[id].title, f"{inside.size(id):,} names") for id, colour in shown.colours.items()]
    if others := len(inside.root) - len(shown.colours):
        legend.append((graph_layout.OTHER, "", f"{others:,} other communities", ""))
    written = _written(inside, index)
    return {
        "levels": Table.of(LEVELS, level_rows(inside)),
        "corpora": Table.of(CORPORA, corpus_rows(found)),
        "notes": NOTES,
        "picture": part(PARTS, "picture", shown, anchor),
        "legend": legend,
        "caption": _caption(inside, shown),
        "left_out": list(_left_out(inside, written)),
        "communities": [_community(inside, id, written) for id in inside.root if id in written],
    }


def _caption(inside: Inside, shown: graph_layout.Picture) -> str:
    undrawn = f", and of the connections among them the {len(shown.lines):,} told of most often" if shown.undrawn else ""
    most, dots, names = f"{graph_layout.NAMES:,}", f"{len(shown.dots):,}", f"{len(inside.graph.names):,}"
    whole = f"The {dots} most connected of {names} names"
    fewer = f"Of the {most} most connected of {names} names the {dots} that are connected with one another"
    return (
        f"{whole if len(shown.dots) == graph_layout.NAMES else fewer}{undrawn}. The area of a dot is its number of "
        "connections in the whole graph, its colour its community at level 0; a dot leads to its community's report. Placed by ForceAtlas2."
    )


def _left_out(inside: Inside, written: Mapping[str, Markup]) -> Iterable[str]:
    missing = Counter(community.level for id, community in inside.partition.items() if id not in written)
    if missing:
        counted = ", ".join(f"{missing[level]:,} of level {level}" for level in sorted(missing))
        yield f"Left out, so that the page stays small: the reports of the smallest communities ({counted}); --json gives all."
    if any(report.made_by == QUOTED for report in inside.reports.values()):
        yield "Quoted reports are sentences of the documents; their title is the most connected names, their rating grows with their size."


def _written(inside: Inside, index: Index) -> dict[str, Markup]:
    """Write the reports of communities as far as there is room; each comes after the one it is in."""
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
    """Say the findings with what they rest on; what is not quoted already is quoted."""
    report, members = inside.reports[id], inside.members(id)
    quoted = report.made_by == QUOTED
    findings = []
    for finding in report.findings:
        rests_on = [cited[passage] for passage in finding.passages if passage in cited]
        findings.append((finding.text, list(map(named, rests_on)), [] if quoted else [brief(one.text, _QUOTE) for one in rests_on]))
    more = f" and {len(members) - NAMES:,} more" if len(members) > NAMES else ""
    return part(PARTS, "report", report, quoted, findings, " · ".join(brief(name, 60) for name in members[:NAMES]), more)


def _community(inside: Inside, id: str, written: Mapping[str, Markup]) -> Markup:
    report, parts = inside.reports[id], inside.parts.get(id, ())
    within = [_community(inside, one, written) for one in parts if one in written]
    if absent := sum(one not in written for one in parts):
        within.append(part(PARTS, "note", f"{absent:,} smaller communities are left out."))
    size = f"{inside.size(id):,} names · rating {report.rating:g} · community {id}"
    heading = f"{len(parts):,} communities within" if parts else ""
    return part(PARTS, "unfolded", report.title, size, written[id], anchor(id), heading, within)
