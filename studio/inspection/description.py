"""Texts and tables on the contents of an index, for terminal and page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from ramify.nodes.tree.citation import Citation
from ramify.studio.inspection.contents import Inspection, Table, sources
from ramify.tools.hierarchy.hierarchy_file import DRIFT
from ramify.tools.hierarchy.index import Grouped, GroupOverview
from ramify.tools.hierarchy.leaves import NONE as UNGROUPED
from ramify.tools.hierarchy.leaves import EdgeKind, GroupKind, Measured, Node
from ramify.tools.hierarchy.repair import LIMITS
from ramify.tools.index import Index
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import WHOLE
from ramify.tools.index.searcher import hidden_note, reasons
from ramify.tools.knowledge.index import PAPER_CORPORA, PAPER_SHARES, Inside
from ramify.tools.knowledge.reports import QUOTED
from ramify.tools.quoting import one_line, pluralize, truncate_line

LARGEST = 10
"""Communities that are named."""
CLAIMS = 20
"""Claims that are listed; --json gives all."""
NONE = "—"
NOTES = (
    "C0 is the root level, Q the modularity of a level, TS the text of all searched passages; tokens are estimated, of both alike.",
    "The paper is Edge et al. 2024, From Local to Global: its C3 is its lowest level, its units are 600 tokens long, ours are passages.",
)
LISTED = 5
"""Names that are told of many."""
KINDS: Mapping[GroupKind, str] = {"metadata": "by metadata", "founded": "founded", "pool": "left over", "all": "everything"}
EDGES: Mapping[EdgeKind, str] = {
    "primary": "by metadata",
    "soft": "soft: by what it says, for want of metadata",
    "novel": "novel: nearest, for a passage that fits none",
    "escape": "escape: beside a group of its metadata that it does not fit",
    "founded": "founded: of passages that fit none",
    "pool": "left over",
    "moved": "moved: by repair",
}
K = TypeVar("K")
SUSPICIOUS = "suspicious (!): " + "; ".join(f"{name} {limit}" for name, limit in LIMITS.items())


def facts(found: Inspection) -> Iterator[tuple[str, str]]:
    """Yield facts about an index as label and text."""
    manifest = found.manifest
    yield "kind", manifest.kind
    if manifest.description:
        yield "description", one_line(manifest.description)
    yield "documents", f"{manifest.documents:,}"
    yield "passages", f"{manifest.passages:,} searched{hidden_note(manifest.hidden)}"
    if manifest.label:
        yield "label", f"{', '.join(manifest.label)}, title and headings: passages are searched under them"
    yield "embedding", f"{manifest.embedding}; passages of at most {manifest.chunk_tokens:,} tokens, {manifest.overlap:,} of them shared"
    if manifest.vectors != WHOLE:
        yield "vectors", f"searched in {manifest.vectors}; scores are counted from whole ones"
    if found.inside is not None:
        yield from _graph_facts(found.inside, manifest.passages)
    if found.grouped is not None:
        yield from group_facts(found.grouped, one_line(found.folder))


def tables(found: Inspection) -> list[Table]:
    """Return the tables: levels with corpora of the paper, or groups; for a plain index its files."""
    if found.grouped is not None:
        return group_tables(found.grouped)
    return _graph_tables(found.inside, found.manifest.passages) if found.inside is not None else _file_tables(found)


def _file_tables(found: Inspection) -> list[Table]:
    """Return the files with their passages, and the files that the last build skipped, if any."""
    rows = [
        (f"{one.searched:,}", reasons(one.left_out) or NONE, one_line(one.source) or "(given by a program)")
        for one in sorted(found.listed.files, key=lambda one: (one.source, one.root))
    ]
    held = [Table(("searched", "not searched", "file"), rows, words=(1, 2), long=True)] if rows else []
    unread = (
        [Table(("left out", "why"), [(one_line(name), one_line(why)) for name, why in found.listed.unread], words=(0, 1), long=True)]
        if found.listed.unread
        else []
    )
    return held + unread


def notes(found: Inspection) -> tuple[str, ...]:
    """Return notes on the tables."""
    return (SUSPICIOUS,) if found.grouped is not None else NOTES if found.inside is not None else ()


def how_to_add(found: Inspection) -> str:
    """Return how to add a graph or hierarchy to a plain index."""
    if is_address(found.folder):
        return "no graph and no hierarchy: an index in a folder can have one"
    added = f"`ramify index --kind graph --out {one_line(found.folder)}` adds one"
    return f"no graph and no hierarchy: {added}, --kind hierarchy the other, without encoding a passage again"


def _graph_facts(inside: Inside, passages: int) -> Iterator[tuple[str, str]]:
    counts = inside.counts
    alone = f"; {counts['unconnected_names']:,} of them without a connection" if counts["unconnected_names"] else ""
    yield "names", f"{counts['names']:,}, found by {_who(inside.facts.get('made_by', ''))}{alone}"
    named = counts["passages_with_names"]
    yield "", f"in {named:,} of {passages:,} passages ({_percent(named / max(1, passages))})"
    yield "connections", f"{counts['connections']:,}"
    if counts["claims"]:
        yield "claims", f"{counts['claims']:,}"
    replaced = f", {counts['replaced_reports']:,} of them replaced by quotations" if counts["replaced_reports"] else ""
    yield "reports", f"{len(inside.reports):,}, written by {_who(inside.facts.get('reported_by', ''))}{replaced}"
    if inside.unread:
        reasons = sorted({one_line(why) for why in inside.unread.values()})
        yield "not read", f"{len(inside.unread):,} units, the first from {next(iter(inside.unread))}: {reasons[0]}"


def _who(name: str) -> str:
    """Return the name of the model that extracted names or wrote reports."""
    return "rules (no model)" if name == QUOTED else one_line(name) or "an unknown model"


def _percent(share: float) -> str:
    """Format a share; never 100 % unless complete."""
    return f"{min(share, 0.999):.1%}".replace("%", " %") if share < 1 else f"{share:.0%}".replace("%", " %")


def _graph_tables(inside: Inside, passages: int) -> list[Table]:
    """Return the levels and sizes, compared with the paper's, and the largest communities of level 0."""
    levels, sized = [], {level.number: level for level in inside.levels}
    for number in sorted({*sized, *PAPER_SHARES}):
        level = sized.get(number)
        own = (f"{level.communities:,}", f"{level.tokens:,}", _percent(level.share), f"{level.modularity:.2f}") if level else (NONE,) * 4
        levels.append((f"C{number}", *own, PAPER_SHARES.get(number, NONE)))
    text = ("TS", NONE, f"{inside.tokens:,}", "100 %", NONE, "100 %")
    counts = (inside.tokens, passages, inside.counts["names"], inside.counts["connections"])
    corpora = [("this index", *(f"{count:,}" for count in counts)), *((f"the paper's {name}", *told) for name, *told in PAPER_CORPORA)]
    largest = [
        (f"{inside.size(id):,}", f"{inside.reports[id].rating:g}", one_line(inside.reports[id].title)) for id in inside.root[:LARGEST]
    ]
    return [
        Table(("level", "communities", "tokens of reports", "of the text", "Q", "the paper's share"), [*levels, text]),
        Table(("corpus", "tokens", "units", "names", "connections"), corpora),
        Table(("names", "rating", "largest communities of level 0"), largest, words=(2,), long=True),
        *_claims(inside),
    ]


def _claims(inside: Inside) -> Iterator[Table]:
    """Yield the first claims with their quotations, if any."""
    rows = [
        tuple(map(one_line, (inside.graph.names[one.subject].name, one.object or NONE, one.kind or NONE, one.dates or NONE, one.span)))
        for one in inside.graph.claims[:CLAIMS]
    ]
    if rows:
        yield Table(("claims on", "concerning", "type", "dates", "in the words of the documents"), rows, words=(0, 1, 2, 3, 4), long=True)


def group_facts(found: Grouped, folder: str) -> Iterator[tuple[str, str]]:
    """Yield facts about a hierarchy as label and text."""
    content = found.content
    yield "grouped by", "nothing: one tree over everything" if content.fields == (UNGROUPED,) else ", ".join(content.fields)
    kinds = Counter(group.kind for group in found.groups)
    yield "groups", f"{len(found.groups):,}: {', '.join(_counted(kinds, KINDS))}"
    told = _counted(found.kinds, EDGES) or ["none"]
    yield "memberships", told[0]
    yield from (("", more) for more in told[1:])
    yield "None-pool", _homeless(found)
    yield "summaries", f"{sum(map(len, content.trees.values())):,}, {_written(found.made_by, found.replaced)}"
    yield "links", f"{len(content.links):,} between similar summaries of different groups"
    yield "suspicious", f"{sum(bool(one.flags) for one in content.findings):,} of {len(found.groups):,} groups"
    yield from _repairs(found)
    if found.drifted:
        named = [f"{one_line(name)} {share:.0%}" for name, share in found.drifted.items()]
        what = f"{len(named):,} {'group has' if len(named) == 1 else 'groups have'} changed by more than {DRIFT:.0%} since clustered"
        yield "drift", f"{what} ({_listed(named)}): `ramify index --kind hierarchy --out {folder} --rebuild` clusters them anew"
    if found.missing:
        what = f"{found.missing:,} passages came in since it was made"
        yield "behind", f"{what}: `ramify index --kind hierarchy --out {folder}` brings it up to date"
    yield from (("note", one_line(line)) for line in found.notes[:LISTED])


def _counted(kinds: Counter[K], told: Mapping[K, str]) -> list[str]:
    return [f"{kinds[kind]:,} {said}" for kind, said in told.items() if kinds[kind]]


def _listed(told: Sequence[str], things: str = "") -> str:
    """List the first items and count the others."""
    return ", ".join(told[:LISTED]) + (f" and {len(told) - LISTED:,} more{things}" if len(told) > LISTED else "")


def _written(made_by: str, replaced: int) -> str:
    name = "quoted from the documents (no model)" if made_by == QUOTED else f"written by {one_line(made_by) or 'an unknown model'}"
    return name + (f", {replaced:,} of them replaced by quotations" if replaced else "")


def _homeless(found: Grouped) -> str:
    """Return the number of passages without metadata, their files, and where they were assigned."""
    if not found.homeless:
        return "no passage is without the metadata"
    files = [f"{one_line(file)} {passages:,}" for file, passages in found.homeless.items()]
    left = found.kinds["pool"]
    went = f"{left:,} of them in no group" if left else "each of them given to a group"
    return f"{sum(found.homeless.values()):,} passages without the metadata ({_listed(files, ' files')}), {went}"


def _repairs(found: Grouped) -> Iterator[tuple[str, str]]:
    """Yield the repairs of each round with numbers of groups and passages."""
    done: dict[tuple[int, str], list[int]] = {}
    for one in found.content.repairs:
        done.setdefault((one.round, one.what), []).append(one.leaves)
    for number, ((round, what), leaves) in enumerate(done.items()):
        yield (
            "" if number else "repairs",
            f"round {round}: {what} in {pluralize(len(leaves), 'group')} ({pluralize(sum(leaves), 'passage')})",
        )


def group_tables(found: Grouped) -> list[Table]:
    """Return the levels, the groups by size, and their diagnostics, suspicious ones first."""
    levels = [(f"{one.number}", f"{one.summaries:,}", f"{one.tokens:,}", f"{one.share:.1%}".replace("%", " %")) for one in found.levels]
    text = ("text", "—", f"{found.tokens:,}", "100 %")
    groups = []
    for one in found.by_size:
        counts = (f"{count:,}" for count in (one.finding.leaves, len(one.tree), one.depth, len(one.links)))
        flags = f"{len(one.finding.flags)} !" if one.finding.flags else "—"
        groups.append((one_line(one.name), KINDS[one.kind], *counts, flags))
    measures = [(one_line(one.name), *(value for _, value in _measures(one))) for one in found.suspicious_first]
    heads = ("group", "kind", "passages", "summaries", "levels", "links", "suspicious")
    return [
        Table(("level", "summaries", "tokens of summaries", "of the text"), [*levels, text], long=True),
        Table(heads, groups, words=(0, 1), long=True, leads=[anchor(one.number) for one in found.by_size]),
        Table(("group", *Measured._fields), measures, long=True, leads=[anchor(one.number) for one in found.suspicious_first]),
    ]


def anchor(number: int) -> str:
    """Return the anchor of a group on the page."""
    return f"group-{number}"


def _measures(group: GroupOverview) -> list[tuple[str, str]]:
    """Return the diagnostics of a group; suspicious values are marked."""
    values = group.finding.measured._asdict().items()
    return [(name, f"{value:.2f}{' !' if name in group.finding.flags else ''}") for name, value in values]


def about(found: Grouped, group: GroupOverview) -> Iterator[tuple[str, str]]:
    """Yield facts about a group, without diagnostics and links."""
    values = ", ".join(f"{field} {value}" for field, value in group.metadata.items() if value)
    yield "kind", KINDS[group.kind] + (f" ({one_line(values)})" if values else "")
    yield "passages", f"{group.finding.leaves:,}: {', '.join(_counted(Counter(edge.kind for edge in group.edges), EDGES))}"
    replaced = sum(node.summary.made_by != found.made_by for node in group.tree)
    yield "summaries", f"{len(group.tree):,} on {group.depth:,} levels, {_written(found.made_by, replaced)}"
    for one in found.content.repairs:
        if one.group == group.number:
            yield "repaired", f"round {one.round}: {one.what} ({one.leaves:,} passages)"
    if group.name in found.drifted:
        yield "drift", f"{found.drifted[group.name]:.0%} of its passages have changed since it was clustered: --rebuild"


def measured(found: Grouped, group: GroupOverview) -> Iterator[tuple[str, str]]:
    """Yield the diagnostics and links of a group."""
    for name, value in _measures(group):
        yield name, value + (f" suspicious: {LIMITS[name]}" if name in group.finding.flags else "")
    yield "linked to", _listed([f"{one_line(other.name)} {cosine:.2f}" for other, cosine in beside(found, group)]) or "no group"


def beside(found: Grouped, group: GroupOverview) -> list[tuple[GroupOverview, float]]:
    """Return the most similar groups, each with the highest cosine."""
    near: dict[int, float] = {}
    for _, _, other, _, cosine in group.links:
        near[other] = max(cosine, near.get(other, 0.0))
    return [(found.groups[other], cosine) for other, cosine in sorted(near.items(), key=lambda one: (-one[1], one[0]))]


class GroupTree:
    """The tree of a group with the passages to show: those its summaries cite, and at most `most` below a lowest one."""

    def __init__(self, found: Grouped, group: GroupOverview, index: Index, most: int) -> None:
        self.nodes = group.tree
        self.root = self.nodes[-1]
        self.kinds = {edge.leaf: edge.kind for edge in group.edges if edge.kind != "primary"}
        self._made_by = found.made_by
        shown = {leaf for node in self.nodes if not node.children for leaf in node.leaves[:most]}
        said = {one.leaf for node in self.nodes for one in node.summary.said}
        ids = {leaf: found.content.ids[leaf] for leaf in sorted(shown | said)}
        cited = sources(index, list(ids.values()))
        self.cited: Mapping[int, tuple[str, Citation | None]] = {leaf: (id, cited.get(id)) for leaf, id in ids.items()}
        """The id of a passage, and its citation, or None if it is no longer in the index."""

    def text(self, leaf: int, room: int) -> str:
        """Return the shortened text of a passage."""
        _, cited = self.cited[leaf]
        return truncate_line(cited.text, room) if cited else "is not in the index any more"

    def is_replaced(self, node: Node) -> bool:
        """Return whether a summary is quoted because the model did not write one."""
        return node.summary.made_by != self._made_by
