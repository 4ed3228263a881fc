"""How the groups of a hierarchy are put for a reader, on the terminal and on the page: facts, tables, and the tree of one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from ramify.nodes.state import Citation
from ramify.studio.inspection.contents import Table, sources
from ramify.tools.hierarchy.groups_and_nodes import NONE, EdgeKind, GroupKind, Measured, Node
from ramify.tools.hierarchy.index import Grouped, GroupOverview
from ramify.tools.hierarchy.kept_trees import DRIFT
from ramify.tools.hierarchy.repair import LIMITS
from ramify.tools.hierarchy.summaries import QUOTED
from ramify.tools.index import Index
from ramify.tools.quoting import brief, many, one_line

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


def group_facts(found: Grouped, folder: str) -> Iterator[tuple[str, str]]:
    """Say what a hierarchy holds, thing by thing."""
    content = found.content
    yield "grouped by", "nothing: one tree over everything" if content.fields == (NONE,) else ", ".join(content.fields)
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
    """List the first ones, and count the others."""
    return ", ".join(told[:LISTED]) + (f" and {len(told) - LISTED:,} more{things}" if len(told) > LISTED else "")


def _written(made_by: str, replaced: int) -> str:
    name = "quoted from the documents (no model)" if made_by == QUOTED else f"written by {one_line(made_by) or 'an unknown model'}"
    return name + (f", {replaced:,} of them replaced by quotations" if replaced else "")


def _homeless(found: Grouped) -> str:
    """Say how many passages lack the metadata, from where they are, and where they went."""
    if not found.homeless:
        return "no passage is without the metadata"
    files = [f"{one_line(file)} {passages:,}" for file, passages in found.homeless.items()]
    left = found.kinds["pool"]
    went = f"{left:,} of them in no group" if left else "each of them given to a group"
    return f"{sum(found.homeless.values()):,} passages without the metadata ({_listed(files, ' files')}), {went}"


def _repairs(found: Grouped) -> Iterator[tuple[str, str]]:
    """Say round by round what was repaired, in how many groups, and of how many passages."""
    done: dict[tuple[int, str], list[int]] = {}
    for one in found.content.repairs:
        done.setdefault((one.round, one.what), []).append(one.leaves)
    for number, ((round, what), leaves) in enumerate(done.items()):
        yield "" if number else "repairs", f"round {round}: {what} in {many(len(leaves), 'group')} ({many(sum(leaves), 'passage')})"


def group_tables(found: Grouped) -> list[Table]:
    """Give the levels, the groups, the largest first, and what was measured of them, the suspicious first."""
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
    """Name the place of a group on the page."""
    return f"group-{number}"


def _measures(group: GroupOverview) -> list[tuple[str, str]]:
    """Write what was measured of a group; what is suspicious has a mark."""
    values = group.finding.measured._asdict().items()
    return [(name, f"{value:.2f}{' !' if name in group.finding.flags else ''}") for name, value in values]


def about(found: Grouped, group: GroupOverview) -> Iterator[tuple[str, str]]:
    """Say what a group is, thing by thing; what was measured of it, and to what it is linked, come by themselves."""
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
    """Say what was measured of a group, and to which groups it is linked."""
    for name, value in _measures(group):
        yield name, value + (f" suspicious: {LIMITS[name]}" if name in group.finding.flags else "")
    yield "linked to", _listed([f"{one_line(other.name)} {cosine:.2f}" for other, cosine in beside(found, group)]) or "no group"


def beside(found: Grouped, group: GroupOverview) -> list[tuple[GroupOverview, float]]:
    """List the groups that a group's summaries are most similar to, each with the highest cosine."""
    near: dict[int, float] = {}
    for _, _, other, _, cosine in group.links:
        near[other] = max(cosine, near.get(other, 0.0))
    return [(found.groups[other], cosine) for other, cosine in sorted(near.items(), key=lambda one: (-one[1], one[0]))]


class GroupTree:
    """The tree of a group, with the passages that are shown of it: those its summaries rest on, and at most so many below a lowest one."""

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
        """The id of a passage, and the passage as it is cited; none where it is not in the index any more."""

    def text(self, leaf: int, room: int) -> str:
        """Quote a passage."""
        _, cited = self.cited[leaf]
        return brief(cited.text, room) if cited else "is not in the index any more"

    def is_replaced(self, node: Node) -> bool:
        """Tell whether a summary is quoted because the model did not write it."""
        return node.summary.made_by != self._made_by
