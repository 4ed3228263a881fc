"""The reports of communities as a page shows them: each unfolds to its findings, its names, and the communities within it."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ramify.nodes.state import Citation
from ramify.studio.drawing.phrases import file_of, title_of
from ramify.studio.inspection.contents import Inside
from ramify.studio.inspection.source_text import sources
from ramify.tools.index import Index
from ramify.tools.knowledge.reports import QUOTED, Finding
from ramify.tools.markup import element, safe
from ramify.tools.quoting import brief

ROOM = 4_000_000
"""Bytes that the reports of a page may take: the root level comes first, of each level the largest communities."""
NAMES = 40
"""Names of a community that are written out."""
_QUOTE = 240
_TOGETHER = 400
"""Communities whose passages are read at a time."""
_AROUND = 150
"""Bytes of what is around a report."""


class Written(NamedTuple):
    """A community's report as it is shown: folded, and what unfolds."""

    summary: str
    body: str


def anchor(id: str) -> str:
    """Name the place of a community's report on the page."""
    return f"community-{id}"


def reports_html(inside: Inside, index: Index) -> str:
    """Give the reports, level within level; what there is no room for is counted."""
    written = _written(inside, index)
    root = "".join(_community(inside, id, written) for id in inside.root if id in written)
    missing = Counter(community.level for id, community in inside.partition.items() if id not in written)
    parts = [element("h2", "Communities and their reports")]
    if missing:
        counted = ", ".join(f"{missing[level]:,} of level {level}" for level in sorted(missing))
        told = f"Left out, so that the page stays small: the reports of the smallest communities ({counted}); --json gives all."
        parts.append(element("p", safe(told), class_="note"))
    if any(report.made_by == QUOTED for report in inside.reports.values()):
        told = "Quoted reports are sentences of the documents; their title is the most connected names, their rating grows with their size."
        parts.append(element("p", safe(told), class_="note"))
    return element("section", "".join(parts) + root, class_="reports")


def _written(inside: Inside, index: Index) -> dict[str, Written]:
    """Write communities as far as there is room; each comes after the one it is in."""
    order = sorted(inside.partition, key=lambda id: (inside.partition[id].level, -inside.size(id)))
    written: dict[str, Written] = {}
    left = ROOM
    for start in range(0, len(order), _TOGETHER):
        ids = order[start : start + _TOGETHER]
        found = sources(index, [passage for id in ids for passage in inside.reports[id].passages])
        for id in ids:
            one = Written(_summary(inside, id), _body(inside, id, found))
            left -= len("".join(one).encode()) + _AROUND
            if left < 0:
                return written
            written[id] = one
    return written


def _community(inside: Inside, id: str, written: Mapping[str, Written]) -> str:
    """Unfold a community; its place is inside what unfolds, because a browser opens what a link leads into."""
    parts = inside.parts.get(id, ())
    within = "".join(_community(inside, part, written) for part in parts if part in written)
    absent = sum(part not in written for part in parts)
    if absent:
        within += element("p", f"{absent:,} smaller communities are left out.", class_="note")
    below = element("div", element("h4", f"{len(parts):,} communities within") + within, class_="within") if parts else ""
    body = element("div", written[id].body + below, id=anchor(id), class_="body")
    return element("details", written[id].summary + body, class_="community")


def _summary(inside: Inside, id: str) -> str:
    report = inside.reports[id]
    title = element("span", safe(report.title), class_="title", dir="auto")
    size = element("span", f"{inside.size(id):,} names · rating {report.rating:g} · community {id}", class_="size")
    return element("summary", f"{title} {size}")


def _body(inside: Inside, id: str, cited: Mapping[str, Citation]) -> str:
    report = inside.reports[id]
    quoted = report.made_by == QUOTED
    findings = "".join(element("li", _finding(finding, cited, quoted), dir="auto") for finding in report.findings)
    members = inside.members(id)
    more = f" and {len(members) - NAMES:,} more" if len(members) > NAMES else ""
    names = element("b", "Names") + " " + safe(" · ".join(brief(name, 60) for name in members[:NAMES])) + more
    parts = [
        element("p", safe(report.summary), dir="auto") if report.summary else "",
        element("ul", findings, class_="findings") if findings else "",
        element("p", names, class_="names", dir="auto"),
        "" if quoted else element("p", safe(f"Written by {report.made_by}"), class_="names"),
    ]
    return "".join(parts)


def _finding(finding: Finding, cited: Mapping[str, Citation], quoted: bool) -> str:
    """Say a finding with what it rests on; what is not quoted already is quoted."""
    found = [cited[id] for id in finding.passages if id in cited]
    quotes = "" if quoted else "".join(element("blockquote", safe(brief(one.text, _QUOTE))) for one in found)
    return safe(finding.text) + " " + " ".join(map(_source, found)) + quotes


def _source(citation: Citation) -> str:
    told = " · ".join(filter(None, (title_of(citation), file_of(citation))))
    href = citation.link if citation.link.startswith("file:") else None
    return element("a" if href else "span", safe(told), class_="source", href=href)
