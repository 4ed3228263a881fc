"""Communities of connected names, by level: hierarchical Leiden (Traag, Waltman and van Eck 2019), exclusive and exhaustive at each level.

A community's id is its path: "3" at level 0, "3.1" below it. A community without sub-communities also counts at all levels below its own.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ramify.tools.knowledge.elements import Pair, Relation

Weights = Literal["count", "pmi"]
MAX_CLUSTER_SIZE = 10
_RESOLUTION, _RANDOMNESS, _SEED = 1.0, 0.001, 0


class Community(NamedTuple):
    """A community of connected names: its id and its members' keys, sorted."""

    id: str
    members: tuple[str, ...]

    @property
    def level(self) -> int:
        """Return its level; 0 is the root level."""
        return self.id.count(".")

    @property
    def parent(self) -> str | None:
        """Return the id of the parent community, None at level 0."""
        return self.id.rpartition(".")[0] or None


Partition = dict[str, Community]
"""Communities by id, sorted by `community_sort_key`."""


def community_sort_key(id: str) -> tuple[int, ...]:
    """Return the numeric sort key of a community's id, so that 3.10 comes after 3.9."""
    return tuple(map(int, id.split(".")))


def edge_weights(relations: Mapping[Pair, Relation], weights: Weights = "count") -> dict[Pair, float]:
    """Return edge weights: counts as a share of the largest ("count"), or smoothed positive pointwise mutual information ("pmi")."""
    counts = {pair: relation.count for pair, relation in relations.items()}
    if weights == "count":
        most = max(counts.values(), default=1)
        return {pair: count / most for pair, count in counts.items()}
    ends: Counter[str] = Counter()
    for pair, count in counts.items():
        for key in pair:
            ends[key] += count
    total = sum(counts.values())
    return {(one, other): math.log1p(count * total / (ends[one] * ends[other])) for (one, other), count in counts.items()}


def find_communities(edges: Mapping[Pair, float], max_cluster_size: int = MAX_CLUSTER_SIZE) -> Partition:
    """Return the communities of connected names by hierarchical Leiden; the result does not depend on the order of the edges."""
    if not edges:
        return {}
    from graspologic_native import hierarchical_leiden

    listed = [(one, other, weight) for (one, other), weight in sorted(edges.items())]
    found = hierarchical_leiden(
        listed, resolution=_RESOLUTION, randomness=_RANDOMNESS, max_cluster_size=max_cluster_size, seed=_SEED, use_modularity=True
    )
    members: dict[int, set[str]] = defaultdict(set)
    parts: dict[int | None, set[int]] = defaultdict(set)
    for entry in found:
        members[entry.cluster].add(entry.node)
        parts[entry.parent_cluster].add(entry.cluster)

    def numbered(clusters: set[int], above: tuple[int, ...]) -> Partition:
        """Number clusters by size, ties by first member; a cluster with a single child is replaced by that child."""
        own: list[tuple[list[str], int]] = []
        for cluster in clusters:
            while len(parts[cluster]) == 1:
                (cluster,) = parts[cluster]
            own.append((sorted(members[cluster]), cluster))
        partition: Partition = {}
        for number, (names, cluster) in enumerate(sorted(own, key=lambda one: (-len(one[0]), one[0]))):
            path = (*above, number)
            id = ".".join(map(str, path))
            partition |= {id: Community(id, tuple(names))} | numbered(parts[cluster], path)
        return partition

    return numbered(parts[None], ())


def community_levels(partition: Partition) -> list[list[str]]:
    """Return the community ids of each level; every level covers each connected name once, the last one by the leaf communities."""
    split = {community.parent for community in partition.values()}
    deepest = max((community.level for community in partition.values()), default=-1)
    return [
        [id for id, one in partition.items() if one.level == level or (one.level < level and id not in split)]
        for level in range(deepest + 1)
    ]


def update_communities(previous: Partition, edges: Mapping[Pair, float], max_cluster_size: int = MAX_CLUSTER_SIZE) -> Partition:
    """Update communities incrementally: remove deleted names and assign each new name to the community of its strongest neighbour.

    New names without a path to an existing name form new communities.
    """
    connected = {key for pair in edges for key in pair}
    community_of = {key: community.id for community in previous.values() for key in community.members if key in connected}
    # Of the communities of one name the deepest comes last, because ids are in order.
    unconnected = _assign_new_names(community_of, edges, connected - community_of.keys())
    members: dict[str, list[str]] = defaultdict(list)
    for key in sorted(community_of):
        id = community_of[key]
        while id:
            members[id].append(key)
            id = id.rpartition(".")[0]
    old = {id: Community(id, tuple(members[id])) for id in sorted(members, key=community_sort_key)}
    unassigned = {pair: weight for pair, weight in edges.items() if pair[0] in unconnected}
    first = 1 + max((community_sort_key(id)[0] for id in previous), default=-1)
    for community in find_communities(unassigned, max_cluster_size).values():
        root, dot, rest = community.id.partition(".")
        id = f"{int(root) + first}{dot}{rest}"
        old[id] = Community(id, community.members)
    return old


def _assign_new_names(community_of: dict[str, str], edges: Mapping[Pair, float], new: set[str]) -> set[str]:
    """Assign new names to the community of their strongest neighbour, breadth-first; return the names without a path to an old one."""
    neighbours: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (one, other), weight in edges.items():
        for key, neighbour in ((one, other), (other, one)):
            if key in new:
                neighbours[key].append((-weight, neighbour))
    remaining = set(new)
    while True:
        assigned = {
            key: community_of[min(known)[1]]
            for key in sorted(remaining)
            if (known := [edge for edge in neighbours[key] if edge[1] in community_of])
        }
        if not assigned:
            return remaining
        community_of |= assigned
        remaining -= assigned.keys()


def modularity(edges: Mapping[Pair, float], groups: Sequence[Sequence[str]]) -> float:
    """Return the modularity Q = 1/2m · sum over pairs in one group of (A_ij - k_i k_j / 2m) (GraphRAG §1)."""
    group_of = {key: number for number, group in enumerate(groups) for key in group}
    total = sum(edges.values())
    within: dict[int, float] = defaultdict(float)
    degrees: dict[int, float] = defaultdict(float)
    for pair, weight in edges.items():
        one, other = (group_of[key] for key in pair)
        degrees[one] += weight
        degrees[other] += weight
        within[one] += weight * (one == other)
    return sum(within[group] / total - (degrees[group] / (2 * total)) ** 2 for group in degrees) if total else 0.0
