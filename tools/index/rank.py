"""Reciprocal rank fusion and maximal marginal relevance."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix

_RRF_K = 60


class Pick(NamedTuple):
    """A candidate picked: its place among the candidates and its MMR value."""

    place: int
    value: float


def fuse(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Fuse rankings by the sum of 1 / (60 + rank); ties go to the smaller number."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[int(item)] += 1 / (_RRF_K + rank)
    return sorted(scores, key=lambda item: (-scores[item], item))


def mmr(relevance: Matrix, vectors: Matrix, k: int, weight: float) -> list[Pick]:
    """Pick k candidates one by one, each with the greatest weight * relevance - (1 - weight) * similarity to the nearest already picked.

    relevance: cosine to the query, shape (candidates,); vectors: unit rows, shape (candidates, dimension). Ties go to the earlier
    candidate.
    """
    values = weight * relevance
    nearest = np.full(len(relevance), -np.inf, dtype=np.float32)
    open_places = np.ones(len(relevance), dtype=bool)
    picks: list[Pick] = []
    for _ in range(min(k, len(relevance))):
        current = values - (1 - weight) * nearest if picks else values
        place = int(np.argmax(np.where(open_places, current, -np.inf)))
        picks.append(Pick(place, float(current[place])))
        open_places[place] = False
        nearest = np.maximum(nearest, vectors @ vectors[place])
    return picks
