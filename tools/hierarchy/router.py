"""Route a question: which groups answer it, and in what order their leaves do (a mixture of experts, meta-guided RAG §3).

p(g | q) ∝ exp(beta · sim(g) + alpha · match(g)): sim(g) is the value of the group's best leaf, and match(g) the number of its metadata
values that the question names. own(leaf) is what the plain search gives a leaf, with its best summary and its heading. Two formulas:

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

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.hierarchy.hierarchy_file import read_content
from ramify.tools.hierarchy.leaves import EdgeKind

_NAMED = 100
"""Leaves of the groups that a question names, and of the summaries nearest to it, that come in beside what was found."""
_SUMMARIES = 10
"""Summaries whose leaves come in."""
_LETTERS = 3
"""A value of fewer letters is not looked for in a question."""
_GROUPS, _RANK = 3, 60
"""Groups whose rankings are fused, and what is added to each rank, in formula rrf."""
COUNTED: Mapping[str, frozenset[EdgeKind]] = {
    "primary": frozenset({"primary"}),
    "soft": frozenset({"primary", "soft", "novel", "escape"}),
    "all": frozenset({"primary", "soft", "escape", "founded", "pool", "moved"}),
}
Values = NDArray[np.float64]
Vectors = Callable[[Sequence[int]], Matrix]


class RouteSearch(BaseModel):
    """How a question is routed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    formula: Literal["values", "rrf"] = Field(
        default="values", description="How groups and passages are weighed: by values, or by fusing ranks (weighted RRF)."
    )
    beta: float = Field(default=0.7, ge=0, description="Weight of how well a group's best passage matches.")
    alpha: float = Field(default=0.5, ge=0, description="Weight of each value of a group's metadata that the question names.")
    fallback: float = Field(default=0.2, ge=0, le=1, description="What a passage counts whatever its groups; 1: no routing at all.")
    summaries: float = Field(default=0.1, ge=0, description="Weight of the best summary above a passage, beside 1 for itself; 0: no trees.")
    headings: float = Field(default=0.1, ge=0, description="What a passage gains whose heading, or title, the question names.")
    members: Literal["primary", "soft", "all"] = Field(
        default="all", description="Memberships that count: by metadata alone; also soft ones; all, after novelty and repair."
    )


class Router:
    """The groups and trees of a finished index; immutable, so any thread may ask."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        """Read them; ids: those of the passages, in order of their positions. One that came in later loses nothing by being in no group."""
        content = read_content(path)
        position = {id: place for place, id in enumerate(ids)}
        place_of = np.array([position.get(id, -1) for id in content.ids], dtype=np.int64)
        self._known = frozenset(place_of.tolist())
        self._groups = content.groups
        there = [(int(place_of[edge.leaf]), edge) for edge in content.edges if place_of[edge.leaf] >= 0]
        edges = {name: [(leaf, one.group, one.weight) for leaf, one in there if one.kind in kinds] for name, kinds in COUNTED.items()}
        self._of_leaf = {name: _by(own, 0) for name, own in edges.items()}
        self._of_group = {name: _by(own, 1) for name, own in edges.items()}
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
            {key: None for group in content.groups if len(group.key) > field and len(key := group.key[field]) >= _LETTERS}
            for field in range(len(content.fields))
        ]

    def rerank(self, query: str, vector: Matrix, found: Mapping[int, float], vectors: Vectors, how: RouteSearch) -> list[int]:
        """Order what the plain search found, and what the groups and summaries bring in; found: values from 0 to 1 by position."""
        if not found:
            return []
        asked = f" {fold(query)} "
        named = [named_in(asked, values) for values in self._values]
        match = np.array([float(sum(key in own for key, own in zip(group.key, named, strict=False))) for group in self._groups])
        near = self._summaries @ vector if len(self._summaries) else np.empty(0, dtype=np.float32)
        places = self._candidates(found, match, near, vector, vectors, how)
        own = self._own(places, asked, found, near, vectors(places) @ vector, how)
        best = np.zeros(len(self._groups))
        for place, value in zip(places, own, strict=True):
            for _, group, weight in self._of_leaf[how.members].get(place, ()):
                best[group] = max(best[group], weight * value)
        if how.formula == "rrf" and len(best):
            values = self._fused(
                places, own, list(found), how.beta * (best - best.mean()) / max(float(best.std()), 1e-9) + how.alpha * match, how
            )
        else:
            shares = self._shares(places, how.beta * best / max(float(best.max(initial=0.0)), 1e-9) + how.alpha * match, how)
            values = own * (how.fallback + (1 - how.fallback) * shares)
        order = np.lexsort((np.arange(len(places)), -values))
        return [places[one] for one in order.tolist() if values[one] > 0]

    def _candidates(
        self, found: Mapping[int, float], match: Values, near: Matrix, vector: Matrix, vectors: Vectors, how: RouteSearch
    ) -> list[int]:
        """Add the nearest leaves of the groups that are named most, and of the nearest summaries."""
        groups = np.flatnonzero(match == match.max()).tolist() if len(match) and match.max() > 0 else []
        more = [place for group in groups for place, _, _ in self._of_group[how.members].get(group, ())]
        if how.summaries:
            more += [place for node in np.argsort(-near, kind="stable")[:_SUMMARIES].tolist() for place in self._below[node].tolist()]
        new = [place for place in dict.fromkeys(more) if place >= 0 and place not in found]
        if len(new) > _NAMED:
            cosines = vectors(new) @ vector
            new = [new[one] for one in np.argsort(-cosines, kind="stable")[:_NAMED].tolist()]
        return [*found, *new]

    def _own(
        self, places: Sequence[int], asked: str, found: Mapping[int, float], near: Matrix, cosines: Matrix, how: RouteSearch
    ) -> Values:
        """Give what each leaf is worth by itself: as it was found, by its best summary, and by its heading."""
        best = max(float(cosines.max()), 1e-9)
        values = np.array([found.get(place, max(float(cosine), 0.0) / best / 2) for place, cosine in zip(places, cosines, strict=True)])
        if how.summaries and len(near):
            highest = max(float(near.max()), 1e-9)
            above = [max((float(near[node]) for node in self._above[place]), default=0.0) / highest for place in places]
            values = (values + how.summaries * np.maximum(above, 0)) / (1 + how.summaries)
        if how.headings:
            named = named_in(asked, {self._heading[place]: None for place in places if len(self._heading[place]) >= _LETTERS})
            values = values * np.exp(how.headings * np.array([self._heading[place] in named for place in places]))
        return np.asarray(values, dtype=np.float64)

    def _shares(self, places: Sequence[int], scores: Values, how: RouteSearch) -> Values:
        """Give the share of each leaf in the likeliness of its groups, of which the best has 1."""
        edges, likely = self._of_leaf[how.members], np.exp(scores - scores.max(initial=0.0))
        shares = [sum(weight * likely[group] for _, group, weight in edges.get(place, ())) for place in places]
        return np.array([min(1.0, share) if place in self._known else 1.0 for place, share in zip(places, shares, strict=True)])

    def _fused(self, places: Sequence[int], own: Values, flat: Sequence[int], scores: Values, how: RouteSearch) -> Values:
        """Fuse the rankings of the likeliest groups with the plain one (weighted reciprocal rank fusion)."""
        value_of = dict(zip(places, own.tolist(), strict=True))
        fused = dict.fromkeys(places, 0.0)
        for rank, place in enumerate(flat, 1):
            fused[place] += (how.fallback if place in self._known else 1.0) / (_RANK + rank)
        likeliest = np.argsort(-scores, kind="stable")[:_GROUPS]
        likely = np.exp(scores[likeliest] - scores[likeliest].max(initial=0.0))
        for group, share in zip(likeliest.tolist(), (likely / likely.sum()).tolist(), strict=True):
            weights = {place: weight for place, _, weight in self._of_group[how.members].get(group, ()) if place in value_of}
            for rank, place in enumerate(sorted(weights, key=lambda place: (-value_of[place], place)), 1):
                fused[place] += share * weights[place] / (_RANK + rank)
        return np.array([fused[place] for place in places])


def named_in(asked: str, values: Mapping[str, None]) -> frozenset[str]:
    """Tell which values a folded question names; one that is part of a longer one that it names does not count."""
    found = [value for value in values if f" {value} " in asked]
    return frozenset(value for value in found if not any(value != other and f" {value} " in f" {other} " for other in found))


def _by(edges: Sequence[tuple[int, int, float]], column: Literal[0, 1]) -> dict[int, list[tuple[int, int, float]]]:
    found: dict[int, list[tuple[int, int, float]]] = {}
    for edge in edges:
        found.setdefault(edge[column], []).append(edge)
    return found
