"""Grow the trees, and repair what is suspicious: outliers move, steps stay together, what has not changed stays (meta-guided RAG §5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from ramify.tools.hierarchy.diagnosis import diagnose, outliers
from ramify.tools.hierarchy.groups_and_nodes import Edge, Finding, Repair, Routing, Tree, distinct
from ramify.tools.hierarchy.kept_trees import Kept, Last, going_on
from ramify.tools.hierarchy.leaves import Leaves
from ramify.tools.hierarchy.membership import alternatives, members_of
from ramify.tools.hierarchy.partition import Partition
from ramify.tools.hierarchy.profiles import profiles
from ramify.tools.hierarchy.tree import Grower, Tell
from ramify.tools.index.progress import Progress

_AT_ONCE = 8
"""Groups that a model sums up at the same time; quoting does one after another."""
DRIFT = 0.1
"""From this share of changed leaves of a group on, growing its tree anew is advised."""


@dataclass
class Growing:
    """The trees so far."""

    leaves: Leaves
    grower: Grower
    kept: Kept
    rebuild: bool
    progress: Progress
    made: dict[str, "Standing"] = field(default_factory=dict)
    """The tree of each group so far."""
    grown: set[str] = field(default_factory=set)

    async def trees(self, names: Sequence[str], members: Sequence[Sequence[int]], linked: frozenset[int]) -> dict[int, Tree]:
        """Grow the tree of each group; each is kept as soon as it is there."""
        free, shares, total = asyncio.Semaphore(_AT_ONCE), [0.0] * len(members), sum(map(len, members))

        def tell(group: int, share: float) -> None:
            shares[group] = share
            self.progress(round(sum(share * len(own) for share, own in zip(shares, members, strict=True))), total, "passages in groups")

        async def made(group: int) -> Standing:
            async with free:
                standing = await self._tree(names[group], members[group], group in linked, partial(tell, group))
            tell(group, 1.0)
            return standing

        standing = await asyncio.gather(*map(made, range(len(members))))
        self.made.update(zip(names, standing, strict=True))
        return {group: one.tree for group, one in enumerate(standing)}

    async def _tree(self, name: str, own: Sequence[int], linked: bool, tell: Tell) -> "Standing":
        """Take the tree of a group that is as it was, grow a new one, or go on from what it was."""
        fresh = self.kept.key(name, own, linked)
        last = Last() if self.rebuild or linked else self.kept.latest(name)
        if last.key.startswith(fresh) and (held := self.kept.get(last.key)):
            return Standing(last.key, *held, last.drift)
        if held := self.kept.get(fresh):
            return Standing(fresh, *held)
        clusters, changed = going_on(self.leaves, own, last.lowest)
        drift = round(last.drift + changed, 4) if clusters else 0.0
        key = self.kept.key(name, own, linked, last.lowest)
        if held := self.kept.get(key):
            return Standing(key, *held, drift)
        made = await self.grower.grow(name, own, tell, linked, clusters or None)
        if all(node.summary.made_by == self.grower.made_by for node in made.tree):  # what was quoted instead is asked for again
            self.kept.put(key, made)
        self.grown.add(name)
        return Standing(key, *made, drift)

    @property
    def drifted(self) -> dict[str, float]:
        """Give the groups that have changed much since they were clustered, with the share."""
        return {name: one.drift for name, one in self.made.items() if one.drift > DRIFT}

    @property
    def notes(self) -> tuple[str, ...]:
        """Tell what had to be done otherwise."""
        return tuple(f"{name}: {note}" for name, one in self.made.items() for note in one.notes)

    def settle(self) -> None:
        """Keep how the groups are now, for the next build."""
        for name, one in self.made.items():
            self.kept.settle(name, one.key, one.tree, one.drift)


class Standing(NamedTuple):
    """The tree of a group, with the key it is kept under, and how much the group has changed since it was clustered."""

    key: str
    tree: Tree
    notes: tuple[str, ...] = ()
    drift: float = 0.0


async def repaired(
    leaves: Leaves, state: Partition, growing: Growing, how: Routing
) -> tuple[Partition, dict[int, Tree], list[Finding], list[Repair]]:
    """Grow the trees; while something is suspicious, and rounds are left, move outliers and cluster again what tears steps apart."""
    linked: frozenset[int] = frozenset()
    repairs: list[Repair] = []
    names = distinct(state.groups)
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
    return moved, edges
