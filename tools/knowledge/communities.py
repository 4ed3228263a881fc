"""Communities of connected names, by level: hierarchical Leiden (Traag, Waltman and van Eck 2019), exclusive and exhaustive at each level.

A community's id is its place, as a branch's path is: "3" at level 0, "3.1" below it. One that is not split stands for itself at every level
below its own.
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
    """Connected names: the community's id and its members' keys, in order."""

    id: str
    members: tuple[str, ...]

    @property
    def level(self) -> int:
        """Tell the level at which it first stands: 0 is the root level."""
        return self.id.count(".")

    @property
    def parent(self) -> str | None:
        """Give the id of the community that it is a part of."""
        return self.id.rpartition(".")[0] or None


Partition = dict[str, Community]
"""Communities by id, in order."""


def place(id: str) -> tuple[int, ...]:
    """Give the sort key of a community's id: numeric, so that 3.10 comes after 3.9."""
    return tuple(map(int, id.split(".")))


def weighted(relations: Mapping[Pair, Relation], weights: Weights = "count") -> dict[Pair, float]:
    """Weigh relations: their count as a share of the largest, or how much oftener than by chance they occur (positive PMI)."""
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


def communities(edges: Mapping[Pair, float], max_cluster_size: int = MAX_CLUSTER_SIZE) -> Partition:
    """Partition the connected names; the same edges give the same communities, in whatever order they come."""
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
        """Number clusters, the largest first, ties by their first member; a single part that is all of a cluster stands for it."""
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


def levels(partition: Partition) -> list[list[str]]:
    """List the ids that make up each level: each holds every connected name once; the last one is that of the communities without parts."""
    split = {community.parent for community in partition.values()}
    deepest = max((community.level for community in partition.values()), default=-1)
    return [
        [id for id, one in partition.items() if one.level == level or (one.level < level and id not in split)]
        for level in range(deepest + 1)
    ]


def kept(before: Partition, edges: Mapping[Pair, float], max_cluster_size: int = MAX_CLUSTER_SIZE) -> Partition:
    """Keep communities as they were: names that are gone leave, new ones join the community of their strongest neighbour.

    New names that no old one is connected with make communities of their own.
    """
    there = {key for pair in edges for key in pair}
    home = {key: community.id for community in before.values() for key in community.members if key in there}
    # Of the communities of one name the deepest comes last, because ids are in order.
    loose = _join(home, edges, there - home.keys())
    members: dict[str, list[str]] = defaultdict(list)
    for key in sorted(home):
        id = home[key]
        while id:
            members[id].append(key)
            id = id.rpartition(".")[0]
    old = {id: Community(id, tuple(members[id])) for id in sorted(members, key=place)}
    among = {pair: weight for pair, weight in edges.items() if pair[0] in loose}
    first = 1 + max((place(id)[0] for id in before), default=-1)
    for community in communities(among, max_cluster_size).values():
        root, dot, rest = community.id.partition(".")
        id = f"{int(root) + first}{dot}{rest}"
        old[id] = Community(id, community.members)
    return old


def _join(home: dict[str, str], edges: Mapping[Pair, float], new: set[str]) -> set[str]:
    """Give new names the home of their strongest neighbour, ring by ring; return those that no old name is connected with."""
    near: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (one, other), weight in edges.items():
        for key, neighbour in ((one, other), (other, one)):
            if key in new:
                near[key].append((-weight, neighbour))
    left = set(new)
    while True:
        joined = {key: home[min(known)[1]] for key in sorted(left) if (known := [edge for edge in near[key] if edge[1] in home])}
        if not joined:
            return left
        home |= joined
        left -= joined.keys()


def modularity(edges: Mapping[Pair, float], groups: Sequence[Sequence[str]]) -> float:
    """Return Q = 1/2m sum over pairs in one group of (A_ij - k_i k_j / 2m) (GraphRAG §1)."""
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
