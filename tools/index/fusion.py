"""Fusion of two rankings, maximal marginal relevance, and not too much from one section."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix

_TINY = 1e-9


class Pick(NamedTuple):
    """A candidate picked: its place among the candidates and the value it was picked by."""

    place: int
    value: float


def fuse(cosines: Matrix, bm25: NDArray[np.float64]) -> list[Pick]:
    """Order candidates by the mean of cosine and BM25, each as a share of its best, which is their value.

    bm25: greater is better, 0 for a candidate that the words did not bring. Ties go to the better BM25, then to the earlier candidate. A
    convex combination of scores finds more than reciprocal ranks do (Bruch, Gai and Ingber 2023, arXiv 2210.11934).
    """
    dense, words = (np.maximum(scores, 0) / max(float(np.max(scores, initial=0.0)), _TINY) for scores in (cosines, bm25))
    return [Pick(int(place), float(dense[place] + words[place]) / 2) for place in np.lexsort((-words, -(dense + words)))]


def spread(sections: Sequence[Hashable | None], limit: int) -> list[int]:
    """Return the places in their order, but those beyond the first few of a section after all others; None is no section."""
    met: Counter[Hashable] = Counter()
    beyond: list[int] = []
    first: list[int] = []
    for place, section in enumerate(sections):
        met[section] += 1
        (beyond if section is not None and met[section] > limit else first).append(place)
    return first + beyond


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
