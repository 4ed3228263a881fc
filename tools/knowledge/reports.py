"""The reports of communities, and what each is made from (GraphRAG §1)."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from ramify.tools.knowledge.communities import Community, Partition
from ramify.tools.knowledge.elements import Claim, Connection, Graph, Pair, Told

QUOTED = "extractive"
_EDITION = "3"
"""Counts up when the same material gives another report."""


class Finding(NamedTuple):
    """Something a report says, and the passages it rests on."""

    text: str
    passages: tuple[str, ...]


class Report(NamedTuple):
    """What there is to say of a community."""

    community: str
    title: str
    summary: str
    rating: float
    """How much it matters, 0 to 10."""
    findings: tuple[Finding, ...]
    made_by: str
    """The model that wrote it, or "extractive": sentences quoted from the documents."""
    digest: str
    """Of what it is made from: a report whose material is as it was is not made again."""

    @property
    def text(self) -> str:
        """Write it out."""
        return "\n".join(filter(None, (self.title, self.summary, *(finding.text for finding in self.findings))))

    @property
    def passages(self) -> tuple[str, ...]:
        """List the passages it rests on, each once."""
        return tuple(dict.fromkeys(passage for finding in self.findings for passage in finding.passages))


class Material(NamedTuple):
    """What a report is made from."""

    community: Community
    names: Mapping[str, str]
    """How its members are written, the most connected first."""
    entities: Mapping[str, Told]
    """What is said of its members."""
    edges: Mapping[Pair, Connection]
    """The relations among its members, by the combined degree of both ends, descending."""
    claims: tuple[Claim, ...]
    parts: tuple["Part", ...] = ()
    """Its sub-communities."""

    @property
    def digest(self) -> str:
        """Hash it."""
        parts = [part.report.digest for part in self.parts]
        edges = [(pair, *edge) for pair, edge in self.edges.items()]
        said = [_EDITION, self.community.members, self.names, self.entities, edges, self.claims, parts]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def lines(self, among: Sequence[str] | None = None) -> list[Told]:
        """List what is known as the seed fills a window: edge by edge both ends, claims on them, the edge; or only `among` some names."""
        inside = None if among is None else frozenset(among)
        told: dict[Told, None] = {}
        for pair, edge in self.edges.items():
            if inside is not None and not inside.issuperset(pair):
                continue
            for key in pair:
                if key in self.entities:
                    told[_line(self.names[key], self.entities[key])] = None
                for claim in self.claims:
                    if claim.subject == key:
                        told[Told(f"{self.names[key]}: {claim.text}", claim.passage)] = None
            if edge.told.text:
                told[_line(" – ".join(self.names[key] for key in pair), edge.told)] = None
        return list(told)


class Part(NamedTuple):
    """A sub-community with its report."""

    community: Community
    report: Report


def _line(name: str, told: Told) -> Told:
    return Told(f"{name}: {told.text}" if told.text else name, told.passage)


def fill(material: Material, window: int, count: Callable[[str], int]) -> list[Told]:
    """Fill a window of so many tokens: a leaf until it is full; of a community with parts, parts become their reports until all fits.

    The largest parts first, as the seed has it. What does not fit then is left out.
    """

    def size(lines: Iterable[Told]) -> int:
        return sum(count(line.text) for line in lines)

    lines = material.lines()
    if size(lines) > window and material.parts:
        shown = {part.community.id: material.lines(part.community.members) for part in material.parts}
        inside = {line for part in shown.values() for line in part}
        between = [line for line in lines if line not in inside]
        lines = [*chain(*shown.values()), *between]
        for part in sorted(material.parts, key=lambda part: (-size(shown[part.community.id]), part.community.id)):
            if size(lines) <= window:
                break
            report = part.report
            head = Told(f"{report.title}. {report.summary}".strip(), report.passages[0] if report.passages else "")
            shown[part.community.id] = [head, *(Told(one.text, one.passages[0]) for one in report.findings if one.passages)]
            lines = [*chain(*shown.values()), *between]
    fitting: list[Told] = []
    left = window
    for line in lines:
        left -= count(line.text)
        if left < 0 and fitting:
            break
        fitting.append(line)
    return fitting


class Materials:
    """The materials of a graph's communities, the deepest first."""

    def __init__(self, graph: Graph, partition: Partition) -> None:
        self._graph, self._partition = graph, partition
        self._parts: dict[str | None, list[Community]] = defaultdict(list)
        for community in partition.values():
            self._parts[community.parent].append(community)
        home = {key: id.split(".") for id, community in partition.items() for key in community.members}
        self._edges: dict[str, list[Pair]] = defaultdict(list)
        for pair in graph.edges:  # a relation is within the communities that hold both ends: the part that both paths share
            shared = list(takewhile(lambda step: step[0] == step[1], zip(*(home[key] for key in pair), strict=False)))
            for depth in range(len(shared)):
                self._edges[".".join(step for step, _ in shared[: depth + 1])].append(pair)
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
            {pair: graph.edges[pair] for pair in edges},
            tuple(claim for key in members for claim in self._claims.get(key, ())),
            tuple(Part(part, reports[part.id]) for part in self._parts[id]),
        )
