"""Groups founded of leaves that belong to none: clusters of them, split where metadata forbid, merged where the BIC says so."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.hierarchy.clustering import cluster, reduce
from ramify.tools.hierarchy.groups_and_nodes import Edge, Group, Routing
from ramify.tools.hierarchy.leaves import Leaves, Values, folded
from ramify.tools.hierarchy.membership import Routed
from ramify.tools.hierarchy.profiles import profiles

POOL = "without a group"


def founded(leaves: Leaves, routed: Routed, fields: Sequence[str], first: int, how: Routing) -> tuple[list[Group], list[Edge]]:
    """Found groups of the leaves that belong to none, numbered from `first`; what does not cluster is a group of its own kind, the pool."""
    novel = routed.novel
    if not novel:
        return [], []
    if not first:  # there are no groups to be different from
        return [Group(POOL, ("",) * len(fields), "pool")], [Edge(leaf, 0, 1.0, "pool") for leaf in novel]
    values = leaves.values(fields) if fields and fields[0] in leaves.fields else [() for _ in range(len(leaves))]
    clusters = _clusters(leaves, routed, how) if len(novel) >= how.found else []
    home: dict[int, int] = {}
    for number, own in enumerate(clusters):
        for leaf in own:
            home.setdefault(leaf, number)
    exclusive = [[leaf for leaf in own if home[leaf] == number] for number, own in enumerate(clusters)]
    parts = [part for own in exclusive for part in _apart(own, values) if len(part) >= how.found]
    merged = _merged(leaves.vectors, parts, how.seed)
    groups = [Group(f"found {number + 1}: {_named(leaves, own)}", ("",) * len(fields), "founded") for number, own in enumerate(merged)]
    edges = [Edge(leaf, first + number, 1.0, "founded") for number, own in enumerate(merged) for leaf in own]
    rest = sorted(set(novel) - {edge.leaf for edge in edges})
    if rest:
        edges += [Edge(leaf, first + len(groups), 1.0, "pool") for leaf in rest]
        groups.append(Group(POOL, ("",) * len(fields), "pool"))
    return groups, edges


def _clusters(leaves: Leaves, routed: Routed, how: Routing) -> list[list[int]]:
    """Cluster leaves; one cluster counts if they are as similar to one another as those of most groups are."""
    novel = routed.novel
    found = [[novel[one] for one in own] for own in cluster(leaves.vectors[list(novel)], how.seed, how.reduction).clusters]
    return found if len(found) > 1 or float(profiles(leaves.vectors, [novel]).means[0]) >= routed.usual else []


def _apart(own: Sequence[int], values: Sequence[Values]) -> list[list[int]]:
    """Split a cluster by what its leaves' metadata say: other equipment cannot be linked; who says nothing goes with the most."""
    told: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for leaf in own:
        told[tuple(folded(field[0]) if field else "" for field in values[leaf])].append(leaf)
    silent = [leaf for key, members in told.items() if not any(key) for leaf in members]
    known = [members for key, members in sorted(told.items()) if any(key)]
    if not known:
        return [sorted(silent)]
    largest = max(known, key=len)
    return [sorted([*members, *(silent if members is largest else [])]) for members in known]


def _merged(vectors: Matrix, parts: Sequence[list[int]], seed: int) -> list[list[int]]:
    """Merge the two groups nearest each other where one Gaussian describes both better than two, until none are."""
    left = [list(part) for part in parts]
    while len(left) > 1:
        centres = np.array([vectors[own].mean(axis=0) for own in left])
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
        near = np.triu(centres @ centres.T, 1) - np.tril(np.ones((len(left), len(left))))
        one, other = (int(place) for place in np.unravel_index(int(np.argmax(near)), near.shape))
        if not _better_as_one(vectors, left[one], left[other], seed):
            break
        left[one] = sorted(left[one] + left[other])
        del left[other]
    return sorted(left)


def _better_as_one(vectors: Matrix, one: list[int], other: list[int], seed: int) -> bool:
    from sklearn.mixture import GaussianMixture

    points = reduce(vectors[one + other], seed, "pca")
    if len(points) < 4 * 2:
        return False
    together = GaussianMixture(1, covariance_type="diag", random_state=seed, reg_covar=1e-4).fit(points)
    apart = GaussianMixture(2, covariance_type="diag", random_state=seed, reg_covar=1e-4).fit(points)
    return bool(together.bic(points) < apart.bic(points))


def _named(leaves: Leaves, own: Sequence[int]) -> str:
    """Name a group after the leaf nearest its centre."""
    vectors = leaves.vectors[list(own)]
    near = vectors @ vectors.mean(axis=0)
    return leaves.titles[own[int(np.argmax(near))]] or leaves.documents[own[int(np.argmax(near))]]
