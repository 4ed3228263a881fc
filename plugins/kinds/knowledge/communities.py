"""Communities of connected names, by level, and the material that their reports are written from (GraphRAG §1).

Hierarchical Leiden (Traag, Waltman and van Eck 2019), exclusive and exhaustive at each level. A community's id is its path: "3" at level 0,
"3.1" below it. A community without sub-communities also counts at all levels below its own.
"""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import Literal, NamedTuple

from ramify.kinds.knowledge.elements import Claim, Connection, Description, Graph, Pair, Relation
from ramify.tools.index.reports import Report

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
    entries = hierarchical_leiden(
        listed, resolution=_RESOLUTION, randomness=_RANDOMNESS, max_cluster_size=max_cluster_size, seed=_SEED, use_modularity=True
    )
    members: dict[int, set[str]] = defaultdict(set)
    parts: dict[int | None, set[int]] = defaultdict(set)
    for entry in entries:
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
        for number, (names, cluster) in enumerate(sorted(own, key=lambda item: (-len(item[0]), item[0]))):
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
        [id for id, community in partition.items() if community.level == level or (community.level < level and id not in split)]
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


EXTRACTIVE = "extractive"
_EDITION = "3"
"""Version of the report format: incremented when the same material gives another report."""


class ReportMaterial(NamedTuple):
    """The material of a report: a community's names, descriptions, edges, claims and sub-communities."""

    community: Community
    names: Mapping[str, str]
    """Spellings of its members by key, the most connected first."""
    entities: Mapping[str, Description]
    """Descriptions of its members by key."""
    edges: Mapping[Pair, Connection]
    """Edges between its members, by descending combined degree of both ends."""
    claims: tuple[Claim, ...]
    sub_communities: tuple["SubCommunity", ...] = ()
    """Its sub-communities with their reports."""

    @property
    def digest(self) -> str:
        """Return a digest of the material, 16 hexadecimal digits."""
        parts = [part.report.digest for part in self.sub_communities]
        edges = [(pair, *edge) for pair, edge in self.edges.items()]
        content = [_EDITION, self.community.members, self.names, self.entities, edges, self.claims, parts]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def lines(self, among: Sequence[str] | None = None) -> list[Description]:
        """Return the lines in the paper's order: for each edge its two names, their claims, then the edge; or only among some names."""
        members = None if among is None else frozenset(among)
        lines: dict[Description, None] = {}
        for pair, edge in self.edges.items():
            if members is not None and not members.issuperset(pair):
                continue
            for key in pair:
                if key in self.entities:
                    lines[_description_line(self.names[key], self.entities[key])] = None
                for claim in self.claims:
                    if claim.subject == key:
                        lines[Description(f"{self.names[key]}: {claim.text}", claim.passage)] = None
            if edge.description.text:
                lines[_description_line(" – ".join(self.names[key] for key in pair), edge.description)] = None
        return list(lines)


class SubCommunity(NamedTuple):
    """A sub-community and its report."""

    community: Community
    report: Report


def _description_line(name: str, description: Description) -> Description:
    return Description(f"{name}: {description.text}" if description.text else name, description.passage)


def fill_window(material: ReportMaterial, window: int, count: Callable[[str], int]) -> list[Description]:
    """Return the lines of a community that fit into a window of `window` tokens (GraphRAG §1).

    If they do not fit, sub-communities are replaced by their reports, the largest first; remaining lines beyond the window are left out.
    """

    def size(lines: Iterable[Description]) -> int:
        return sum(count(line.text) for line in lines)

    lines = material.lines()
    if size(lines) > window and material.sub_communities:
        lines_of = {part.community.id: material.lines(part.community.members) for part in material.sub_communities}
        covered = {line for part in lines_of.values() for line in part}
        between = [line for line in lines if line not in covered]
        lines = [*chain(*lines_of.values()), *between]
        for part in sorted(material.sub_communities, key=lambda part: (-size(lines_of[part.community.id]), part.community.id)):
            if size(lines) <= window:
                break
            report = part.report
            head = Description(f"{report.title}. {report.summary}".strip(), report.passages[0] if report.passages else "")
            lines_of[part.community.id] = [
                head,
                *(Description(finding.text, finding.passages[0]) for finding in report.findings if finding.passages),
            ]
            lines = [*chain(*lines_of.values()), *between]
    fitting: list[Description] = []
    remaining = window
    for line in lines:
        remaining -= count(line.text)
        if remaining < 0 and fitting:
            break
        fitting.append(line)
    return fitting


class ReportMaterials:
    """The report materials of a graph's communities."""

    def __init__(self, graph: Graph, partition: Partition) -> None:
        self._graph, self._partition = graph, partition
        self._parts: dict[str | None, list[Community]] = defaultdict(list)
        for community in partition.values():
            self._parts[community.parent].append(community)
        path_of = {key: id.split(".") for id, community in partition.items() for key in community.members}
        self._edges: dict[str, list[Pair]] = defaultdict(list)
        for pair in graph.edges:  # an edge belongs to the communities on the common prefix of both paths
            shared = list(takewhile(lambda step: step[0] == step[1], zip(*(path_of[key] for key in pair), strict=False)))
            for depth in range(len(shared)):
                self._edges[".".join(step for step, _ in shared[: depth + 1])].append(pair)
        self._claims: dict[str, list[Claim]] = defaultdict(list)
        for claim in graph.claims:
            self._claims[claim.subject].append(claim)

    def by_depth(self) -> Iterator[list[str]]:
        """Yield the community ids level by level, the deepest first, so sub-communities come before their parent."""
        by_level: dict[int, list[str]] = defaultdict(list)
        for id, community in self._partition.items():
            by_level[community.level].append(id)
        for level in sorted(by_level, reverse=True):
            yield by_level[level]

    def material(self, id: str, reports: Mapping[str, Report]) -> ReportMaterial:
        """Return the material of a community; reports: those of its sub-communities, by id."""
        community, graph = self._partition[id], self._graph
        members = sorted(community.members, key=lambda key: (-graph.names[key].degree, key))
        degree = {key: graph.names[key].degree for key in members}
        edges = sorted(self._edges[id], key=lambda pair: (-(degree[pair[0]] + degree[pair[1]]), pair))
        return ReportMaterial(
            community,
            {key: graph.names[key].name for key in members},
            {key: description for key in members if (description := graph.names[key].description).text},
            {pair: graph.edges[pair] for pair in edges},
            tuple(claim for key in members for claim in self._claims.get(key, ())),
            tuple(SubCommunity(sub, reports[sub.id]) for sub in self._parts[id]),
        )
