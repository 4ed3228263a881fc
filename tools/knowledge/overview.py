"""What the graph of an index holds, in numbers: names, connections, and communities level by level."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ramify.tools.index import Index
from ramify.tools.index.local_index import tokens_of
from ramify.tools.knowledge.communities import Partition, Weights, levels, modularity, weighted
from ramify.tools.knowledge.elements import Relation
from ramify.tools.knowledge.graph import Graph
from ramify.tools.knowledge.graph_file import GraphFile
from ramify.tools.knowledge.reports import Report

_UNREAD = "unread "
"""What the facts of units that could not be read begin with."""


class LevelSize(NamedTuple):
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
    levels: tuple[LevelSize, ...]
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

    @property
    def unread(self) -> dict[str, str]:
        """Give the reason for each unit that could not be read, by the id of its first passage."""
        return {name.removeprefix(_UNREAD): why for name, why in self.facts.items() if name.startswith(_UNREAD)}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Count what there is; names that are connected with none are in no community, replaced reports are quoted instead."""
        names = self.graph.names.values()
        return {
            "names": len(names),
            "connections": len(self.graph.edges),
            "claims": len(self.graph.claims),
            "communities": len(self.partition),
            "unconnected_names": sum(not name.degree for name in names),
            "passages_with_names": len({id for name in names for id in name.passages}),
            "tokens": self.tokens,
            "unread_units": len(self.unread),
            "replaced_reports": int(self.facts.get("replaced", 0)),
        }


def inside(index: Index, content: GraphFile) -> Inside:
    """Look at the graph of an index."""
    graph, partition, facts = content.graph(), content.partition(), content.facts
    tokens = tokens_of(index, sorted(content.passages()))
    relations = {pair: Relation(connection.times) for pair, connection in graph.edges.items()}
    weights: Weights = "pmi" if facts.get("weights") == "pmi" else "count"
    edges = weighted(relations, weights)
    groups = [[partition[id].members for id in ids] for ids in levels(partition)]
    sizes = [
        LevelSize(level.number, level.communities, level.tokens, level.tokens / max(1, tokens), modularity(edges, group))
        for level, group in zip(content.levels, groups, strict=True)
    ]
    return Inside(graph, partition, content.every(), facts, tuple(sizes), tokens)
