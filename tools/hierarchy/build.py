"""Make the hierarchy of an index, or bring it up to date: partition, route, found, grow trees, diagnose, repair, link; group by group."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy.diagnosis import diagnose, outliers
from ramify.tools.hierarchy.file import HIERARCHY, Content, Link, write_content
from ramify.tools.hierarchy.founding import founded
from ramify.tools.hierarchy.kept import Kept, going_on
from ramify.tools.hierarchy.leaves import Leaves, folded, read_leaves
from ramify.tools.hierarchy.membership import alternatives, members_of, route
from ramify.tools.hierarchy.partition import Partition, partition
from ramify.tools.hierarchy.profiles import profiles
from ramify.tools.hierarchy.summaries import Summarizer
from ramify.tools.hierarchy.tree import Grower
from ramify.tools.hierarchy.values import NONE, Edge, Finding, Repair, Routing, Tree
from ramify.tools.index.manifest import MANIFEST, NEXT, PASSAGES, file_sha256
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.workshop import writing
from ramify.tools.knowledge.publish import manifest_of
from ramify.tools.knowledge.work import WORK, Work

DRIFT = 0.1
"""From this share of changed leaves of a group on, growing its tree anew is advised."""
_LINKED, _LINKS = 0.8, 3
"""Least cosine of summaries that are linked across groups, and the links of each."""


class Made(NamedTuple):
    """What the build of a hierarchy came to."""

    fields: tuple[str, ...]
    groups: int
    founded: int
    leaves: int
    routed: int
    """Leaves in a group by what they say, for want of metadata."""
    escaped: int
    """Leaves linked to other groups because they do not fit that of their metadata."""
    pool: int
    """Leaves without a group."""
    nodes: int
    grown: int
    """Groups whose trees were grown; the others are as they were."""
    flagged: int
    repairs: int
    replaced: int
    """Summaries that the model did not write, for whatever reason, and that are quoted instead."""
    links: int
    drifted: tuple[str, ...]
    """Groups that have changed much since they were clustered."""
    notes: tuple[str, ...]


@dataclass
class _Growing:
    """The trees so far."""

    leaves: Leaves
    grower: Grower
    kept: Kept
    rebuild: bool
    progress: Progress
    grown: int = 0
    drifted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    async def trees(self, names: Sequence[str], members: Sequence[Sequence[int]], linked: frozenset[int]) -> dict[int, Tree]:
        """Grow the tree of each group; each is kept as soon as it is there."""
        found: dict[int, Tree] = {}
        for group, own in enumerate(members):
            found[group] = await self._tree(names[group], own, group in linked)
            self.progress(group + 1, len(members), "groups")
        return found

    async def _tree(self, name: str, own: Sequence[int], linked: bool) -> Tree:
        key = self.kept.key(name, own, linked)
        if not self.rebuild and (held := self.kept.get(key)) is not None:
            return held
        before = [] if self.rebuild or linked else self.kept.latest(name)
        clusters, drift = going_on(self.leaves, own, before)
        if clusters and drift > DRIFT:
            self.drifted = (*self.drifted, name)
        made = await self.grower.grow(name, own, linked, clusters or None)
        self.kept.put(key, name, made.tree)
        self.grown += 1
        self.notes = tuple(dict.fromkeys((*self.notes, *(f"{name}: {note}" for note in made.notes))))
        return made.tree


async def build_hierarchy(
    folder: Path,
    encoder: Encoder,
    summarizer: Summarizer,
    fields: Sequence[str] | None = None,
    how: Routing | None = None,
    rebuild: bool = False,
    progress: Progress = silent,
    replies: Work | None = None,
) -> Made:
    """Make the hierarchy of the finished index in a folder; UsageError for fields that do not group its passages.

    replies: where a model's replies are kept, if one is asked; trees are kept there too.
    """
    how = how or Routing()
    manifest = manifest_of(folder)
    with writing(folder), nullcontext(replies) if replies else Work(folder / WORK) as work:
        leaves = read_leaves(folder / PASSAGES)
        if not len(leaves):
            raise IndexingError(f"the index in {str(folder)!r} holds no passages", "index documents first")
        parts = partition(leaves, fields)
        routed = route(leaves, parts, how)
        groups, edges = founded(leaves, routed.novel, parts.fields, len(parts.groups), how)
        state = Partition(parts.fields, [*parts.groups, *groups], [*routed.edges, *edges], parts.pool)
        made = [how.model_dump_json(exclude={"repairs"}), manifest.embedding, summarizer.made_by]
        grower = Grower(leaves, encoder, summarizer, how)
        growing = _Growing(leaves, grower, Kept(work, leaves, made), rebuild, progress)
        state, trees, findings, repairs = await _repaired(leaves, state, growing, how)
        links = _links(trees)
        kinds = Counter(edge.kind for edge in state.edges)
        replaced = sum(node.summary.made_by != summarizer.made_by for tree in trees.values() for node in tree)
        facts = {
            "made_by": summarizer.made_by,
            "replaced": str(replaced),
            "how": how.model_dump_json(),
            **{f"drifted {name}": "yes" for name in growing.drifted},
            **{f"note {number}": note for number, note in enumerate(growing.notes)},
        }
        titles = [folded(title) for title in leaves.titles]
        _publish(folder, Content(state.fields, leaves.ids, titles, state.groups, state.edges, trees, links, findings, repairs, facts))
        if replies is None:  # the replies of trees that were kept were not asked for
            work.forget_unused()
        nodes = sum(map(len, trees.values()))
        missing, astray = ({edge.leaf for edge in state.edges if edge.kind == kind} for kind in ("soft", "escape"))
        flagged = sum(bool(one.flags) for one in findings)
        figures = (kinds["pool"], nodes, growing.grown, flagged, len(repairs), replaced, len(links), growing.drifted, growing.notes)
        return Made(
            state.fields, len(state.groups), sum(one.kind == "founded" for one in groups), len(leaves), len(missing), len(astray), *figures
        )


async def _repaired(
    leaves: Leaves, state: Partition, growing: _Growing, how: Routing
) -> tuple[Partition, dict[int, Tree], list[Finding], list[Repair]]:
    """Grow the trees; while something is suspicious, and rounds are left, move outliers and cluster again what tears steps apart."""
    linked: frozenset[int] = frozenset()
    repairs: list[Repair] = []
    names = _names(state)
    for round in range(how.repairs + 1):
        members = _members(state)
        trees = await growing.trees(names, members, linked)
        findings = diagnose(leaves, state.edges, members, trees, how.novelty)
        if round == how.repairs:
            break
        moved, edges = _moved(leaves, state, findings, how)
        torn = {group for group, one in enumerate(findings) if "step_discontinuity" in one.flags} - linked
        if not moved and not torn:
            break
        repairs += [Repair(round + 1, group, "outliers moved", count) for group, count in sorted(moved.items())]
        repairs += [Repair(round + 1, group, "steps kept together", findings[group].leaves) for group in sorted(torn)]
        state, linked = state._replace(edges=edges), linked | torn
    return state, trees, findings, repairs


def _members(state: Partition) -> list[list[int]]:
    """List the leaves of each group that its tree is grown from."""
    return members_of([edge for edge in state.edges if edge.kind != "novel"], len(state.groups))


def _moved(leaves: Leaves, state: Partition, findings: Sequence[Finding], how: Routing) -> tuple[dict[int, int], list[Edge]]:
    """Link the outliers of suspicious groups to the groups that suit them; where they are for want of metadata only, they leave."""
    suspicious = [group for group, one in enumerate(findings) if "outlier_rate" in one.flags]
    if not suspicious or len(state.groups) < 2:
        return {}, state.edges
    members = _members(state)
    like = profiles(leaves.vectors, members, how.novelty)
    moved: dict[int, int] = {}
    edges = list(state.edges)
    held = {(edge.leaf, edge.group) for edge in edges}
    for group in suspicious:
        away = outliers(leaves.vectors, members[group], group, like)
        for leaf, others in zip(away, alternatives(leaves, state, away, how), strict=True):
            new = [Edge(leaf, other, weight, "moved") for other, weight in others if (leaf, other) not in held]
            if new:
                moved[group] = moved.get(group, 0) + 1
                edges += new
                held |= {(edge.leaf, edge.group) for edge in new}
                edges = [edge for edge in edges if not (edge.leaf == leaf and edge.group == group and edge.kind == "soft")]
    return moved, edges if all(members_of([edge for edge in edges if edge.kind != "novel"], len(state.groups))) else state.edges


def _names(state: Partition) -> list[str]:
    """Name each group; two of one name are told apart."""
    met: Counter[str] = Counter()
    names = []
    for group in state.groups:
        met[group.name] += 1
        names.append(group.name if met[group.name] == 1 else f"{group.name} ({met[group.name]})")
    return names


def _links(trees: Mapping[int, Tree]) -> list[Link]:
    """Link each lowest summary to the most similar ones of other groups."""
    nodes = [(group, place, node) for group, tree in sorted(trees.items()) for place, node in enumerate(tree) if not node.children]
    if len(nodes) < 2:
        return []
    vectors = np.array([node.vector for _, _, node in nodes])
    group_of = np.array([group for group, _, _ in nodes])
    found: list[Link] = []
    for one, (group, place, _) in enumerate(nodes):
        near = np.where(group_of == group, -1.0, vectors @ vectors[one])
        for other in np.argsort(-near, kind="stable")[:_LINKS].tolist():
            if near[other] >= _LINKED:
                found.append((group, place, nodes[other][0], nodes[other][1], round(float(near[other]), 4)))
    return found


def _publish(folder: Path, content: Content) -> None:
    """Write a hierarchy and vouch for it; until then the index opens as it was before."""
    manifest = manifest_of(folder)
    written = folder / (NEXT + HIERARCHY)
    write_content(written, content)
    sha256 = {name: manifest.sha256[name] for name in manifest.sha256 if name in (PASSAGES, "vectors.faiss")}
    upcoming = replace(manifest, kind="hierarchy", sha256={**sha256, HIERARCHY: file_sha256(written)}, group_by=list(content.fields))
    upcoming.write(folder / (NEXT + MANIFEST))
    written.replace(folder / HIERARCHY)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)


__all__ = ["DRIFT", "NONE", "Made", "build_hierarchy"]
