"""Groups founded of leaves that belong to none: clusters of them, split where metadata forbid, merged where the BIC says so."""

from collections.abc import Sequence

import numpy as np

from ramify.tools.hierarchy.clustering import apart, cluster, merged
from ramify.tools.hierarchy.groups_and_nodes import Edge, Group, Routing
from ramify.tools.hierarchy.leaves import Leaves
from ramify.tools.hierarchy.membership import Routed
from ramify.tools.hierarchy.profiles import profiles

POOL = "without a group"


def founded(leaves: Leaves, routed: Routed, fields: Sequence[str], first: int, how: Routing) -> tuple[list[Group], list[Edge]]:
    """Found groups of the leaves that belong to none, numbered from `first`; what does not cluster is a group of its own kind, the pool."""
    novel = routed.novel
    if not novel:
        return [], []
    if not first:  # there are no groups to be different from
        return [Group(POOL, ("",) * len(fields), "pool")], [Edge(leaf, 0, 1.0, "pool") for leaf in novel]
    known = leaves.known(fields)
    clusters = _clusters(leaves, routed, how) if len(novel) >= how.found else []
    home: dict[int, int] = {}
    for number, own in enumerate(clusters):
        for leaf in own:
            home.setdefault(leaf, number)
    exclusive = [[leaf for leaf in own if home[leaf] == number] for number, own in enumerate(clusters)]
    parts = [part for own in exclusive for part in apart([[leaf] for leaf in own], known) if len(part) >= how.found]
    together = sorted(sorted(leaf for part in own for leaf in parts[part]) for own in merged(leaves.vectors, parts, how.seed))
    groups = [Group(f"found {number + 1}: {_named(leaves, own)}", ("",) * len(fields), "founded") for number, own in enumerate(together)]
    edges = [Edge(leaf, first + number, 1.0, "founded") for number, own in enumerate(together) for leaf in own]
    rest = sorted(set(novel) - {edge.leaf for edge in edges})
    if rest:
        edges += [Edge(leaf, first + len(groups), 1.0, "pool") for leaf in rest]
        groups.append(Group(POOL, ("",) * len(fields), "pool"))
    return groups, edges


def _clusters(leaves: Leaves, routed: Routed, how: Routing) -> list[list[int]]:
    """Cluster leaves; one cluster counts if they are as similar to one another as those of most groups are."""
    novel = routed.novel
    found = [[novel[one] for one in own] for own in cluster(leaves.vectors[list(novel)], how.seed, how.reduction).clusters]
    return found if len(found) > 1 or float(profiles(leaves.vectors, [novel]).means[0]) >= routed.usual else []


def _named(leaves: Leaves, own: Sequence[int]) -> str:
    """Name a group after the leaf nearest its centre."""
    vectors = leaves.vectors[list(own)]
    near = vectors @ vectors.mean(axis=0)
    return leaves.titles[own[int(np.argmax(near))]] or leaves.documents[own[int(np.argmax(near))]]
