"""Route a question to groups and rank their leaves (a mixture of experts, meta-guided RAG §3).

p(g | q) ∝ exp(beta · sim(g) + alpha · match(g)): sim(g) is the value of the group's best leaf, and match(g) the number of its metadata
values that the question names. own(leaf) is its value in the plain search, its best summary and its heading. Two formulas:

values: own(leaf) · (fallback + (1 - fallback) · sum over its groups of w(leaf, g) · p(g | q)), p as a share of the best group's, and sim
as a share of the best one's;
rrf: sum over the three likeliest groups of p(g | q) · w(leaf, g) / (60 + rank of the leaf in g) + fallback / (60 + rank in the plain
search), p summing to 1, and sim in standard deviations above the mean of all groups.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from ramify.kinds.hierarchy.hierarchy_file import read_hierarchy_file
from ramify.kinds.hierarchy.leaves import EdgeKind
from ramify.kinds.hierarchy.partition import spell_values
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.languages import CJK, detect_language
from ramify.tools.names import names_in

_MAX_ADDED_LEAVES = 100
"""Maximum number of leaves added from groups named in the question and from the nearest summaries."""
_NEAREST_SUMMARIES = 10
"""Nearest summaries whose leaves are added."""
_MIN_VALUE_CHARS, _MIN_CJK_VALUE_CHARS = 3, 2
"""Values of fewer characters are not matched in a question; Chinese, Japanese and Korean names are shorter."""
_MAX_FUSED_GROUPS, _RRF_K = 3, 60
"""Number of groups whose rankings are fused, and the constant of reciprocal rank fusion, in formula rrf."""
COUNTED_EDGE_KINDS: Mapping[str, frozenset[EdgeKind]] = {
    "primary": frozenset({"primary"}),
    "soft": frozenset({"primary", "soft", "novel", "escape"}),
    "all": frozenset({"primary", "soft", "escape", "founded", "pool", "moved"}),
}
Values = NDArray[np.float64]
VectorLookup = Callable[[Sequence[int]], Matrix]


class RouteSearch(BaseModel):
    """Options for routing a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    formula: Literal["values", "rrf"] = Field(
        default="values", description="Ranking formula: by values, or by weighted reciprocal rank fusion."
    )
    beta: float = Field(default=0.7, ge=0, description="Weight of the similarity of a group's best passage.")
    alpha: float = Field(default=0.5, ge=0, description="Weight of each metadata value of a group that occurs in the question.")
    fallback: float = Field(
        default=0.2, ge=0, le=1, description="Share of a passage's value independent of its groups, from 0 to 1; 1 disables routing."
    )
    summaries: float = Field(
        default=0.1, ge=0, description="Weight of the best summary above a passage; the passage has weight 1; 0 ignores the trees."
    )
    headings: float = Field(default=0.1, ge=0, description="Bonus of a passage whose heading or title occurs in the question.")
    members: Literal["primary", "soft", "all"] = Field(
        default="all", description="Memberships used: primary (metadata only), soft (also soft ones), all (after novelty and repair)."
    )


class Router:
    """The groups and trees of a finished index for search; immutable, so thread-safe."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        """Read the hierarchy; ids: the passage ids by position. Passages added after it was built are not penalized."""
        content = read_hierarchy_file(path)
        position = {id: place for place, id in enumerate(ids)}
        place_of = np.array([position.get(id, -1) for id in content.ids], dtype=np.int64)
        self._known_positions = frozenset(place_of.tolist())
        self._groups = content.groups
        edges_in_index = [(int(place_of[edge.leaf]), edge) for edge in content.edges if place_of[edge.leaf] >= 0]
        edges = {
            name: [(leaf, edge.group, edge.weight) for leaf, edge in edges_in_index if edge.kind in kinds]
            for name, kinds in COUNTED_EDGE_KINDS.items()
        }
        self._of_leaf = {name: _group_edges(own, 0) for name, own in edges.items()}
        self._of_group = {name: _group_edges(own, 1) for name, own in edges.items()}
        self._heading = [""] * len(ids)
        for place, title in zip(place_of.tolist(), content.titles, strict=True):
            if place >= 0:
                self._heading[place] = title
        nodes = [node for _, tree in sorted(content.trees.items()) for node in tree]
        self._summaries: Matrix = np.array([node.vector for node in nodes], dtype=np.float32)
        self._below = [place_of[list(node.leaves)] for node in nodes]
        self._above: list[list[int]] = [[] for _ in ids]
        for number, leaves in enumerate(self._below):
            for place in leaves.tolist():
                if place >= 0:
                    self._above[place].append(number)
        self._values = [
            {
                group.key[field]: spelling
                for group in content.groups
                if len(group.key) > field and len(spelling := spell_values(group)[field]) >= min_name_chars(spelling)
            }
            for field in range(len(content.fields))
        ]

    def rerank(self, query: str, vector: Matrix, scores: Mapping[int, float], vectors: VectorLookup, options: RouteSearch) -> list[int]:
        """Return the positions of found and added passages, the best first; scores: values of the plain search from 0 to 1, by position."""
        if not scores:
            return []
        named = [names_in(query, values) for values in self._values]
        match = np.array([float(sum(key in own for key, own in zip(group.key, named, strict=False))) for group in self._groups])
        similarities = self._summaries @ vector if len(self._summaries) else np.empty(0, dtype=np.float32)
        places = self._candidates(scores, match, similarities, vector, vectors, options)
        own = self._leaf_values(places, query, scores, similarities, vectors(places) @ vector, options)
        best = np.zeros(len(self._groups))
        for place, value in zip(places, own, strict=True):
            for _, group, weight in self._of_leaf[options.members].get(place, ()):
                best[group] = max(best[group], weight * value)
        if options.formula == "rrf" and len(best):
            values = self._fuse_by_rank(
                places,
                own,
                list(scores),
                options.beta * (best - best.mean()) / max(float(best.std()), 1e-9) + options.alpha * match,
                options,
            )
        else:
            shares = self._group_shares(
                places, options.beta * best / max(float(best.max(initial=0.0)), 1e-9) + options.alpha * match, options
            )
            values = own * (options.fallback + (1 - options.fallback) * shares)
        order = np.lexsort((np.arange(len(places)), -values))
        return [places[index] for index in order.tolist() if values[index] > 0]

    def _candidates(
        self, scores: Mapping[int, float], match: Values, similarities: Matrix, vector: Matrix, vectors: VectorLookup, options: RouteSearch
    ) -> list[int]:
        """Return the found positions, with the nearest leaves of the best-matching groups and of the nearest summaries."""
        groups = np.flatnonzero(match == match.max()).tolist() if len(match) and match.max() > 0 else []
        more = [place for group in groups for place, _, _ in self._of_group[options.members].get(group, ())]
        if options.summaries:
            more += [
                place
                for node in np.argsort(-similarities, kind="stable")[:_NEAREST_SUMMARIES].tolist()
                for place in self._below[node].tolist()
            ]
        new = [place for place in dict.fromkeys(more) if place >= 0 and place not in scores]
        if len(new) > _MAX_ADDED_LEAVES:
            cosines = vectors(new) @ vector
            new = [new[index] for index in np.argsort(-cosines, kind="stable")[:_MAX_ADDED_LEAVES].tolist()]
        return [*scores, *new]

    def _leaf_values(
        self, places: Sequence[int], question: str, scores: Mapping[int, float], similarities: Matrix, cosines: Matrix, options: RouteSearch
    ) -> Values:
        """Return the value of each leaf by itself, shape (places,): from the search, its best summary, and its heading."""
        best = max(float(cosines.max()), 1e-9)
        values = np.array([scores.get(place, max(float(cosine), 0.0) / best / 2) for place, cosine in zip(places, cosines, strict=True)])
        if options.summaries and len(similarities):
            highest = max(float(similarities.max()), 1e-9)
            above = [max((float(similarities[node]) for node in self._above[place]), default=0.0) / highest for place in places]
            values = (values + options.summaries * np.maximum(above, 0)) / (1 + options.summaries)
        if options.headings:
            headings = dict.fromkeys(self._heading[place] for place in places)
            named = names_in(question, [heading for heading in headings if len(heading) >= min_name_chars(heading)])
            values = values * np.exp(options.headings * np.array([self._heading[place] in named for place in places]))
        return np.asarray(values, dtype=np.float64)

    def _group_shares(self, places: Sequence[int], scores: Values, options: RouteSearch) -> Values:
        """Return the weighted likelihood of each leaf's groups relative to the best group, from 0 to 1, shape (places,)."""
        edges, likely = self._of_leaf[options.members], np.exp(scores - scores.max(initial=0.0))
        shares = [sum(weight * likely[group] for _, group, weight in edges.get(place, ())) for place in places]
        return np.array([min(1.0, share) if place in self._known_positions else 1.0 for place, share in zip(places, shares, strict=True)])

    def _fuse_by_rank(self, places: Sequence[int], own: Values, flat: Sequence[int], scores: Values, options: RouteSearch) -> Values:
        """Return fused scores of the likeliest groups' rankings and the plain one (weighted reciprocal rank fusion), shape (places,)."""
        value_of = dict(zip(places, own.tolist(), strict=True))
        fused = dict.fromkeys(places, 0.0)
        for rank, place in enumerate(flat, 1):
            fused[place] += (options.fallback if place in self._known_positions else 1.0) / (_RRF_K + rank)
        likeliest = np.argsort(-scores, kind="stable")[:_MAX_FUSED_GROUPS]
        likely = np.exp(scores[likeliest] - scores[likeliest].max(initial=0.0))
        for group, share in zip(likeliest.tolist(), (likely / likely.sum()).tolist(), strict=True):
            weights = {place: weight for place, _, weight in self._of_group[options.members].get(group, ()) if place in value_of}
            for rank, place in enumerate(sorted(weights, key=lambda place: (-value_of[place], place)), 1):
                fused[place] += share * weights[place] / (_RRF_K + rank)
        return np.array([fused[place] for place in places])


def min_name_chars(name: str) -> int:
    """Return how many characters a value needs to be matched in a question: two in Chinese, Japanese and Korean, otherwise three."""
    return _MIN_VALUE_CHARS if name.isascii() or detect_language(name) not in CJK else _MIN_CJK_VALUE_CHARS


def _group_edges(edges: Sequence[tuple[int, int, float]], column: Literal[0, 1]) -> dict[int, list[tuple[int, int, float]]]:
    grouped: dict[int, list[tuple[int, int, float]]] = {}
    for edge in edges:
        grouped.setdefault(edge[column], []).append(edge)
    return grouped
