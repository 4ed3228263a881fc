"""Partition leaves by metadata; and soft membership where metadata are missing or do not fit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy._clustering import apart, cluster, merged
from ramify.tools.hierarchy.leaves import NONE, Edge, EdgeKind, Group, Leaves, Routing, Values, folded

_SHARE, _COVERED = 5, 0.5
"""Leaves for each group, at least, on average; and the share of the leaves that must have a field for it to be proposed."""
_MOST_KEYS = 16
"""Groups of one leaf whose fields are lists."""
_TRIED = 8
"""Fields that are tried together."""
_OWN = frozenset(
    ["source", "page", "pages", "title", "heading", "headings_within", "role", "fragment", "fragments", "id", "start", "description"]
)
"""What says where a passage stands, not where it belongs."""
_JOINED = " / "


class Partition(NamedTuple):
    """Groups in order, their primary edges, and the leaves without a complete key: the None-pool."""

    fields: tuple[str, ...]
    groups: list[Group]
    edges: list[Edge]
    pool: list[int]


def partition(leaves: Leaves, fields: Sequence[str] | None) -> Partition:
    """Group leaves by fields, or by what is proposed; UsageError for fields that are not there, that say nothing, or too much."""
    if fields is not None and tuple(fields) == (NONE,):
        return Partition((NONE,), [Group("everything", (), "all")], [Edge(leaf, 0, 1.0, "primary") for leaf in range(len(leaves))], [])
    if fields is None:  # those whose groups are the tightest for their number
        return _grouped(leaves, max(serving(leaves), key=lambda chosen: (_tightness(leaves, chosen), -len(chosen), chosen)))
    chosen = tuple(dict.fromkeys(fields))
    found = _grouped(leaves, chosen)
    most = max(2, len(leaves) // _SHARE)
    told = ", ".join(chosen)
    if len(found.groups) == 1 and not found.pool:
        raise UsageError(f"all documents have the same {told}", f"group by other fields ({_others(leaves, chosen)}), or by {NONE}")
    if len(found.groups) > most:
        what = f"{told} makes {len(found.groups):,} groups of {len(leaves):,} passages, more than {most:,}"
        raise UsageError(what, f"group by fewer or coarser fields: {_others(leaves, chosen)}")
    return found


def _grouped(leaves: Leaves, fields: tuple[str, ...]) -> Partition:
    written: dict[tuple[str, ...], Counter[str]] = {}
    keys: list[list[tuple[str, ...]]] = []
    for values in leaves.values(fields):
        listed = list(dict.fromkeys(keys_of(values)))
        keys.append([key for key, _ in listed])
        for key, name in listed:
            written.setdefault(key, Counter())[name] += 1
    ordered = sorted(written)
    groups = [Group(max(sorted(written[key]), key=lambda name: written[key][name]), key, "metadata") for key in ordered]
    number = {key: place for place, key in enumerate(ordered)}
    edges = [Edge(leaf, number[key], 1 / len(own), "primary") for leaf, own in enumerate(keys) for key in dict.fromkeys(own)]
    return Partition(fields, groups, edges, [leaf for leaf, own in enumerate(keys) if not own])


def keys_of(values: Values) -> list[tuple[tuple[str, ...], str]]:
    """Give the keys of a leaf, with how they are written; none where a field is missing, one each for the values of a list."""
    return [(tuple(map(folded, parts)), _JOINED.join(parts)) for parts in product(*values)][:_MOST_KEYS]


def serving(leaves: Leaves) -> list[tuple[str, ...]]:
    """List the fields, and the pairs of them, that make groups of a fitting size; UsageError where there are none."""
    fields = [field for field in leaves.fields if field not in _OWN and _serves(leaves, (field,))][:_TRIED]
    tried: list[tuple[str, ...]] = [(field,) for field in fields]
    tried += [pair for pair in combinations(fields, 2) if _serves(leaves, pair)]
    if not tried:
        raise UsageError(
            "no field of metadata groups these documents", f"name fields ({', '.join(leaves.fields) or 'there are none'}), or group by none"
        )
    return tried


def _serves(leaves: Leaves, fields: tuple[str, ...]) -> bool:
    """Tell whether words, not numbers, make from two groups to one for five leaves, of half of the leaves."""
    said = leaves.values(fields)
    if any(not any(letter.isalpha() for letter in value) for values in said for own in values for value in own):
        return False
    found = _grouped(leaves, fields)
    return 2 <= len(found.groups) <= len(leaves) // _SHARE and len(found.pool) <= (1 - _COVERED) * len(leaves)


def _tightness(leaves: Leaves, fields: tuple[str, ...]) -> float:
    """Say how far groups are apart for how wide they are (Caliński and Harabasz 1974)."""
    from sklearn.metrics import calinski_harabasz_score

    found = _grouped(leaves, fields)
    own = {edge.leaf: edge.group for edge in reversed(found.edges)}
    places, labels = np.array(sorted(own)), [own[leaf] for leaf in sorted(own)]
    return float(calinski_harabasz_score(leaves.vectors[places], labels)) if 2 <= len(set(labels)) < len(labels) else 0.0


def _others(leaves: Leaves, chosen: Sequence[str]) -> str:
    others = [field for field in leaves.fields if field not in _OWN and field not in chosen]
    return ", ".join(others) or "there are no others"


Scores = NDArray[np.float64]
_BLOCK = 4096
_MANY = 1000
"""Groups from which on only the nearest are weighed for a leaf."""
_NEAREST = 0.9
"""Share of a group that its centre is the mean of: noise of 5 to 15 % must not drag it."""
_LEAST_DEVIATION = 0.02
_TINY = 1e-6
_FEW = 20
"""Leaves of a group below which its spread is that of all groups."""
POOL = "without a group"


class Profiles(NamedTuple):
    """Of each group: its centre, shape (groups, dimension); mean and deviation of its leaves' cosines to it; and the least usual one."""

    centres: Matrix
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    lows: NDArray[np.float64]

    def outliers(self, vectors: Matrix, own: Sequence[int], group: int, deviations: float) -> list[int]:
        """List the leaves of a group whose cosine to its centre is so many deviations below the group's mean, or more."""
        z = (vectors[list(own)] @ self.centres[group] - self.means[group]) / self.deviations[group]
        return [place for place, value in zip(own, z, strict=True) if value < -deviations]


def profiles(vectors: Matrix, members: Sequence[Sequence[int]], share: float = 0.05) -> Profiles:
    """Describe groups; `share` of a group's own cosines are below its least usual one.

    A leaf is compared with the mean of the others: in a group of five, its own vector is a good part of the centre.
    """
    centres = np.array([_centre(vectors[list(own)]) for own in members], dtype=np.float32)
    own = [_to_others(vectors[list(one)]) for one in members]
    known = [cosines for cosines in own if len(cosines)]
    pooled = np.concatenate(known) if known else np.array([0.5])
    spread = float(np.sqrt(np.mean(np.concatenate([(cosines - cosines.mean()) ** 2 for cosines in known])))) if known else 0.1
    means = np.array([cosines.mean() if len(cosines) else pooled.mean() for cosines in own])
    deviations = np.array([cosines.std() if len(cosines) >= _FEW else spread for cosines in own])
    deviations = np.maximum(deviations, _LEAST_DEVIATION)
    below = -NormalDist().inv_cdf(min(max(share, _TINY), 1 - _TINY))  # deviations below the mean of a normal distribution
    lows = np.array(
        [
            np.quantile(cosines, share) if len(cosines) >= _FEW else mean - below * deviation
            for cosines, mean, deviation in zip(own, means, deviations, strict=True)
        ]
    )
    return Profiles(centres, means, deviations, lows)


def _centre(own: Matrix) -> Matrix:
    """Give the normalised mean of the vectors nearest to the mean."""
    mean = unit_rows(own.mean(axis=0, keepdims=True), own.shape[1])[0]
    nearest = np.argsort(-(own @ mean), kind="stable")[: max(1, int(np.ceil(_NEAREST * len(own))))]
    centre: Matrix = unit_rows(own[np.sort(nearest)].mean(axis=0, keepdims=True), own.shape[1])[0]
    return centre


def _to_others(own: Matrix) -> NDArray[np.float64]:
    """Give the cosine of each vector to the mean of the others; nothing where there are none."""
    if len(own) < 2:
        return np.empty(0)
    others = own.sum(axis=0, dtype=np.float64) - own
    return np.asarray((own * others).sum(axis=1) / np.maximum(np.linalg.norm(others, axis=1), 1e-9), dtype=np.float64)


class Routed(NamedTuple):
    """The edges of a partition with the soft ones added, and the leaves that belong to no group that there is."""

    edges: list[Edge]
    novel: list[int]
    usual: float = 1.0
    """How similar the leaves of a group are to the mean of the others, in most groups."""


def route(leaves: Leaves, parts: Partition, how: Routing) -> Routed:
    """Give leaves without metadata to the groups that suit them, and link those that do not fit their own to others."""
    if not parts.groups:
        return Routed([], parts.pool)
    posterior = _Posterior(leaves, parts, how)
    edges, novel = list(parts.edges), []
    for leaf, scores, newness in posterior.of(parts.pool):
        kind: EdgeKind = "novel" if newness < 0 else "soft"
        edges += [Edge(leaf, group, weight, kind) for group, weight in _likeliest(scores, how.soft_k, how.least)]
        novel += [leaf] if newness < 0 else []
    astray: dict[int, list[int]] = defaultdict(list)
    for group, own in enumerate(members_of(parts.edges, len(parts.groups)) if len(parts.groups) > 1 else ()):
        for leaf in posterior.like.outliers(leaves.vectors, own, group, how.escape):
            astray[leaf].append(group)
    for leaf, scores, _ in posterior.of(sorted(astray)):
        scores[astray[leaf]] = -np.inf
        edges += [Edge(leaf, group, weight, "escape") for group, weight in _likeliest(scores, how.soft_k, how.least)]
    return Routed(edges, novel, float(np.median(posterior.like.means)))


def members_of(edges: Sequence[Edge], groups: int) -> list[list[int]]:
    """List the leaves of each group, in order."""
    found: list[list[int]] = [[] for _ in range(groups)]
    for edge in edges:
        found[edge.group].append(edge.leaf)
    return [sorted(set(own)) for own in found]


def alternatives(leaves: Leaves, parts: Partition, places: Sequence[int], how: Routing) -> list[list[tuple[int, float]]]:
    """Give the likeliest groups of some leaves with their weights, whatever groups these are in."""
    return [_likeliest(scores, how.soft_k + 1, how.least) for _, scores, _ in _Posterior(leaves, parts, how).of(places)]


def _likeliest(scores: Scores, most: int, least: float) -> list[tuple[int, float]]:
    """Give the best groups, the share of each by softmax; those below the least share are dropped."""
    best = [int(group) for group in np.lexsort((np.arange(len(scores)), -scores))[:most] if np.isfinite(scores[group])]
    if not best:
        return []
    shares = np.exp(scores[best] - scores[best[0]])
    shares /= shares.sum()
    return [(group, round(float(share), 6)) for group, share in zip(best, shares, strict=True) if share >= least]


class _Posterior:
    """Scores of groups for leaves."""

    def __init__(self, leaves: Leaves, parts: Partition, how: Routing) -> None:
        self._leaves, self._parts, self._how = leaves, parts, how
        self.like = profiles(leaves.vectors, members_of(parts.edges, len(parts.groups)), how.novelty)
        sizes = np.bincount([edge.group for edge in parts.edges], minlength=len(parts.groups))
        self._prior = np.log((sizes + 1) / (len(leaves) + len(parts.groups)))
        self._known = leaves.known(parts.fields)
        self._keys = [np.array(keys) for keys in zip(*(group.key for group in parts.groups), strict=True)]
        self._own: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for edge in parts.edges:
            self._own[edge.leaf].append((edge.group, edge.weight))
        self._pools = [number for number, group in enumerate(parts.groups) if group.kind == "pool"]
        self._around = _neighbours(leaves, self._own)
        self._together: dict[str, list[int]] = defaultdict(list)
        for leaf, document in enumerate(leaves.documents):
            self._together[document].append(leaf)
        self._steps: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for leaf, groups in self._own.items():
            if step := leaves.steps[leaf]:
                self._steps[step[0]][step[1]].update(group for group, _ in groups)

    def of(self, places: Sequence[int]) -> Iterator[tuple[int, Scores, float]]:
        """Yield each leaf, its scores of all groups, and how far its cosine is above the least usual of one; below 0 it is of none."""
        for start in range(0, len(places), _BLOCK):
            block = list(places[start : start + _BLOCK])
            cosines, like = self._leaves.vectors[block] @ self.like.centres.T, self.like
            newness = ((cosines - like.lows) / like.deviations).max(axis=1)
            for leaf, near, new in zip(block, (cosines - like.means) / like.deviations, newness, strict=True):
                yield leaf, self._scores(leaf, near), float(new)

    def _scores(self, leaf: int, near: NDArray[np.float64]) -> Scores:
        how = self._how
        scores = how.beta * near + self._prior
        if len(scores) > _MANY:
            scores[np.argsort(-near, kind="stable")[how.candidates :]] = -np.inf
        for keys, told in zip(self._keys, self._known[leaf], strict=True):
            if told:
                scores += how.alpha * np.where(keys == "", 0, np.where(np.isin(keys, sorted(told)), 1, -1))
        self._add(scores, how.gamma, self._around.get(leaf, ()))
        self._add(scores, how.delta, [other for other in self._together[self._leaves.documents[leaf]] if other != leaf])
        scores += how.kappa * self._continued(leaf)
        scores[self._pools] = -np.inf
        return np.asarray(scores, dtype=np.float64)

    def _add(self, scores: Scores, weight: float, others: Sequence[int]) -> None:
        for other in others:
            for group, share in self._own.get(other, ()):
                scores[group] += weight * share / len(others)

    def _continued(self, leaf: int) -> Scores:
        """Give 1 for groups whose steps go on with this one, -1 for those whose steps of the same kind do not."""
        found = np.zeros(len(self._parts.groups))
        step = self._leaves.steps[leaf]
        if step is None or step[0] not in self._steps:
            return found
        same = self._steps[step[0]]
        found[sorted({group for groups in same.values() for group in groups})] = -1
        found[sorted(same.get(step[1] - 1, set()) | same.get(step[1] + 1, set()))] = 1
        return found


def _neighbours(leaves: Leaves, own: dict[int, list[tuple[int, float]]]) -> dict[int, list[int]]:
    """Give the nearest leaves before and after each, in its file and out of its document, that are in a group."""
    found: dict[int, list[int]] = defaultdict(list)
    for order in (leaves.reading_order, leaves.reading_order[::-1]):
        last: int | None = None
        document, before = "", None
        for leaf in order:
            if leaves.documents[leaf] != document:
                document, before = leaves.documents[leaf], last
            if before is not None and leaves.files[before] == leaves.files[leaf]:
                found[leaf].append(before)
            if leaf in own:
                last = leaf
    return found


def founded(leaves: Leaves, parts: Partition, routed: Routed, how: Routing) -> Partition:
    """Add the soft edges, and groups founded of leaves that belong to none; what does not cluster is a group of its own kind, the pool."""
    novel, first, unknown = routed.novel, len(parts.groups), ("",) * len(parts.fields)
    # Without any groups there are none to be different from.
    clusters = _clusters(leaves, routed, how) if first and len(novel) >= how.found else []
    known = leaves.known(parts.fields)
    home: dict[int, int] = {}
    for number, own in enumerate(clusters):
        for leaf in own:
            home.setdefault(leaf, number)
    exclusive = [[leaf for leaf in own if home[leaf] == number] for number, own in enumerate(clusters)]
    alike = [part for own in exclusive for part in apart([[leaf] for leaf in own], known) if len(part) >= how.found]
    together = sorted(sorted(leaf for part in own for leaf in alike[part]) for own in merged(leaves.vectors, alike, how.seed))
    groups = [Group(f"found {number}: {_named(leaves, own)}", unknown, "founded") for number, own in enumerate(together, 1)]
    edges = [Edge(leaf, first + number, 1.0, "founded") for number, own in enumerate(together) for leaf in own]
    rest = sorted(set(novel) - {edge.leaf for edge in edges})
    if rest:
        edges += [Edge(leaf, first + len(groups), 1.0, "pool") for leaf in rest]
        groups.append(Group(POOL, unknown, "pool"))
    return Partition(parts.fields, [*parts.groups, *groups], [*routed.edges, *edges], parts.pool)


def _clusters(leaves: Leaves, routed: Routed, how: Routing) -> list[list[int]]:
    """Cluster leaves; one cluster counts if they are as similar to one another as those of most groups are."""
    novel = routed.novel
    found = [[novel[one] for one in own] for own in cluster(leaves.vectors[list(novel)], how.seed, how.reduction).clusters]
    return found if len(found) > 1 or float(profiles(leaves.vectors, [novel]).means[0]) >= routed.usual else []


def _named(leaves: Leaves, own: Sequence[int]) -> str:
    """Name a group after the leaf nearest its centre."""
    vectors = leaves.vectors[list(own)]
    near = vectors @ vectors.mean(axis=0)
    return leaves.titles[own[int(np.argmax(near))]] or leaves.documents[own[int(np.argmax(near))]]
