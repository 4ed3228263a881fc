"""Soft clustering as in RAPTOR (Sarthi et al. 2024, arXiv 2401.18059): reduced vectors, a Gaussian mixture, its size chosen by BIC."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.errors import UsageError

_MAX_DIMENSIONS = 10
_MIN_CLUSTERED = 8
"""Maximum number of vectors that are one cluster: with few points the BIC prefers one component for each."""
_MAX_COMPONENTS = 49
_PATIENCE = 4
"""Consecutive sizes without a better BIC after which the search stops."""
_MIN_MEMBERSHIP = 0.1
"""A vector is in each cluster to which it belongs with more than this probability."""
_MAX_FIT_VECTORS = 2000
"""Maximum number of vectors that a mixture is fitted on; the others are assigned to its clusters."""
_MAX_UMAP_NEIGHBOURS = 100
"""Maximum number of neighbours for UMAP; more need memory without a better result."""

Clusters = list[list[int]]
KnownValues = tuple[frozenset[str], ...]
"""The folded values of each field; an empty set where the field is missing."""
Reduction = Literal["pca", "umap"]


class Mixture(NamedTuple):
    """Clusters of row numbers, and a note on any fallback."""

    clusters: Clusters
    note: str = ""


def cluster(vectors: Matrix, seed: int = 0, reduction: Reduction = "pca") -> Mixture:
    """Cluster unit vectors of shape (n, dimension); equal vectors stay together, and each is in at least one cluster."""
    distinct, first, place_of = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # by first occurrence, not by value
    distinct, place_of = distinct[order], np.argsort(order)[place_of.reshape(-1)]
    if len(distinct) <= _MIN_CLUSTERED:
        return Mixture([list(range(len(vectors)))])
    mixture = _fit_mixture(reduce_dimensions(distinct, seed, reduction), seed, min(_MAX_COMPONENTS, max(2, len(distinct) // 3)))
    together: list[list[int]] = [[] for _ in distinct]
    for place, number in enumerate(place_of.tolist()):
        together[number].append(place)
    return mixture._replace(clusters=sorted(sorted(place for row in own for place in together[row]) for own in mixture.clusters))


def reduce_dimensions(vectors: Matrix, seed: int, reduction: Reduction) -> NDArray[np.float64]:
    """Return vectors reduced to at most 10 dimensions, or the square root of their number, shape (n, dimensions)."""
    dimensions = min(_MAX_DIMENSIONS, int(np.ceil(len(vectors) ** 0.5)), len(vectors) - 2, vectors.shape[1])
    if reduction == "umap":
        return _umap(vectors, dimensions, seed)
    from sklearn.decomposition import PCA

    solver = "covariance_eigh" if len(vectors) > 2 * vectors.shape[1] else "full"
    return np.asarray(PCA(dimensions, svd_solver=solver).fit_transform(vectors.astype(np.float64)), dtype=np.float64)


def _umap(vectors: Matrix, dimensions: int, seed: int) -> NDArray[np.float64]:
    try:
        from umap import UMAP
    except ImportError as error:
        raise UsageError(
            "reduction=umap needs umap-learn, which is not installed", "run `pip install 'ramify-rag[umap]'`, or use reduction=pca"
        ) from error
    neighbours = min(_MAX_UMAP_NEIGHBOURS, max(2, round((len(vectors) - 1) ** 0.5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedded = UMAP(n_neighbors=neighbours, n_components=dimensions, metric="cosine", random_state=seed, n_jobs=1).fit_transform(
            vectors
        )
    return np.asarray(embedded, dtype=np.float64)


def _fit_mixture(points: NDArray[np.float64], seed: int, most: int) -> Mixture:
    """Return the clusters of the mixture with the lowest BIC; of k-means if no mixture converges."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    best, chosen, failed, since = np.inf, None, 0, 0
    sample = points if len(points) <= _MAX_FIT_VECTORS else np.random.default_rng(seed).permutation(points)[:_MAX_FIT_VECTORS]
    for size in range(1, most + 1):
        mixture = GaussianMixture(size, covariance_type="diag", random_state=seed, reg_covar=1e-5, max_iter=200)
        since += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                mixture.fit(sample)
        except (ConvergenceWarning, ValueError):
            failed += 1
        else:
            if (bic := float(mixture.bic(sample))) < best:
                best, chosen, since = bic, mixture, 0
        if since >= _PATIENCE:
            break
    if chosen is None:
        return Mixture(_k_means(points, seed), note="no mixture converged: clustered by k-means")
    shares = chosen.predict_proba(points)
    own = [[int(place) for place in np.flatnonzero(share > _MIN_MEMBERSHIP)] for share in shares.T]
    note = f"{failed} of the mixtures tried did not converge" if failed else ""
    return Mixture([places for places in own if places], note)


def _k_means(points: NDArray[np.float64], seed: int) -> Clusters:
    from sklearn.cluster import KMeans

    size = max(2, round(len(points) ** 0.5 / 2))
    labels = KMeans(size, random_state=seed, n_init=4).fit_predict(points)
    return [own for label in range(size) if (own := [int(place) for place in np.flatnonzero(labels == label)])]


def bisect_vectors(vectors: Matrix, largest: int, seed: int) -> Clusters:
    """Split vectors into parts of at most `largest` by repeated 2-means; in the middle where that does not split."""
    from sklearn.cluster import MiniBatchKMeans

    parts, waiting = [], [list(range(len(vectors)))]
    while waiting:
        own = waiting.pop()
        if len(own) <= largest:
            parts.append(own)
            continue
        labels = MiniBatchKMeans(2, random_state=seed, n_init=3).fit_predict(vectors[own])
        halves = [[place for place, label in zip(own, labels, strict=True) if label == side] for side in (0, 1)]
        waiting += halves if all(halves) else [own[: len(own) // 2], own[len(own) // 2 :]]
    return sorted(parts)


def cluster_constrained(
    vectors: Matrix, must: Sequence[Sequence[int]], known: Sequence[KnownValues], seed: int = 0, reduction: Reduction = "pca"
) -> Mixture:
    """Cluster with must-links and cannot-links: rows of a unit in `must` stay together, rows with conflicting values are separated."""
    means = unit_rows(np.array([vectors[list(unit)].mean(axis=0) for unit in must]), vectors.shape[1])
    mixture = cluster(means, seed, reduction)
    return mixture._replace(clusters=[part for own in mixture.clusters for part in separate_conflicts([must[unit] for unit in own], known)])


def values_conflict(one: KnownValues, other: KnownValues) -> bool:
    """Return whether both have values of some field, and none in common."""
    return any(own and others and own.isdisjoint(others) for own, others in zip(one, other, strict=True))


def separate_conflicts(units: Iterable[Sequence[int]], known: Sequence[KnownValues]) -> Clusters:
    """Distribute units into parts without conflicting values; a unit that fits several parts joins the largest."""
    parts: list[tuple[list[int], set[KnownValues]]] = []
    for unit in sorted(units, key=lambda unit: -max(sum(map(bool, known[place])) for place in unit)):  # those with most values first
        values = {known[place] for place in unit}
        fitting = [part for part in parts if not any(values_conflict(one, other) for one in values for other in part[1])]
        if not fitting:
            parts.append(([], set()))
        places, theirs = max(fitting, key=lambda part: len(part[0])) if fitting else parts[-1]
        places += unit
        theirs |= values
    return sorted(sorted(set(places)) for places, _ in parts)


def split_by_bic(vectors: Matrix, seed: int = 0) -> Clusters:
    """Return two clusters if the BIC of two Gaussians is lower than that of one, else a single cluster."""
    from sklearn.mixture import GaussianMixture

    if len(np.unique(vectors, axis=0)) < _MIN_CLUSTERED:
        return [list(range(len(vectors)))]
    points = reduce_dimensions(vectors, seed, "pca")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (GaussianMixture(size, covariance_type="diag", random_state=seed, reg_covar=1e-4).fit(points) for size in (1, 2))
    labels = two.predict(points) if two.bic(points) < one.bic(points) else np.zeros(len(points))
    return sorted(own for side in (0, 1) if (own := np.flatnonzero(labels == side).tolist()))


def merge_by_bic(
    vectors: Matrix,
    parts: Sequence[Sequence[int]],
    seed: int = 0,
    may_merge: Callable[[Sequence[int], Sequence[int]], bool] = lambda *_: True,
) -> Clusters:
    """Merge nearest parts, the nearest pair first, while that lowers the BIC; return the parts' numbers by merged cluster.

    may_merge: decides by the numbers of the parts and by the rows of both whether they may be merged.
    """
    remaining, refused = [[part] for part in range(len(parts))], set()
    while len(remaining) > 1:
        own = [sorted({place for part in together for place in parts[part]}) for together in remaining]
        centres = unit_rows(np.array([vectors[places].mean(axis=0) for places in own]), vectors.shape[1])
        similarities = centres @ centres.T
        np.fill_diagonal(similarities, -np.inf)
        for number in np.argsort(-similarities.max(axis=1), kind="stable").tolist():
            first, second = sorted((number, int(similarities[number].argmax())))
            pair, union = (*remaining[first], -1, *remaining[second]), sorted({*own[first], *own[second]})
            if pair in refused:
                continue
            if (
                len(union) >= _MIN_CLUSTERED
                and may_merge(remaining[first] + remaining[second], union)
                and len(split_by_bic(vectors[union], seed)) == 1
            ):
                remaining[first] += remaining.pop(second)
                break
            refused.add(pair)
        else:
            break
    return remaining
