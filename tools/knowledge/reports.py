"""Community reports and the material they are written from (GraphRAG §1)."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from ramify.tools.index.reports import Report
from ramify.tools.knowledge.communities import Community, Partition
from ramify.tools.knowledge.elements import Claim, Connection, Description, Graph, Pair

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
            lines_of[part.community.id] = [head, *(Description(one.text, one.passages[0]) for one in report.findings if one.passages)]
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
