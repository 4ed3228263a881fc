"""Cluster vectors as RAPTOR does (Sarthi et al. 2024, arXiv 2401.18059): reduced, softly, by a mixture whose size the BIC chooses."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.errors import UsageError

_DIMENSIONS = 10
_FEW = 8
"""So many vectors get one cluster: the BIC of a mixture of few points falls to one component each."""
_MOST = 49
_PATIENCE = 4
"""Sizes with a worse BIC after which no larger one is tried."""
_SOFT = 0.1
"""A vector is in every cluster to which it belongs with more than this probability."""
_LEARNT_FROM = 2000
"""Most vectors that a mixture is learnt from; the others are given to its clusters."""
_NEIGHBOURS = 100
"""Most neighbours of UMAP: more take memory, and no better picture."""

Clusters = list[list[int]]
Known = tuple[frozenset[str], ...]
"""The values of each field that are known of a place; empty where they are missing."""
Reduction = Literal["pca", "umap"]


class Mixture(NamedTuple):
    """Clusters of places, and what had to be done otherwise."""

    clusters: Clusters
    note: str = ""


def cluster(vectors: Matrix, seed: int = 0, reduction: Reduction = "pca") -> Mixture:
    """Cluster unit vectors; equal ones stay together, and each is in at least one cluster."""
    distinct, first, place_of = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # by where each stands first, and not by its numbers
    distinct, place_of = distinct[order], np.argsort(order)[place_of.reshape(-1)]
    if len(distinct) <= _FEW:
        return Mixture([list(range(len(vectors)))])
    found = _mixture(reduce(distinct, seed, reduction), seed, min(_MOST, max(2, len(distinct) // 3)))
    together: list[list[int]] = [[] for _ in distinct]
    for place, one in enumerate(place_of.tolist()):
        together[one].append(place)
    return found._replace(clusters=sorted(sorted(place for one in own for place in together[one]) for own in found.clusters))


def reduce(vectors: Matrix, seed: int, reduction: Reduction) -> NDArray[np.float64]:
    """Reduce vectors to ten dimensions; to fewer where there are few, of which a mixture cannot learn so much."""
    dimensions = min(_DIMENSIONS, int(np.ceil(len(vectors) ** 0.5)), len(vectors) - 2, vectors.shape[1])
    if reduction == "umap":
        return _umap(vectors, dimensions, seed)
    from sklearn.decomposition import PCA

    solver = "covariance_eigh" if len(vectors) > 2 * vectors.shape[1] else "full"
    return np.asarray(PCA(dimensions, svd_solver=solver).fit_transform(vectors.astype(np.float64)), dtype=np.float64)


def _umap(vectors: Matrix, dimensions: int, seed: int) -> NDArray[np.float64]:
    try:
        from umap import UMAP
    except ImportError as error:
        raise UsageError("reduction=umap needs umap-learn, which is not installed", "pip install 'ramify-rag[umap]', or say pca") from error
    neighbours = min(_NEIGHBOURS, max(2, round((len(vectors) - 1) ** 0.5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = UMAP(n_neighbors=neighbours, n_components=dimensions, metric="cosine", random_state=seed, n_jobs=1).fit_transform(vectors)
    return np.asarray(told, dtype=np.float64)


def _mixture(points: NDArray[np.float64], seed: int, most: int) -> Mixture:
    """Fit mixtures of growing size until the BIC has grown for a while; where none converges, k-means."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    best, chosen, failed, since = np.inf, None, 0, 0
    learnt = points if len(points) <= _LEARNT_FROM else np.random.default_rng(seed).permutation(points)[:_LEARNT_FROM]
    for size in range(1, most + 1):
        mixture = GaussianMixture(size, covariance_type="diag", random_state=seed, reg_covar=1e-5, max_iter=200)
        since += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                mixture.fit(learnt)
        except (ConvergenceWarning, ValueError):
            failed += 1
        else:
            if (bic := float(mixture.bic(learnt))) < best:
                best, chosen, since = bic, mixture, 0
        if since >= _PATIENCE:
            break
    if chosen is None:
        return Mixture(_by_means(points, seed), note="no mixture converged: clustered by k-means")
    shares = chosen.predict_proba(points)
    own = [[int(place) for place in np.flatnonzero(share > _SOFT)] for share in shares.T]
    note = f"{failed} of the mixtures tried did not converge" if failed else ""
    return Mixture([places for places in own if places], note)


def _by_means(points: NDArray[np.float64], seed: int) -> Clusters:
    from sklearn.cluster import KMeans

    size = max(2, round(len(points) ** 0.5 / 2))
    labels = KMeans(size, random_state=seed, n_init=4).fit_predict(points)
    return [own for label in range(size) if (own := [int(place) for place in np.flatnonzero(labels == label)])]


def bisected(vectors: Matrix, largest: int, seed: int) -> Clusters:
    """Cut too many vectors into parts of at most `largest`, by k-means of two, again and again; by order where that does not cut."""
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


def constrained(
    vectors: Matrix, must: Sequence[Sequence[int]], known: Sequence[Known], seed: int = 0, reduction: Reduction = "pca"
) -> Mixture:
    """Cluster with must-links and cannot-links: each of `must` stays whole, and places whose known values differ share no cluster."""
    means = unit_rows(np.array([vectors[list(unit)].mean(axis=0) for unit in must]), vectors.shape[1])
    found = cluster(means, seed, reduction)
    return found._replace(clusters=[part for own in found.clusters for part in apart([must[unit] for unit in own], known)])


def differ(one: Known, other: Known) -> bool:
    """Tell whether both have known values of a field, and none in common."""
    return any(own and others and own.isdisjoint(others) for own, others in zip(one, other, strict=True))


def apart(units: Iterable[Sequence[int]], known: Sequence[Known]) -> Clusters:
    """Distribute units so that no known values differ in a part; a unit that fits several goes to the largest."""
    parts: list[tuple[list[int], set[Known]]] = []
    for unit in sorted(units, key=lambda unit: -max(sum(map(bool, known[place])) for place in unit)):  # the best known first
        values = {known[place] for place in unit}
        fitting = [part for part in parts if not any(differ(one, other) for one in values for other in part[1])]
        if not fitting:
            parts.append(([], set()))
        places, theirs = max(fitting, key=lambda part: len(part[0])) if fitting else parts[-1]
        places += unit
        theirs |= values
    return sorted(sorted(set(places)) for places, _ in parts)


def halves(vectors: Matrix, seed: int = 0) -> Clusters:
    """Split vectors in two if the BIC of two Gaussians is lower than that of one; else return them as one cluster."""
    from sklearn.mixture import GaussianMixture

    if len(np.unique(vectors, axis=0)) < _FEW:
        return [list(range(len(vectors)))]
    points = reduce(vectors, seed, "pca")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (GaussianMixture(size, covariance_type="diag", random_state=seed, reg_covar=1e-4).fit(points) for size in (1, 2))
    labels = two.predict(points) if two.bic(points) < one.bic(points) else np.zeros(len(points))
    return sorted(own for side in (0, 1) if (own := np.flatnonzero(labels == side).tolist()))


def merged(
    vectors: Matrix, parts: Sequence[Sequence[int]], seed: int = 0, may: Callable[[Sequence[int], Sequence[int]], bool] = lambda *_: True
) -> Clusters:
    """Merge each part with its nearest other, the nearest pair first, while that lowers the BIC; return which parts are together.

    may: whether two parts may be merged at all, by their places in `parts` and by the vectors of both.
    """
    left, refused = [[part] for part in range(len(parts))], set()
    while len(left) > 1:
        own = [sorted({place for part in together for place in parts[part]}) for together in left]
        centres = unit_rows(np.array([vectors[places].mean(axis=0) for places in own]), vectors.shape[1])
        near = centres @ centres.T
        np.fill_diagonal(near, -np.inf)
        for one in np.argsort(-near.max(axis=1), kind="stable").tolist():
            first, second = sorted((one, int(near[one].argmax())))
            pair, union = (*left[first], -1, *left[second]), sorted({*own[first], *own[second]})
            if pair in refused:
                continue
            if len(union) >= _FEW and may(left[first] + left[second], union) and len(halves(vectors[union], seed)) == 1:
                left[first] += left.pop(second)
                break
            refused.add(pair)
        else:
            break
    return left
