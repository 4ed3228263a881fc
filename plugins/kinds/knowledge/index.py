"""The graph of an index for search and display: names, edges, and communities by level."""

import sqlite3
import unicodedata
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

from ramify.kinds.knowledge.communities import Partition, Weights, community_levels, edge_weights, modularity
from ramify.kinds.knowledge.elements import Graph, Relation
from ramify.kinds.knowledge.graph_file import GRAPH, GraphFile
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.index import Index
from ramify.tools.index.folder import index_file
from ramify.tools.index.index import LocalIndex, count_tokens
from ramify.tools.index.passage_store import document_id, open_readonly
from ramify.tools.index.reports import Report
from ramify.tools.names import names_in, searchable

_UNREAD_PREFIX = "unread "
"""Prefix of the facts that record units that could not be read."""


class LevelSize(NamedTuple):
    """A level of communities: number of communities, tokens of their reports, these as a share of the source text, and modularity Q."""

    number: int
    communities: int
    tokens: int
    share: float
    modularity: float


PAPER_SHARES = {0: "under 3 %", 3: "67–74 %"}
"""Tokens of a level's reports as a share of the source text; the paper gives the savings: over 97 %, 26–33 %."""
PAPER_CORPORA = (("podcasts", "~1 million", "1,669", "8,564", "20,691"), ("news", "~1.7 million", "3,197", "15,754", "19,520"))
"""The paper's corpora: name, tokens, units, names, edges."""


@dataclass(frozen=True)
class GraphView:
    """The graph of an index with its communities and reports, for display."""

    graph: Graph
    partition: Partition
    reports: Mapping[str, Report]
    facts: Mapping[str, str]
    levels: tuple[LevelSize, ...]
    tokens: int
    """Tokens of all passages read for the graph."""

    @property
    def root(self) -> list[str]:
        """Return the ids of the communities of level 0, the largest first."""
        return sorted((id for id, community in self.partition.items() if community.parent is None), key=lambda id: -self.size(id))

    @cached_property
    def sub_communities(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of the sub-communities of each community that has any."""
        children: dict[str, list[str]] = defaultdict(list)
        for id, community in self.partition.items():
            if community.parent is not None:
                children[community.parent].append(id)
        return children

    def size(self, id: str) -> int:
        """Return the number of names in a community."""
        return len(self.partition[id].members)

    def members(self, id: str) -> list[str]:
        """Return the names of a community, the most connected first."""
        names = [self.graph.names[key] for key in self.partition[id].members]
        return [name.name for name in sorted(names, key=lambda name: (-name.degree, name.name))]

    @property
    def unread(self) -> dict[str, str]:
        """Return the reason for each unit that could not be read, by the id of its first passage."""
        return {name.removeprefix(_UNREAD_PREFIX): why for name, why in self.facts.items() if name.startswith(_UNREAD_PREFIX)}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return the counts of the graph; unconnected names belong to no community, replaced reports are quotations."""
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


def graph_view(index: Index, content: GraphFile) -> GraphView:
    """Return the view of an index's graph."""
    graph, partition, facts = content.graph(), content.partition(), content.facts
    tokens = count_tokens(index, sorted(content.passages()))
    relations = {pair: Relation(connection.times) for pair, connection in graph.edges.items()}
    weights: Weights = "pmi" if facts.get("weights") == "pmi" else "count"
    edges = edge_weights(relations, weights)
    groups = [[partition[id].members for id in ids] for ids in community_levels(partition)]
    sizes = [
        LevelSize(level.number, level.communities, level.tokens, level.tokens / max(1, tokens), modularity(edges, group))
        for level, group in zip(content.levels, groups, strict=True)
    ]
    return GraphView(graph, partition, content.all_reports(), facts, tuple(sizes), tokens)


_MAX_NAME_WORDS = 8
"""Words of the longest name matched in a question."""
_MIN_MUTED_PASSAGES = 10
"""A name in no more passages than this is never muted."""
_MIN_COSINE = 0.01
_RANKING_DEPTH = 100
_MAX_ACTIVE_NAMES = 5000
"""Names that pass mass on at each hop, those with the most mass."""
Numbers = NDArray[np.int64]
Mass = dict[int, float]
Cosines = Callable[[Sequence[int]], Matrix]


class WalkSearch(BaseModel):
    """Options of the graph search: a walk from the names of the question and of the nearest passages along relations."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seeds: int = Field(default=2, ge=0, le=20, description="Nearest passages whose names start the walk, with those in the question.")
    hops: int = Field(default=1, ge=1, le=4, description="Number of relations the walk follows in sequence.")
    damping: float = Field(default=0.5, ge=0, le=1, description="Share of a name's mass passed on at each hop, from 0 to 1.")
    relations: float = Field(
        default=0.75, ge=0, description="Weight of passages titled with a name reached by the walk; 0 follows no relations."
    )
    titles: float = Field(default=1.0, ge=0, description="Weight of passages titled with a start name; the plain ranking has weight 1.")
    mentions: float = Field(default=0.25, ge=0, description="Weight of passages that mention a start name or a reached name.")
    muted: float = Field(default=0.01, gt=0, le=1, description="A name in more than this share of the passages is ignored by the walk.")
    under: int = Field(default=2, ge=1, description="A name that is the title of more passages than this does not lead to them.")
    rrf_k: int = Field(default=10, ge=0, description="Constant k of reciprocal rank fusion, 1 / (k + rank).")


class _Adjacency:
    """Adjacency lists in compressed sparse form, built from pairs (source, target) of shape (pairs, 2)."""

    def __init__(self, pairs: Numbers, size: int) -> None:
        self._order: Numbers = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self._values: Numbers = pairs[self._order, 1]
        self._starts = np.searchsorted(pairs[self._order, 0], np.arange(size + 1))

    def values_of(self, number: int) -> Numbers:
        return self._values[self._starts[number] : self._starts[number + 1]]

    def pair_indices(self, number: int) -> Numbers:
        """Return the indices of a number's pairs."""
        return self._order[self._starts[number] : self._starts[number + 1]]

    def sizes(self) -> Numbers:
        return np.diff(self._starts)


class Walk:
    """The graph of a finished index for search; immutable, so thread-safe."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        """Read the graph; ids: the passage ids by position. Passages added after the graph was built have no names."""
        with closing(open_readonly(path)) as database:
            position = {id: place for place, id in enumerate(ids)}
            known = [position.get(id, -1) for (id,) in database.execute("SELECT id FROM passages ORDER BY number")]
            place_of = np.array(known, dtype=np.int64)
            rows = database.execute("SELECT key, number FROM names")
            self._number_of: Mapping[str, int] = {unicodedata.normalize("NFC", key): number for key, number in rows}
            mentions, titles = (_pairs(database, table, place_of) for table in ("mentions", "titles"))
            edges = np.array(database.execute("SELECT source, target, count FROM edges").fetchall(), dtype=np.int64).reshape(-1, 3)
        names = len(self._number_of)
        self._passages_titled, self._passages_mentioning = _Adjacency(titles, names), _Adjacency(mentions, names)
        # A passage's own title is no start name for it, unless another document has the same title.
        documents: dict[int, set[str]] = defaultdict(set)
        for name, passage in titles.tolist():
            documents[name].add(document_id(ids[passage]))
        own = {(name, passage) for name, passage in titles.tolist() if len(documents[name]) == 1}
        leading = [(passage, name) for name, passage in mentions.tolist() if (name, passage) not in own]
        self._names_in_passage = _Adjacency(np.array(leading, dtype=np.int64).reshape(-1, 2), len(ids))
        self._related_names = _Adjacency(np.concatenate((edges[:, :2], edges[:, 1::-1])), names)
        self._relation_weights = np.concatenate((edges[:, 2], edges[:, 2])).astype(np.float64)
        self._mention_counts, self._title_counts = self._passages_mentioning.sizes(), self._passages_titled.sizes()
        self._passages = max(1, len(ids))

    def rerank(self, query: str, vector: Matrix, scores: Mapping[int, float], vectors: Cosines, options: WalkSearch) -> list[int]:
        """Return positions by weighted reciprocal rank fusion of the plain ranking and those of the walk; the seed passages stay first."""
        order = list(scores)

        def cosines(positions: Sequence[int]) -> Matrix:
            return vectors(positions) @ vector

        start = self._start_mass(query, cosines, order, options)
        reached = self._propagate_mass(start, options) if options.relations else {}
        under, beyond = (self._mass_of_titled(names, options) for names in (start, reached))
        if not (under or beyond):  # without titled passages, shared names are a weaker signal than words and vectors
            return order
        with_name = _spread_to_passages(_add_mass(start, reached, 1.0), self._passages_mentioning)
        weighted = ((options.titles, under), (options.relations, beyond), (options.mentions, with_name))
        rankings = ((1.0, order), *((weight, _rank_by_mass(mass, cosines)) for weight, mass in weighted))
        return list(dict.fromkeys((*order[: options.seeds], *_fuse_rankings(rankings, options.rrf_k))))

    def _start_mass(self, query: str, cosines: Cosines, order: Sequence[int], options: WalkSearch) -> Mass:
        """Return the start mass by name: half for the names of the question, half for those of the nearest passages."""
        keys = dict.fromkeys(fold(name) for name in searchable(query).possible_names(_MAX_NAME_WORDS))
        own = dict.fromkeys(self._number_of[key] for key in names_in(query, [key for key in keys if key in self._number_of]))
        mass = self._rarity_shares(np.array(list(own), dtype=np.int64), options)
        seeds = _weight_by_cosine(dict.fromkeys(order[: options.seeds], 1.0), cosines)
        for position, weight in seeds.items():
            mass = _add_mass(mass, self._rarity_shares(self._names_in_passage.values_of(position), options), weight / sum(seeds.values()))
        return mass

    def _propagate_mass(self, start: Mass, options: WalkSearch) -> Mass:
        """Return the mass that reaches each name along relations, summed over the hops."""
        reached: Mass = {}
        step = start
        for _ in range(options.hops):
            moved: Mass = defaultdict(float)
            for name in sorted(step, key=lambda name: (-step[name], name))[:_MAX_ACTIVE_NAMES]:
                weights = self._relation_weights[self._related_names.pair_indices(name)]
                for other, share in self._rarity_shares(self._related_names.values_of(name), options, weights).items():
                    moved[other] += options.damping * step[name] * share
            step = moved
            reached = _add_mass(reached, step, 1.0)
        return reached

    def _rarity_shares(self, names: Numbers, options: WalkSearch, weights: NDArray[np.float64] | float = 1.0) -> Mass:
        """Return shares of names by rarity log(passages / mentions) times weight, summing to 1; muted names get none."""
        mention_counts = np.maximum(self._mention_counts[names], 1)
        muted = mention_counts > max(_MIN_MUTED_PASSAGES, options.muted * self._passages)
        shares = np.where(muted, 0.0, np.log(self._passages / mention_counts)) * weights
        total = shares.sum() or 1.0
        return {int(name): float(share / total) for name, share in zip(names, shares, strict=True) if share > 0}

    def _mass_of_titled(self, names: Mass, options: WalkSearch) -> Mass:
        return _spread_to_passages(
            {name: mass for name, mass in names.items() if self._title_counts[name] <= options.under}, self._passages_titled
        )


class GraphIndex(LocalIndex[WalkSearch]):
    """An index of kind `graph`: searched along relations; its community reports answer questions about the whole corpus."""

    kind_name, settings_class = "a graph", WalkSearch

    def load_structure(self, ids: Sequence[str]) -> Walk:
        """Return the graph for passages at these positions."""
        return Walk(index_file(self.folder, GRAPH), ids)

    @cached_property
    def reports(self) -> GraphFile:
        """Return the communities and their reports."""
        return GraphFile(index_file(self.folder, GRAPH))


def _pairs(database: sqlite3.Connection, table: str, place_of: Numbers) -> Numbers:
    """Return pairs (name, position) of shape (pairs, 2); passages that are no longer searched are left out."""
    pairs = np.array(database.execute(f"SELECT name, passage FROM {table}").fetchall(), dtype=np.int64).reshape(-1, 2)
    if len(pairs):
        pairs[:, 1] = place_of[pairs[:, 1]]
    return pairs[pairs[:, 1] >= 0]


def _spread_to_passages(names: Mass, lists: _Adjacency) -> Mass:
    """Return the mass of passages: each name's mass is divided equally among its passages."""
    spread: Mass = defaultdict(float)
    for name, mass in sorted(names.items()):
        passages = lists.values_of(name).tolist()
        for position in passages:
            spread[position] += mass / len(passages)
    return spread


def _add_mass(one: Mass, other: Mapping[int, float], weight: float) -> Mass:
    total: Mass = defaultdict(float, one)
    for key, value in other.items():
        total[key] += weight * value
    return total


def _weight_by_cosine(mass: Mass, cosines: Cosines) -> Mass:
    positions = list(mass)
    near = cosines(positions) if positions else ()
    return {position: mass[position] * max(float(cosine), _MIN_COSINE) for position, cosine in zip(positions, near, strict=True)}


def _rank_by_mass(mass: Mass, cosines: Cosines) -> list[int]:
    weighed = _weight_by_cosine(mass, cosines)
    return sorted(weighed, key=lambda position: (-weighed[position], position))[:_RANKING_DEPTH]


def _fuse_rankings(rankings: Iterable[tuple[float, Sequence[int]]], k: int) -> list[int]:
    """Return positions by weighted reciprocal rank fusion; ties keep the order in which positions were first met."""
    scores: Mass = defaultdict(float)
    for weight, ranking in rankings:
        for rank, position in enumerate(ranking):
            scores[position] += weight / (k + rank + 1)
    return sorted((position for position in scores if scores[position]), key=lambda position: -scores[position])
