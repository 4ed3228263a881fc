"""What is measured of groups and their trees, and what of it is suspicious (meta-guided RAG §5)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.hierarchy.groups_and_nodes import Edge, Finding, Measured, Node, Tree
from ramify.tools.hierarchy.leaves import Leaves
from ramify.tools.hierarchy.profiles import Profiles, profiles

OUTLIER = 2.0
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
        outside = outliers(leaves.vectors, places, group, like)
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


def outliers(vectors: Matrix, places: Sequence[int], group: int, like: Profiles) -> list[int]:
    """List the leaves of a group that are far from its centre."""
    z = (vectors[list(places)] @ like.centres[group] - like.means[group]) / like.deviations[group]
    return [place for place, value in zip(places, z, strict=True) if value < -OUTLIER]


def torn(leaves: Leaves, places: Sequence[int], tree: Tree) -> float:
    """Give the share of a group's consecutive steps that no lowest cluster has together."""
    steps = sorted((leaves.files[place], *step, place) for place in places if (step := leaves.steps[place]))
    pairs = [(one[3], other[3]) for one, other in pairwise(steps) if one[:2] == other[:2] and other[2] == one[2] + 1]
    lowest = [frozenset(node.leaves) for node in tree if not node.children]
    apart = [pair for pair in pairs if not any(own.issuperset(pair) for own in lowest)]
    return len(apart) / len(pairs) if pairs else 0.0


def found_again(leaves: Leaves, nodes: Sequence[Node]) -> list[float]:
    """Search all leaves by each summary, for as many as it sums up; return the share of these that is found."""
    shares = []
    for node in nodes:
        near = leaves.vectors @ node.vector
        count = min(len(node.leaves), len(near))
        best = np.argpartition(-near, count - 1)[:count] if count < len(near) else np.arange(len(near))
        shares.append(len(set(best.tolist()) & set(node.leaves)) / len(node.leaves))
    return shares
