"""The graph of an index as it is searched and displayed: names, connections, and communities level by level."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.index import Index
from ramify.tools.index.index import LocalIndex, tokens_of
from ramify.tools.index.passage_store import connected, document_of
from ramify.tools.knowledge.communities import Partition, Weights, levels, modularity, weighted
from ramify.tools.knowledge.elements import Graph, Relation
from ramify.tools.knowledge.graph_file import GRAPH, GraphFile
from ramify.tools.knowledge.reports import Report
from ramify.tools.knowledge.rule_builder import by_first_word, spans_of

_UNREAD = "unread "
"""What the facts of units that could not be read begin with."""


class LevelSize(NamedTuple):
    """A level of communities: how many, the tokens of their reports, these as a share of the source text's, and their modularity Q."""

    number: int
    communities: int
    tokens: int
    share: float
    modularity: float


PAPER_SHARES = {0: "under 3 %", 3: "67–74 %"}
"""Tokens of a level's reports as a share of the source text's, which the paper gives as savings: over 97 %, 26–33 %."""
PAPER_CORPORA = (("podcasts", "~1 million", "1,669", "8,564", "20,691"), ("news", "~1.7 million", "3,197", "15,754", "19,520"))
"""The paper's corpora: tokens, units, names and connections."""


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


_LONGEST_NAME = 8
"""Words of a name that is looked for in a question."""
_LEAST_MUTED = 10
"""Passages that may have a name in any corpus before it is muted."""
_LEAST_COSINE = 0.01
_DEPTH = 100
_MOST_NAMES = 5000
"""Names from which mass moves on at once, those with the most."""
Numbers = NDArray[np.int64]
Mass = dict[int, float]
Cosines = Callable[[Sequence[int]], Matrix]


class WalkSearch(BaseModel):
    """How to search along the graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seeds: int = Field(default=2, ge=0, le=20, description="Nearest passages whose names the walk starts from, beside the question's own.")
    hops: int = Field(default=1, ge=1, le=4, description="Relations that the walk follows one after another.")
    damping: float = Field(default=0.5, ge=0, le=1, description="Share of the mass that moves on along each relation.")
    relations: float = Field(
        default=0.75, ge=0, description="Weight of passages that stand under a name the relations lead to; 0 follows no relation."
    )
    titles: float = Field(default=1.0, ge=0, description="Weight of passages under a name of the start, beside 1 for the plain ranking.")
    mentions: float = Field(default=0.25, ge=0, description="Weight of passages that mention a name.")
    muted: float = Field(default=0.01, gt=0, le=1, description="A name in more than this share of the passages leads nowhere.")
    under: int = Field(default=2, ge=1, description="A name that more passages than this stand under leads to none of them.")
    rrf_k: int = Field(default=10, ge=0, description="Constant of the reciprocal ranks.")


class _Lists:
    """Numbers by number, one after another in an array: pairs of shape (pairs, 2), in order."""

    def __init__(self, pairs: Numbers, size: int) -> None:
        self._order: Numbers = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self._values: Numbers = pairs[self._order, 1]
        self._starts = np.searchsorted(pairs[self._order, 0], np.arange(size + 1))

    def of(self, number: int) -> Numbers:
        return self._values[self._starts[number] : self._starts[number + 1]]

    def places(self, number: int) -> Numbers:
        """Return which of the pairs they are."""
        return self._order[self._starts[number] : self._starts[number + 1]]

    def sizes(self) -> Numbers:
        return np.diff(self._starts)


class Walk:
    """The graph of a finished index as it is walked along; immutable, so any thread may."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        """Read the graph; ids: those of the passages, in order of their positions. A passage the graph does not know has no names."""
        with closing(connected(path)) as database:
            position = {id: place for place, id in enumerate(ids)}
            known = [position.get(id, -1) for (id,) in database.execute("SELECT id FROM passages ORDER BY number")]
            place_of = np.array(known, dtype=np.int64)
            self._number_of: Mapping[str, int] = dict(database.execute("SELECT key, number FROM names"))
            mentions, titles = (_pairs(database, table, place_of) for table in ("mentions", "titles"))
            edges = np.array(database.execute("SELECT source, target, count FROM edges").fetchall(), dtype=np.int64).reshape(-1, 3)
        names = len(self._number_of)
        self._titled, self._mentioned = _Lists(titles, names), _Lists(mentions, names)
        # What a passage mentions and stands under itself leads nowhere, unless another document has the same title.
        documents: dict[int, set[str]] = defaultdict(set)
        for name, passage in titles.tolist():
            documents[name].add(document_of(ids[passage]))
        own = {(name, passage) for name, passage in titles.tolist() if len(documents[name]) == 1}
        leading = [(passage, name) for name, passage in mentions.tolist() if (name, passage) not in own]
        self._named = _Lists(np.array(leading, dtype=np.int64).reshape(-1, 2), len(ids))
        self._related = _Lists(np.concatenate((edges[:, :2], edges[:, 1::-1])), names)
        self._weights = np.concatenate((edges[:, 2], edges[:, 2])).astype(np.float64)
        self._spread, self._entitled = self._mentioned.sizes(), self._titled.sizes()
        self._passages = max(1, len(ids))

    def rerank(self, query: str, vector: Matrix, found: Mapping[int, float], vectors: Cosines, how: WalkSearch) -> list[int]:
        """Fuse the plain ranking of a query with those along the graph; the nearest passages, where the walk starts, stay in front."""
        order = list(found)

        def cosines(positions: Sequence[int]) -> Matrix:
            return vectors(positions) @ vector

        start = self._start(query, cosines, order, how)
        reached = self._reached(start, how) if how.relations else {}
        under, beyond = (self._under(names, how) for names in (start, reached))
        if not (under or beyond):  # where nothing stands under a name, a name in common tells less than what is found by words and vectors
            return order
        with_name = _passages_of(_added(start, reached, 1.0), self._mentioned)
        weighted = ((how.titles, under), (how.relations, beyond), (how.mentions, with_name))
        rankings = ((1.0, order), *((weight, _ranked(mass, cosines)) for weight, mass in weighted))
        return list(dict.fromkeys((*order[: how.seeds], *_fused(rankings, how.rrf_k))))

    def _start(self, query: str, cosines: Cosines, order: Sequence[int], how: WalkSearch) -> Mass:
        """Give half of the mass to the names of the question, half to those of the nearest passages."""
        words = fold(query).split()
        spans = {" ".join(words[i : i + n]) for n in range(1, _LONGEST_NAME + 1) for i in range(len(words) - n + 1)}
        known = by_first_word(span for span in spans if span in self._number_of)
        own = dict.fromkeys(self._number_of[key] for key in spans_of(" ".join(words), known))
        mass = self._shares(np.array(list(own), dtype=np.int64), how)
        seeds = _weighed(dict.fromkeys(order[: how.seeds], 1.0), cosines)
        for position, weight in seeds.items():
            mass = _added(mass, self._shares(self._named.of(position), how), weight / sum(seeds.values()))
        return mass

    def _reached(self, start: Mass, how: WalkSearch) -> Mass:
        """Move mass from names along their relations, as often as there are hops; return what arrives at each hop, summed."""
        reached: Mass = {}
        step = start
        for _ in range(how.hops):
            moved: Mass = defaultdict(float)
            for name in sorted(step, key=lambda name: (-step[name], name))[:_MOST_NAMES]:
                weights = self._weights[self._related.places(name)]
                for other, share in self._shares(self._related.of(name), how, weights).items():
                    moved[other] += how.damping * step[name] * share
            step = moved
            reached = _added(reached, step, 1.0)
        return reached

    def _shares(self, names: Numbers, how: WalkSearch, weights: NDArray[np.float64] | float = 1.0) -> Mass:
        """Share mass among names by how rare each is, and by weight; one that is in too many passages leads nowhere."""
        spread = np.maximum(self._spread[names], 1)
        muted = spread > max(_LEAST_MUTED, how.muted * self._passages)
        shares = np.where(muted, 0.0, np.log(self._passages / spread)) * weights
        total = shares.sum() or 1.0
        return {int(name): float(share / total) for name, share in zip(names, shares, strict=True) if share > 0}

    def _under(self, names: Mass, how: WalkSearch) -> Mass:
        return _passages_of({name: mass for name, mass in names.items() if self._entitled[name] <= how.under}, self._titled)


class GraphIndex(LocalIndex[WalkSearch]):
    """An index of kind `graph`, searched along it; its communities and their reports are for questions about everything."""

    kind_name, settings_class = "a graph", WalkSearch

    def load_structure(self, ids: Sequence[str]) -> Walk:
        """Read the graph, for passages at these positions."""
        return Walk(self.folder / GRAPH, ids)

    @cached_property
    def reports(self) -> GraphFile:
        """Return the communities and their reports."""
        return GraphFile(self.folder / GRAPH)


def _pairs(database: sqlite3.Connection, table: str, place_of: Numbers) -> Numbers:
    """Read names and the positions of their passages."""
    found = np.array(database.execute(f"SELECT name, passage FROM {table}").fetchall(), dtype=np.int64).reshape(-1, 2)
    if len(found):
        found[:, 1] = place_of[found[:, 1]]
    return found[found[:, 1] >= 0]


def _passages_of(names: Mass, lists: _Lists) -> Mass:
    """Share the mass of each name among its passages."""
    found: Mass = defaultdict(float)
    for name, mass in sorted(names.items()):
        passages = lists.of(name).tolist()
        for position in passages:
            found[position] += mass / len(passages)
    return found


def _added(one: Mass, other: Mapping[int, float], weight: float) -> Mass:
    total: Mass = defaultdict(float, one)
    for key, value in other.items():
        total[key] += weight * value
    return total


def _weighed(mass: Mass, cosines: Cosines) -> Mass:
    positions = list(mass)
    near = cosines(positions) if positions else ()
    return {position: mass[position] * max(float(cosine), _LEAST_COSINE) for position, cosine in zip(positions, near, strict=True)}


def _ranked(mass: Mass, cosines: Cosines) -> list[int]:
    weighed = _weighed(mass, cosines)
    return sorted(weighed, key=lambda position: (-weighed[position], position))[:_DEPTH]


def _fused(rankings: Iterable[tuple[float, Sequence[int]]], k: int) -> list[int]:
    """Fuse rankings by weighted reciprocal rank; ties go to the earlier position in the first ranking that has it."""
    scores: Mass = defaultdict(float)
    for weight, ranking in rankings:
        for rank, position in enumerate(ranking):
            scores[position] += weight / (k + rank + 1)
    return sorted((position for position in scores if scores[position]), key=lambda position: -scores[position])
