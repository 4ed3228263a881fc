"""How the groups of a hierarchy are put for a reader, on the terminal and on the page."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ramify.tools.hierarchy.diagnosis import LIMITS
from ramify.tools.hierarchy.groups_and_nodes import NONE, EdgeKind, GroupKind, Measured
from ramify.tools.hierarchy.overview import Grouped
from ramify.tools.hierarchy.repair import DRIFT
from ramify.tools.quoting import one_line

LISTED = 5
"""Names that are told of many."""
LEVELS = ("level", "summaries", "tokens of summaries", "of the text")
GROUPS = ("group", "kind", "passages", "summaries", "levels", "links", "suspicious")
MEASURES = Measured._fields
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
SUSPICIOUS = "suspicious (!): " + "; ".join(f"{name} {limit}" for name, limit in LIMITS.items())


def group_sizes(found: Grouped, folder: str) -> Iterator[tuple[str, str]]:
    """Say what a hierarchy holds, thing by thing."""
    content = found.content
    fields = ", ".join(content.fields)
    yield "grouped by", "nothing: one tree over everything" if content.fields == (NONE,) else fields
    kinds = Counter(group.kind for group in content.groups)
    yield "groups", f"{len(content.groups):,}: {', '.join(f'{kinds[kind]:,} {told}' for kind, told in KINDS.items() if kinds[kind])}"
    told = [f"{found.kinds[kind]:,} {said}" for kind, said in EDGES.items() if found.kinds[kind]]
    yield "memberships", told[0] if told else "none"
    yield from (("", more) for more in told[1:])
    yield "None-pool", _homeless(found)
    replaced = f", {found.replaced:,} of them replaced by quotations" if found.replaced else ""
    yield "summaries", f"{sum(map(len, content.trees.values())):,}, {_written(found.made_by)}{replaced}"
    yield "links", f"{len(content.links):,} between similar summaries of different groups"
    flagged = sum(bool(one.flags) for one in content.findings)
    yield "suspicious", f"{flagged:,} of {len(content.groups):,} groups"
    yield from _repairs(found)
    yield from _behind(found, one_line(folder))
    yield from (("note", one_line(line)) for line in found.notes[:LISTED])


def _written(name: str) -> str:
    return "quoted from the documents (no model)" if name == "extractive" else f"written by {one_line(name) or 'an unknown model'}"


def _homeless(found: Grouped) -> str:
    """Say how many passages lack the metadata, from where they are, and where they went."""
    count = sum(found.homeless.values())
    if not count:
        return "no passage is without the metadata"
    files = [f"{one_line(file)} {passages:,}" for file, passages in found.homeless.items()]
    more = f" and {len(files) - LISTED:,} more files" if len(files) > LISTED else ""
    left = found.kinds["pool"]
    went = f", {left:,} of them in no group" if left else ", each of them given to a group"
    return f"{count:,} passages without the metadata ({', '.join(files[:LISTED])}{more}){went}"


def _repairs(found: Grouped) -> Iterator[tuple[str, str]]:
    """Say round by round what was repaired, in how many groups, and of how many passages."""
    done: dict[tuple[int, str], tuple[int, int]] = {}
    for one in found.content.repairs:
        groups, leaves = done.get((one.round, one.what), (0, 0))
        done[one.round, one.what] = (groups + 1, leaves + one.leaves)
    for number, ((round, what), (groups, leaves)) in enumerate(done.items()):
        passages = f"{leaves:,} {'passage' if leaves == 1 else 'passages'}"
        yield "" if number else "repairs", f"round {round}: {what} in {groups:,} {'group' if groups == 1 else 'groups'} ({passages})"


def _behind(found: Grouped, folder: str) -> Iterator[tuple[str, str]]:
    """Say what has changed since, and what brings it up to date."""
    if found.drifted:
        named = [f"{one_line(name)} {share:.0%}" for name, share in found.drifted.items()]
        more = f" and {len(named) - LISTED:,} more" if len(named) > LISTED else ""
        advice = f"`ramify index --kind hierarchy --out {folder} --rebuild` clusters them anew"
        what = f"{len(named):,} {'group has' if len(named) == 1 else 'groups have'} changed by more than {DRIFT:.0%} since clustered"
        yield "drift", f"{what} ({', '.join(named[:LISTED])}{more}): {advice}"
    if found.missing:
        what = f"{found.missing:,} passages came in since it was made"
        yield "behind", f"{what}: `ramify index --kind hierarchy --out {folder}` brings it up to date"


def level_rows(found: Grouped) -> Iterator[tuple[str, ...]]:
    """Write the levels, the groups' own first; the last row is the text itself."""
    for level in found.levels:
        yield f"{level.number}", f"{level.summaries:,}", f"{level.tokens:,}", f"{level.share:.1%}".replace("%", " %")
    yield "text", "—", f"{found.tokens:,}", "100 %"


def group_row(found: Grouped, group: int) -> tuple[str, ...]:
    """Write a group: what it is and how large."""
    finding, tree = found.content.findings[group], found.content.trees[group]
    counts = (finding.leaves, len(tree), found.depth(group), len(found.links.get(group, ())))
    return (
        one_line(found.names[group]),
        KINDS[found.content.groups[group].kind],
        *(f"{count:,}" for count in counts),
        f"{len(finding.flags)} !" if finding.flags else "—",
    )


def measure_row(found: Grouped, group: int) -> tuple[str, ...]:
    """Write what was measured of a group; what is suspicious has a mark."""
    finding = found.content.findings[group]
    values = finding.measured._asdict().items()
    return one_line(found.names[group]), *(f"{value:.2f}{' !' if name in finding.flags else ''}" for name, value in values)


def beside(found: Grouped, group: int) -> list[tuple[int, float]]:
    """List the groups that a group's summaries are most similar to, each with the highest cosine."""
    near: dict[int, float] = {}
    for _, other, _, cosine in found.links.get(group, ()):
        near[other] = max(cosine, near.get(other, 0.0))
    return sorted(near.items(), key=lambda one: (-one[1], one[0]))


def about(found: Grouped, group: int) -> Iterator[tuple[str, str]]:
    """Say what a group is, thing by thing; what was measured of it, and to what it is linked, come by themselves."""
    content = found.content
    known, finding = content.groups[group], content.findings[group]
    values = [f"{field} {value}" for field, value in zip(content.fields, known.key, strict=False) if value]
    yield "kind", KINDS[known.kind] + (f" ({one_line(', '.join(values))})" if values else "")
    kinds = Counter(edge.kind for edge in found.edges.get(group, ()))
    yield "passages", f"{finding.leaves:,}: {', '.join(f'{kinds[kind]:,} {EDGES[kind]}' for kind in EDGES if kinds[kind])}"
    replaced = sum(node.summary.made_by != found.made_by for node in content.trees[group])
    quoted = f", {replaced:,} of them replaced by quotations" if replaced else ""
    yield "summaries", f"{len(content.trees[group]):,} on {found.depth(group):,} levels, {_written(found.made_by)}{quoted}"
    for one in content.repairs:
        if one.group == group:
            yield "repaired", f"round {one.round}: {one.what} ({one.leaves:,} passages)"
    if found.names[group] in found.drifted:
        yield "drift", f"{found.drifted[found.names[group]]:.0%} of its passages have changed since it was clustered: --rebuild"


def measures(found: Grouped, group: int) -> Iterator[tuple[str, str]]:
    """Say what was measured of a group, thing by thing."""
    flags = found.content.findings[group].flags
    for name, told in zip(MEASURES, measure_row(found, group)[1:], strict=True):
        yield name, told + (f" suspicious: {LIMITS[name]}" if name in flags else "")


def linked(found: Grouped, group: int) -> str:
    """Name the groups that a group is linked to."""
    near = [f"{one_line(found.names[other])} {cosine:.2f}" for other, cosine in beside(found, group)]
    more = f" and {len(near) - LISTED:,} more" if len(near) > LISTED else ""
    return ", ".join(near[:LISTED]) + more if near else "no group"
