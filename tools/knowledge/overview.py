"""What the graph of an index holds, in numbers: names, connections, and communities level by level."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ramify.tools.index import Index
from ramify.tools.index.local_index import tokens_of
from ramify.tools.knowledge.communities import Partition, Weights, levels, modularity, weighted
from ramify.tools.knowledge.community_reports import Reports
from ramify.tools.knowledge.elements import Relation
from ramify.tools.knowledge.graph import Graph
from ramify.tools.knowledge.reports import Report

UNREAD = "unread "
"""What the facts of units that could not be read begin with."""


class Level(NamedTuple):
    """A level of communities: how many, the tokens of their reports, these as a share of the source text's, and their modularity Q."""

    number: int
    communities: int
    tokens: int
    share: float
    modularity: float


@dataclass(frozen=True)
class Inside:
    """What the graph of an index holds."""

    graph: Graph
    partition: Partition
    reports: Mapping[str, Report]
    facts: Mapping[str, str]
    levels: tuple[Level, ...]
    tokens: int
    """Of the text of all passages that are searched."""

    @property
    def root(self) -> list[str]:
        """List the communities of level 0, the largest first."""
        return sorted((id for id, one in self.partition.items() if one.parent is None), key=lambda id: -self.size(id))

    @cached_property
    def parts(self) -> Mapping[str, Sequence[str]]:
        """List the sub-communities of each community that has any."""
        found: dict[str, list[str]] = defaultdict(list)
        for id, community in self.partition.items():
            if community.parent is not None:
                found[community.parent].append(id)
        return found

    def size(self, id: str) -> int:
        """Count the names of a community."""
        return len(self.partition[id].members)

    def members(self, id: str) -> list[str]:
        """List the names of a community as they are written, the most connected first."""
        names = [self.graph.names[key] for key in self.partition[id].members]
        return [name.name for name in sorted(names, key=lambda name: (-name.degree, name.name))]

    @cached_property
    def named(self) -> int:
        """Count the passages that have a name."""
        return len({id for name in self.graph.names.values() for id in name.passages})

    @property
    def unconnected(self) -> int:
        """Count the names that are connected with none, and so are in no community."""
        return sum(not name.degree for name in self.graph.names.values())

    @property
    def unread(self) -> dict[str, str]:
        """Give the reason for each unit that could not be read, by the id of its first passage."""
        return {name.removeprefix(UNREAD): why for name, why in self.facts.items() if name.startswith(UNREAD)}

    @property
    def replaced(self) -> int:
        """Count the reports that the model did not write, and that are quoted from the documents instead."""
        return int(self.facts.get("replaced", 0))

    def to_json(self) -> dict[str, Any]:
        """Give the counts, the levels, the reports and the facts as plain values."""
        counts = {
            "names": len(self.graph.names),
            "connections": len(self.graph.edges),
            "claims": len(self.graph.claims),
            "communities": len(self.partition),
            "unconnected_names": self.unconnected,
            "passages_with_names": self.named,
            "tokens": self.tokens,
            "unread_units": len(self.unread),
            "replaced_reports": self.replaced,
        }
        levels = [dict(zip(("level", "communities", "tokens", "share", "modularity"), level, strict=True)) for level in self.levels]
        return {
            "counts": counts,
            "levels": levels,
            "reports": [self._report(id) for id in self.partition],
            "facts": dict(self.facts),
        }

    def _report(self, id: str) -> dict[str, Any]:
        community, report = self.partition[id], self.reports[id]
        return {
            "community": id,
            "level": community.level,
            "parent": community.parent,
            "members": self.members(id),
            "title": report.title,
            "summary": report.summary,
            "rating": report.rating,
            "made_by": report.made_by,
            "findings": [{"text": finding.text, "passages": list(finding.passages)} for finding in report.findings],
        }


def inside(index: Index, content: Reports) -> Inside:
    """Look at the graph of an index."""
    graph, partition, facts = content.graph(), content.partition(), content.facts
    tokens = tokens_of(index, sorted(content.passages()))
    relations = {pair: Relation(connection.times) for pair, connection in graph.edges.items()}
    weights: Weights = "pmi" if facts.get("weights") == "pmi" else "count"
    edges = weighted(relations, weights)
    groups = [[partition[id].members for id in ids] for ids in levels(partition)]
    sizes = [
        Level(level.number, level.communities, level.tokens, level.tokens / max(1, tokens), modularity(edges, group))
        for level, group in zip(content.levels, groups, strict=True)
    ]
    return Inside(graph, partition, content.every(), facts, tuple(sizes), tokens)
