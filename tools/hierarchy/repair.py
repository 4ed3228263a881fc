"""Measure groups and their trees, and repair what is suspicious, the cheapest first (meta-guided RAG §5).

Leaves move to groups that suit them; clusters are split and merged; what tears steps apart or mixes metadata is clustered with constraints.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ramify.tools.hierarchy._clustering import Clusters, Known, apart, halves, merged
from ramify.tools.hierarchy.hierarchy_file import Change, Trees, following
from ramify.tools.hierarchy.leaves import Edge, Finding, Leaves, Measured, Node, Repair, Routing, Tree, distinct
from ramify.tools.hierarchy.partition import Partition, alternatives, members_of, profiles
from ramify.tools.hierarchy.tree import LETTERS, TOKENS

_OUTLIER = 2.0
"""A leaf so many deviations below its group's mean is an outlier."""
RETRIEVED = 0.5
_OUTLIERS, _SUPPORTED, _TORN, _CONFLICT = 0.2, 0.7, 0.2, 0.2
_ASKED = 50
"""Lowest summaries of a group that are searched by, about."""
_LOOSE = 2.0
"""A group is loose whose cohesion is so many deviations below the groups' mean."""
LIMITS: Mapping[str, str] = {
    "cluster_cohesion": f"{_LOOSE:g} deviations below the groups' mean",
    "outlier_rate": f"over {_OUTLIERS:.2f}",
    "meta_conflict": f"over {_CONFLICT:.2f}",
    "step_discontinuity": f"over {_TORN:.2f}",
    "summary_support": f"under {_SUPPORTED:.2f}",
    "self_retrieval": f"under {RETRIEVED:.2f}",
}
"""From where on each is suspicious, in words."""
MOVED, SPLIT, MERGED = "outliers moved", "clusters split", "clusters merged"
MUST, CANNOT = "steps kept together", "different metadata kept apart"
_ORDER = (MOVED, SPLIT, MERGED, MUST, CANNOT)
"""The cheapest first."""
Parts = dict[int, Clusters]
"""What takes the place of each lowest node of a tree."""


def diagnose(
    leaves: Leaves, edges: Sequence[Edge], members: Sequence[Sequence[int]], trees: Mapping[int, Tree], share: float
) -> list[Finding]:
    """Measure every group."""
    like = profiles(leaves.vectors, members, share)
    own: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        if edge.kind == "primary":
            own[edge.leaf].add(edge.group)
    cohesion = [float(np.mean(leaves.vectors[list(places)] @ like.centres[group])) for group, places in enumerate(members)]
    loose = float(np.mean(cohesion) - _LOOSE * np.std(cohesion))
    findings = []
    for group, places in enumerate(members):
        tree = trees[group]
        outside = like.outliers(leaves.vectors, places, group, _OUTLIER)
        conflict = sum(bool(own[leaf]) and group not in own[leaf] for leaf in places) / len(places)
        said = [one for node in tree for one in node.summary.said]
        support = float(np.mean([node.summary.support for node in tree])) if said else 1.0
        lowest = [node for node in tree if not node.children]
        found = float(np.mean(found_again(leaves, lowest[:: max(1, len(lowest) // _ASKED)])))
        values = (cohesion[group], len(outside) / len(places), conflict, torn(leaves, places, tree), support, found)
        measured = Measured(*(round(value, 4) for value in values))
        findings.append(Finding(len(places), measured, _flags(measured, loose if len(members) > 1 else -1.0)))
    return findings


def _flags(of: Measured, loose: float) -> tuple[str, ...]:
    suspicious = {
        "cluster_cohesion": of.cluster_cohesion < loose,
        "outlier_rate": of.outlier_rate > _OUTLIERS,
        "meta_conflict": of.meta_conflict > _CONFLICT,
        "step_discontinuity": of.step_discontinuity > _TORN,
        "summary_support": of.summary_support < _SUPPORTED,
        "self_retrieval": of.self_retrieval < RETRIEVED,
    }
    return tuple(name for name, there in suspicious.items() if there)


def torn(leaves: Leaves, places: Sequence[int], tree: Tree) -> float:
    """Give the share of a group's consecutive steps that no lowest cluster has together."""
    steps = sorted((leaves.files[place], *step, place) for place in places if (step := leaves.steps[place]))
    pairs = [(one[3], other[3]) for one, other in pairwise(steps) if one[:2] == other[:2] and other[2] == one[2] + 1]
    lowest = [frozenset(node.leaves) for node in tree if not node.children]
    return sum(not any(own.issuperset(pair) for own in lowest) for pair in pairs) / len(pairs) if pairs else 0.0


def found_again(leaves: Leaves, nodes: Sequence[Node]) -> list[float]:
    """Search all leaves by each summary, for as many as it sums up; return the share of these that is found."""
    shares = []
    for node in nodes:
        near = leaves.vectors @ node.vector
        count = min(len(node.leaves), len(near))
        best = np.argpartition(-near, count - 1)[:count] if count < len(near) else np.arange(len(near))
        shares.append(len(set(best.tolist()) & set(node.leaves)) / len(node.leaves))
    return shares


class Repaired(NamedTuple):
    """The groups after repair: their edges, trees and findings, and what was done."""

    state: Partition
    trees: dict[int, Tree]
    findings: list[Finding]
    repairs: list[Repair]


async def repaired(state: Partition, trees: Trees, known: Sequence[Known], how: Routing) -> Repaired:
    """Grow the trees; while something is suspicious that can be repaired, and rounds are left, repair it."""
    names = distinct(state.groups)
    await trees.grow(dict(zip(names, _members(state), strict=True)))
    repairs: list[Repair] = []
    reshaped: set[int] = set()
    constrained: set[int] = set()
    for round in range(1, how.repairs + 2):
        grown, members = trees.of(names), _members(state)
        findings = diagnose(trees.leaves, state.edges, members, grown, how.novelty)
        if round > how.repairs:
            break
        done, edges = _moved(trees.leaves, state, findings, how)
        state = state._replace(edges=edges)
        changes: dict[str, Change] = {}
        for group, own in enumerate(_members(state)):
            if group in constrained:
                what, change = dict[str, int](), Change(own) if own != members[group] else None
            else:
                what, change = _planned(trees.leaves, grown[group], own, findings[group], group not in reshaped, known, how)
            done |= {(one, group): count for one, count in what.items()}
            changes |= {names[group]: change} if change else {}
            reshaped |= {group} if what.keys() & {SPLIT, MERGED} else set()
            constrained |= {group} if what.keys() & {MUST, CANNOT} else set()
        if not done:
            break
        repairs += [
            Repair(round, group, what, count)
            for (what, group), count in sorted(done.items(), key=lambda one: (_ORDER.index(one[0][0]), one[0][1]))
        ]
        await trees.renew(changes)
    return Repaired(state, grown, findings, repairs)


def _planned(
    leaves: Leaves, tree: Tree, own: Sequence[int], finding: Finding, reshape: bool, known: Sequence[Known], how: Routing
) -> tuple[dict[str, int], Change | None]:
    """Choose the cheapest repair of a group's clusters, with the leaves that each concerns; also where leaves only came and went."""
    lowest = {place: list(node.leaves) for place, node in enumerate(tree) if not node.children}
    now = following(leaves, own, [*lowest.values()])
    parts = {place: [cluster] if cluster else [] for place, cluster in zip(lowest, now, strict=True)}
    done: dict[str, int] = {}
    if len(own) >= how.tree:
        done = _reshaped(leaves, tree, parts, finding, known, how) if reshape else {}
        if not done and (done := _constraints(finding, parts, known)):
            return done, Change(own)
    return done, Change(own, parts) if parts != {place: [cluster] for place, cluster in lowest.items()} else None


def _members(state: Partition) -> list[list[int]]:
    """List the leaves of each group that its tree is grown from."""
    return members_of([edge for edge in state.edges if edge.kind != "novel"], len(state.groups))


def _moved(leaves: Leaves, state: Partition, findings: Sequence[Finding], how: Routing) -> tuple[dict[tuple[str, int], int], list[Edge]]:
    """Link the outliers of suspicious groups to the groups that suit them; where they are for want of metadata only, they leave."""
    suspicious = [group for group, one in enumerate(findings) if "outlier_rate" in one.flags]
    if not suspicious or len(state.groups) < 2:
        return {}, state.edges
    members = _members(state)
    like = profiles(leaves.vectors, members, how.novelty)
    moved: dict[tuple[str, int], int] = {}
    edges = list(state.edges)
    held = {(edge.leaf, edge.group) for edge in edges}
    for group in suspicious:
        away = like.outliers(leaves.vectors, members[group], group, _OUTLIER)
        for leaf, others in zip(away, alternatives(leaves, state, away, how), strict=True):
            new = [Edge(leaf, other, weight, "moved") for other, weight in others if (leaf, other) not in held]
            if new:
                moved[MOVED, group] = moved.get((MOVED, group), 0) + 1
                edges += new
                held |= {(edge.leaf, edge.group) for edge in new}
                edges = [edge for edge in edges if not (edge.leaf == leaf and edge.group == group and edge.kind == "soft")]
    return moved, edges


def _reshaped(leaves: Leaves, tree: Tree, parts: Parts, finding: Finding, known: Sequence[Known], how: Routing) -> dict[str, int]:
    """Split and merge clusters in `parts`, of a loose group or where summaries do not find their leaves again; count the leaves."""
    suspects = set(parts) if "cluster_cohesion" in finding.flags else set()
    if "self_retrieval" in finding.flags:
        suspects |= {
            place for place, share in zip(parts, found_again(leaves, [tree[place] for place in parts]), strict=True) if share < RETRIEVED
        }
    if not suspects:
        return {}
    done: dict[str, int] = {}
    for place in sorted(suspects):
        for own in parts[place][:1]:
            cut = halves(leaves.vectors[own], how.seed)
            if len(cut) > 1:
                parts[place] = [[own[one] for one in half] for half in cut]
                done[SPLIT] = done.get(SPLIT, 0) + len(own)
    units = [(place, own) for place, clusters in parts.items() for own in clusters]
    every = sorted({leaf for _, own in units for leaf in own})
    length = dict(zip(every, (len(text) / LETTERS for text in leaves.texts(every)), strict=True))

    def may(pair: Sequence[int], union: Sequence[int]) -> bool:
        fits = sum(length[leaf] for leaf in union) <= TOKENS and len(apart([[leaf] for leaf in union], known)) == 1
        return fits and any(units[unit][0] in suspects for unit in pair)

    for together in merged(leaves.vectors, [own for _, own in units], how.seed, may):
        if len(together) > 1:
            union = sorted({leaf for unit in together for leaf in units[unit][1]})
            done[MERGED] = done.get(MERGED, 0) + len(union)
            for place, own in (units[unit] for unit in together):
                parts[place] = [union if cluster is own else cluster for cluster in parts[place]]
    return done


def _constraints(finding: Finding, parts: Parts, known: Sequence[Known]) -> dict[str, int]:
    """Tell which constraints a group needs that it has not had: consecutive steps are torn apart, or a cluster mixes what differs."""
    mixed = [own for clusters in parts.values() for own in clusters if len(apart([[leaf] for leaf in own], known)) > 1]
    needed = {MUST: finding.leaves} if "step_discontinuity" in finding.flags else {}
    return needed | ({CANNOT: len({leaf for own in mixed for leaf in own})} if mixed and "meta_conflict" in finding.flags else {})
