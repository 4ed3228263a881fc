"""Clusters of vectors: those that are there are found, and nothing that is odd about the vectors breaks it."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import unit_rows
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy import clustering
from ramify.tools.hierarchy.clustering import bisected, cluster, fewer

DIMENSION = 32


def planted(clusters: int, each: int, spread: float = 0.15, seed: int = 3) -> NDArray[np.float32]:
    """Draw vectors about some centres, one cluster after another."""
    draw = np.random.default_rng(seed)
    centres = unit_rows(draw.normal(size=(clusters, DIMENSION)).astype(np.float32), DIMENSION)
    points = np.repeat(centres, each, axis=0) + spread * draw.normal(size=(clusters * each, DIMENSION)).astype(np.float32) / DIMENSION**0.5
    return unit_rows(points, DIMENSION)


def test_planted_clusters_are_found() -> None:
    found = cluster(planted(8, 40)).clusters
    assert found == [list(range(40 * number, 40 * (number + 1))) for number in range(8)]


def test_a_vector_between_two_clusters_is_in_both() -> None:
    vectors = planted(2, 60, 0.4)
    between = unit_rows((vectors[:60].mean(axis=0) + vectors[60:].mean(axis=0))[None], DIMENSION)
    apart = cluster(np.vstack([vectors, between])).clusters
    assert {place for own in apart for place in own} == set(range(121))


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_few_vectors_are_one_cluster(count: int) -> None:
    assert cluster(planted(count, 1)).clusters == [list(range(count))]


def test_vectors_that_are_all_the_same_are_one_cluster() -> None:
    assert cluster(np.tile(planted(1, 1), (50, 1))).clusters == [list(range(50))]


def test_the_same_vector_twice_is_in_the_same_clusters() -> None:
    vectors = planted(4, 20)
    twice = np.vstack([vectors, vectors])
    found = cluster(twice).clusters
    assert found == [sorted({*own, *(place + 80 for place in own)}) for own in cluster(vectors).clusters]


def test_no_cluster_of_one_each_where_nothing_clusters() -> None:
    assert len(cluster(planted(60, 1)).clusters) <= 20


def test_the_same_vectors_give_the_same_clusters() -> None:
    vectors = planted(5, 30, 0.6)
    assert cluster(vectors, 7) == cluster(vectors, 7)


def test_where_no_mixture_converges_k_means_does_it_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    monkeypatch.setattr(GaussianMixture, "fit", lambda self, points: warnings.warn("no", ConvergenceWarning, stacklevel=1))
    found = cluster(planted(3, 20))
    assert found.note == "no mixture converged: clustered by k-means"
    assert {place for own in found.clusters for place in own} == set(range(60))


def test_what_must_stay_together_does() -> None:
    vectors = planted(4, 15)
    chains = [[0, 59], *([place] for place in range(1, 59))]
    assert any({0, 59} <= set(own) for own in fewer(vectors, chains, 0).clusters)


def test_too_many_vectors_are_cut_beforehand() -> None:
    parts = bisected(planted(3, 40), 50, 0)
    assert sorted(place for own in parts for place in own) == list(range(120))
    assert max(map(len, parts)) <= 50
    assert [len(own) for own in bisected(np.tile(planted(1, 1), (10, 1)), 4, 0)] <= [4] * 10, "also where k-means cannot cut"


def test_umap_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(UsageError, match=r"reduction=umap needs umap-learn.*pip install 'ramify-rag\[umap\]'"):
        cluster(planted(4, 10), reduction="umap")
    assert clustering.reduce(planted(4, 10), 0, "pca").shape == (40, 7)
