"""Clustering of vectors: planted clusters are found, and degenerate input is handled."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from ramify.kinds.hierarchy import _clustering as clustering
from ramify.kinds.hierarchy._clustering import bisect_vectors, cluster, cluster_constrained, merge_by_bic, separate_conflicts, split_by_bic
from ramify.tools.embeddings.encoder import unit_rows
from ramify.tools.errors import UsageError

DIMENSION = 32


def planted(clusters: int, each: int, spread: float = 0.15, seed: int = 3) -> NDArray[np.float32]:
    """Draw vectors about some centres, one cluster after another."""
    draw = np.random.default_rng(seed)
    centres = unit_rows(draw.normal(size=(clusters, DIMENSION)).astype(np.float32), DIMENSION)
    points = np.repeat(centres, each, axis=0) + spread * draw.normal(size=(clusters * each, DIMENSION)).astype(np.float32) / DIMENSION**0.5
    return unit_rows(points, DIMENSION)


def test_planted_clusters_are_found() -> None:
    clusters = cluster(planted(8, 40)).clusters
    assert clusters == [list(range(40 * number, 40 * (number + 1))) for number in range(8)]


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
    clusters = cluster(twice).clusters
    assert clusters == [sorted({*own, *(place + 80 for place in own)}) for own in cluster(vectors).clusters]


def test_no_singleton_clusters_for_unclustered_points() -> None:
    assert len(cluster(planted(60, 1)).clusters) <= 20


def test_the_same_vectors_give_the_same_clusters() -> None:
    vectors = planted(5, 30, 0.6)
    assert cluster(vectors, 7) == cluster(vectors, 7)


def test_without_convergence_k_means_is_used_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    monkeypatch.setattr(GaussianMixture, "fit", lambda self, points: warnings.warn("no", ConvergenceWarning, stacklevel=1))
    mixture = cluster(planted(3, 20))
    assert mixture.note == "no mixture converged: clustered by k-means"
    assert {place for own in mixture.clusters for place in own} == set(range(60))


def test_what_must_stay_together_does() -> None:
    must = [[0, 59], *([place] for place in range(1, 59))]
    clusters = cluster_constrained(planted(4, 15), must, [()] * 60).clusters
    assert any({0, 59} <= set(own) for own in clusters)
    assert {place for own in clusters for place in own} == set(range(60))


def test_what_cannot_be_together_is_not_and_what_says_nothing_goes_with_the_most() -> None:
    values = [("loom",), ("kiln",), ("loom",), ()]
    known = [(frozenset(values[place % 4]),) for place in range(60)]
    clusters = cluster_constrained(planted(2, 30), [[place] for place in range(60)], known).clusters
    assert len(clusters) == 4, "two clusters, each in two parts"
    for own in clusters:
        assert len({known[place] for place in own if any(known[place])}) == 1
    assert max(len(own) for own in clusters) >= 2 * min(len(own) for own in clusters)
    assert separate_conflicts(
        [[0], [1], [2]], [(frozenset({"a"}), frozenset()), (frozenset(), frozenset({"b"})), (frozenset({"c"}), frozenset())]
    ) == [
        [0, 1],
        [2],
    ], "a field that only one of them has tells nothing apart"


def test_two_planted_clusters_are_split_and_one_is_not() -> None:
    assert split_by_bic(planted(2, 20)) == [list(range(20)), list(range(20, 40))]
    assert split_by_bic(planted(1, 40)) == [list(range(40))]


def test_parts_of_one_planted_cluster_are_merged_and_other_clusters_are_not() -> None:
    parts = [[*range(12)], [*range(12, 30)], [*range(30, 60)]]
    assert merge_by_bic(planted(2, 30), parts) == [[0, 1], [2]]
    assert merge_by_bic(planted(2, 30), parts, may_merge=lambda pair, union: len(union) < 30) == [[0], [1], [2]]


def test_too_many_vectors_are_cut_beforehand() -> None:
    parts = bisect_vectors(planted(3, 40), 50, 0)
    assert sorted(place for own in parts for place in own) == list(range(120))
    assert max(map(len, parts)) <= 50
    assert [len(own) for own in bisect_vectors(np.tile(planted(1, 1), (10, 1)), 4, 0)] <= [4] * 10, "also where k-means cannot cut"


def test_umap_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(UsageError, match=r"reduction=umap needs umap-learn.*pip install 'ramify-rag\[umap\]'"):
        cluster(planted(4, 10), reduction="umap")
    assert clustering.reduce_dimensions(planted(4, 10), 0, "pca").shape == (40, 7)
