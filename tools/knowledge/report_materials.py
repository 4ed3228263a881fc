"""Put together what each community's report is made from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ramify.tools.knowledge.communities import Community, Partition
from ramify.tools.knowledge.elements import Claim, Pair
from ramify.tools.knowledge.graph import Graph
from ramify.tools.knowledge.reports import Edge, Material, Part, Report


class Materials:
    """The materials of a graph's communities, the deepest first."""

    def __init__(self, graph: Graph, partition: Partition) -> None:
        self._graph, self._partition = graph, partition
        self._parts: dict[str, list[Community]] = defaultdict(list)
        for community in partition.values():
            if community.parent is not None:
                self._parts[community.parent].append(community)
        self._edges = _inside(partition, graph.edges)
        self._claims: dict[str, list[Claim]] = defaultdict(list)
        for claim in graph.claims:
            self._claims[claim.subject].append(claim)

    def by_depth(self) -> Iterator[list[str]]:
        """Yield ids of communities level by level, the deepest first: the parts of each come before it."""
        by_level: dict[int, list[str]] = defaultdict(list)
        for id, community in self._partition.items():
            by_level[community.level].append(id)
        for level in sorted(by_level, reverse=True):
            yield by_level[level]

    def of(self, id: str, reports: Mapping[str, Report]) -> Material:
        """Put together the material of a community; `reports` holds those of its parts."""
        community, graph = self._partition[id], self._graph
        members = sorted(community.members, key=lambda key: (-graph.names[key].degree, key))
        degree = {key: graph.names[key].degree for key in members}
        edges = sorted(self._edges[id], key=lambda pair: (-(degree[pair[0]] + degree[pair[1]]), pair))
        return Material(
            community,
            {key: graph.names[key].name for key in members},
            {key: told for key in members if (told := graph.names[key].told).text},
            tuple(Edge(pair, graph.edges[pair].times, graph.edges[pair].told) for pair in edges),
            tuple(claim for key in members for claim in self._claims.get(key, ())),
            tuple(Part(part, reports[part.id]) for part in self._parts[id]),
        )


def _inside(partition: Partition, edges: Mapping[Pair, object]) -> dict[str, list[Pair]]:
    """List the relations within each community."""
    home: dict[str, str] = {key: id for id, community in partition.items() for key in community.members}
    inside: dict[str, list[Pair]] = defaultdict(list)
    for pair in edges:
        for id in _shared(home[pair[0]], home[pair[1]]):
            inside[id].append(pair)
    return inside


def _shared(one: str, other: str) -> Iterable[str]:
    """Yield the ids of the communities that hold two communities both."""
    path: list[str] = []
    for mine, theirs in zip(one.split("."), other.split("."), strict=False):
        if mine != theirs:
            return
        path.append(mine)
        yield ".".join(path)
