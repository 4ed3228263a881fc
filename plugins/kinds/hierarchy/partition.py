"""Group leaves by metadata, with soft membership where metadata are missing or do not fit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.kinds.hierarchy._clustering import cluster, merge_by_bic, separate_conflicts
from ramify.kinds.hierarchy.leaves import NO_FIELDS, Edge, EdgeKind, Group, Leaves, Routing, Values, fold_value
from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.errors import UsageError

_MIN_LEAVES_PER_GROUP, _MIN_COVERAGE = 5, 0.5
"""Minimum average of leaves per group, and minimum share of leaves that have a field, for proposed fields."""
_MAX_LIST_KEYS = 16
"""Maximum number of groups of a leaf whose fields are lists."""
_MAX_PROPOSED_FIELDS = 8
"""Maximum number of fields tried alone and in pairs."""
_LOCATION_FIELDS = frozenset(
    [
        "source",
        "page",
        "pages",
        "title",
        "heading",
        "headings_within",
        "role",
        "read_by",
        "fragment",
        "fragments",
        "id",
        "start",
        "description",
    ]
)
"""Fields that locate a passage and are not proposed for grouping."""
_KEY_SEPARATOR = " / "


class Partition(NamedTuple):
    """Groups in order, their edges, and the leaves without a complete key (the None-pool)."""

    fields: tuple[str, ...]
    groups: list[Group]
    edges: list[Edge]
    ungrouped: list[int]


def partition(leaves: Leaves, fields: Sequence[str] | None) -> Partition:
    """Group leaves by fields, or by the best proposal; UsageError for unknown fields, and for one group or too many."""
    if fields is not None and tuple(fields) == (NO_FIELDS,):
        return Partition((NO_FIELDS,), [Group("everything", (), "all")], [Edge(leaf, 0, 1.0, "primary") for leaf in range(len(leaves))], [])
    if fields is None:  # the fields with the best-separated groups
        return _group_by_fields(leaves, max(suitable_fields(leaves), key=lambda chosen: (_tightness(leaves, chosen), -len(chosen), chosen)))
    chosen = tuple(dict.fromkeys(fields))
    parts = _group_by_fields(leaves, chosen)
    most = max(2, len(leaves) // _MIN_LEAVES_PER_GROUP)
    field_names = ", ".join(chosen)
    if len(parts.groups) == 1 and not parts.ungrouped:
        raise UsageError(
            f"all documents have the same {field_names}", f"group by other fields ({_other_fields(leaves, chosen)}), or by {NO_FIELDS}"
        )
    if len(parts.groups) > most:
        what = f"{field_names} makes {len(parts.groups):,} groups of {len(leaves):,} passages, more than {most:,}"
        raise UsageError(what, f"group by fewer or coarser fields: {_other_fields(leaves, chosen)}")
    return parts


def _group_by_fields(leaves: Leaves, fields: tuple[str, ...]) -> Partition:
    written: dict[tuple[str, ...], Counter[str]] = {}
    keys: list[list[tuple[str, ...]]] = []
    for values in leaves.values(fields):
        listed = list(dict.fromkeys(group_keys(values)))
        keys.append([key for key, _ in listed])
        for key, name in listed:
            written.setdefault(key, Counter())[name] += 1
    ordered = sorted(written)
    groups = [Group(max(sorted(written[key]), key=lambda name: written[key][name]), key, "metadata") for key in ordered]
    number = {key: place for place, key in enumerate(ordered)}
    edges = [Edge(leaf, number[key], 1 / len(own), "primary") for leaf, own in enumerate(keys) for key in dict.fromkeys(own)]
    return Partition(fields, groups, edges, [leaf for leaf, own in enumerate(keys) if not own])


def group_keys(values: Values) -> list[tuple[tuple[str, ...], str]]:
    """Return the keys of a leaf with their spellings: one for each combination of values, none if a field is missing."""
    return [(tuple(map(fold_value, parts)), _KEY_SEPARATOR.join(parts)) for parts in product(*values)][:_MAX_LIST_KEYS]


def spell_values(group: Group) -> tuple[str, ...]:
    """Return the values of a group as they are written, where its name tells them; else folded, as in its key."""
    written = tuple(group.name.split(_KEY_SEPARATOR))
    return written if tuple(map(fold_value, written)) == group.key else group.key


def suitable_fields(leaves: Leaves) -> list[tuple[str, ...]]:
    """Return the fields and pairs of fields that give groups of a suitable size; UsageError if there are none."""
    fields = [field for field in leaves.fields if field not in _LOCATION_FIELDS and _is_suitable(leaves, (field,))][:_MAX_PROPOSED_FIELDS]
    tried: list[tuple[str, ...]] = [(field,) for field in fields]
    tried += [pair for pair in combinations(fields, 2) if _is_suitable(leaves, pair)]
    if not tried:
        raise UsageError(
            "no metadata field is suitable for grouping these documents",
            f"give fields with --group-by ({', '.join(leaves.fields) or 'there are none'}), or use --group-by none",
        )
    return tried


def _is_suitable(leaves: Leaves, fields: tuple[str, ...]) -> bool:
    """Return whether the values are words, and give between 2 groups and one for 5 leaves, covering half of the leaves."""
    values_of = leaves.values(fields)
    if any(not any(letter.isalpha() for letter in value) for values in values_of for own in values for value in own):
        return False
    parts = _group_by_fields(leaves, fields)
    return 2 <= len(parts.groups) <= len(leaves) // _MIN_LEAVES_PER_GROUP and len(parts.ungrouped) <= (1 - _MIN_COVERAGE) * len(leaves)


def _tightness(leaves: Leaves, fields: tuple[str, ...]) -> float:
    """Return the ratio of between-group to within-group dispersion (Caliński and Harabasz 1974)."""
    from sklearn.metrics import calinski_harabasz_score

    parts = _group_by_fields(leaves, fields)
    own = {edge.leaf: edge.group for edge in reversed(parts.edges)}
    places, labels = np.array(sorted(own)), [own[leaf] for leaf in sorted(own)]
    return float(calinski_harabasz_score(leaves.vectors[places], labels)) if 2 <= len(set(labels)) < len(labels) else 0.0


def _other_fields(leaves: Leaves, chosen: Sequence[str]) -> str:
    others = [field for field in leaves.fields if field not in _LOCATION_FIELDS and field not in chosen]
    return ", ".join(others) or "there are no others"


Scores = NDArray[np.float64]
_BLOCK = 4096
_MAX_SCORED_GROUPS = 1000
"""Number of groups above which only the nearest are scored for a leaf."""
_CENTRE_SHARE = 0.9
"""Share of a group's leaves, the nearest, that its centre is the mean of: robust to 5 to 15 % noise."""
_MIN_DEVIATION = 0.02
_EPSILON = 1e-6
_MIN_OWN_SPREAD = 20
"""Leaves from which a group has a deviation of its own; smaller groups use the pooled one."""
POOL_NAME = "without a group"


class GroupProfiles(NamedTuple):
    """Per group: centre, shape (groups, dimension); mean, deviation and lower quantile of its leaves' cosines, shape (groups,)."""

    centres: Matrix
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    lows: NDArray[np.float64]

    def outliers(self, vectors: Matrix, places: Sequence[int], group: int, deviations: float) -> list[int]:
        """Return the leaves of a group whose cosine to its centre is more than `deviations` standard deviations below the group's mean."""
        z = (vectors[list(places)] @ self.centres[group] - self.means[group]) / self.deviations[group]
        return [place for place, value in zip(places, z, strict=True) if value < -deviations]


def group_profiles(vectors: Matrix, members: Sequence[Sequence[int]], share: float = 0.05) -> GroupProfiles:
    """Return the profiles of groups; share: the quantile of a group's cosines returned as its low.

    A leaf is compared with the mean of the others, because in a small group its own vector dominates the centre.
    """
    centres = np.array([_centre(vectors[list(own)]) for own in members], dtype=np.float32)
    own = [_cosines_to_others(vectors[list(places)]) for places in members]
    known = [cosines for cosines in own if len(cosines)]
    pooled = np.concatenate(known) if known else np.array([0.5])
    spread = float(np.sqrt(np.mean(np.concatenate([(cosines - cosines.mean()) ** 2 for cosines in known])))) if known else 0.1
    means = np.array([cosines.mean() if len(cosines) else pooled.mean() for cosines in own])
    deviations = np.array([cosines.std() if len(cosines) >= _MIN_OWN_SPREAD else spread for cosines in own])
    deviations = np.maximum(deviations, _MIN_DEVIATION)
    below = -NormalDist().inv_cdf(min(max(share, _EPSILON), 1 - _EPSILON))  # deviations below the mean of a normal distribution
    lows = np.array(
        [
            np.quantile(cosines, share) if len(cosines) >= _MIN_OWN_SPREAD else mean - below * deviation
            for cosines, mean, deviation in zip(own, means, deviations, strict=True)
        ]
    )
    return GroupProfiles(centres, means, deviations, lows)


def _centre(own: Matrix) -> Matrix:
    """Return the normalized mean of the vectors nearest to the mean, shape (dimension,)."""
    mean = unit_rows(own.mean(axis=0, keepdims=True), own.shape[1])[0]
    nearest = np.argsort(-(own @ mean), kind="stable")[: max(1, int(np.ceil(_CENTRE_SHARE * len(own))))]
    centre: Matrix = unit_rows(own[np.sort(nearest)].mean(axis=0, keepdims=True), own.shape[1])[0]
    return centre


def _cosines_to_others(own: Matrix) -> NDArray[np.float64]:
    """Return the cosine of each vector to the mean of the others, shape (vectors,); empty for a single vector."""
    if len(own) < 2:
        return np.empty(0)
    others = own.sum(axis=0, dtype=np.float64) - own
    return np.asarray((own * others).sum(axis=1) / np.maximum(np.linalg.norm(others, axis=1), 1e-9), dtype=np.float64)


class GroupAssignment(NamedTuple):
    """The edges of a partition with soft ones added, and the leaves that fit no existing group."""

    edges: list[Edge]
    novel: list[int]
    typical_cosine: float = 1.0
    """Median over groups of the mean cosine of a leaf to the others."""


def assign_groups(leaves: Leaves, parts: Partition, routing: Routing) -> GroupAssignment:
    """Assign leaves without metadata to their likeliest groups, and link outliers of a group to others."""
    if not parts.groups:
        return GroupAssignment([], parts.ungrouped)
    scorer = _GroupScorer(leaves, parts, routing)
    edges, novel = list(parts.edges), []
    for leaf, scores, newness in scorer.scores(parts.ungrouped):
        kind: EdgeKind = "novel" if newness < 0 else "soft"
        edges += [Edge(leaf, group, weight, kind) for group, weight in _softmax_top(scores, routing.soft_k, routing.least)]
        novel += [leaf] if newness < 0 else []
    outlying: dict[int, list[int]] = defaultdict(list)
    for group, own in enumerate(group_members(parts.edges, len(parts.groups)) if len(parts.groups) > 1 else ()):
        for leaf in scorer.profiles.outliers(leaves.vectors, own, group, routing.escape):
            outlying[leaf].append(group)
    for leaf, scores, _ in scorer.scores(sorted(outlying)):
        scores[outlying[leaf]] = -np.inf
        edges += [Edge(leaf, group, weight, "escape") for group, weight in _softmax_top(scores, routing.soft_k, routing.least)]
    return GroupAssignment(edges, novel, float(np.median(scorer.profiles.means)))


def group_members(edges: Sequence[Edge], groups: int) -> list[list[int]]:
    """Return the sorted leaves of each group."""
    members: list[list[int]] = [[] for _ in range(groups)]
    for edge in edges:
        members[edge.group].append(edge.leaf)
    return [sorted(set(own)) for own in members]


def likeliest_groups(leaves: Leaves, parts: Partition, places: Sequence[int], routing: Routing) -> list[list[tuple[int, float]]]:
    """Return the likeliest groups of some leaves with weights, independent of their current groups."""
    return [_softmax_top(scores, routing.soft_k + 1, routing.least) for _, scores, _ in _GroupScorer(leaves, parts, routing).scores(places)]


def _softmax_top(scores: Scores, most: int, least: float) -> list[tuple[int, float]]:
    """Return the best groups with their softmax shares; shares below `least` are dropped."""
    best = [int(group) for group in np.lexsort((np.arange(len(scores)), -scores))[:most] if np.isfinite(scores[group])]
    if not best:
        return []
    shares = np.exp(scores[best] - scores[best[0]])
    shares /= shares.sum()
    return [(group, round(float(share), 6)) for group, share in zip(best, shares, strict=True) if share >= least]


class _GroupScorer:
    """Log-posterior scores of groups for leaves."""

    def __init__(self, leaves: Leaves, parts: Partition, routing: Routing) -> None:
        self._leaves, self._parts, self._routing = leaves, parts, routing
        self.profiles = group_profiles(leaves.vectors, group_members(parts.edges, len(parts.groups)), routing.novelty)
        sizes = np.bincount([edge.group for edge in parts.edges], minlength=len(parts.groups))
        self._prior = np.log((sizes + 1) / (len(leaves) + len(parts.groups)))
        self._known = leaves.folded_values(parts.fields)
        self._keys = [np.array(keys) for keys in zip(*(group.key for group in parts.groups), strict=True)]
        self._memberships: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for edge in parts.edges:
            self._memberships[edge.leaf].append((edge.group, edge.weight))
        self._pools = [number for number, group in enumerate(parts.groups) if group.kind == "pool"]
        self._neighbours_of = _neighbours(leaves, self._memberships)
        self._leaves_of_document: dict[str, list[int]] = defaultdict(list)
        for leaf, document in enumerate(leaves.documents):
            self._leaves_of_document[document].append(leaf)
        self._steps: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for leaf, groups in self._memberships.items():
            if step := leaves.steps[leaf]:
                self._steps[step[0]][step[1]].update(group for group, _ in groups)

    def scores(self, places: Sequence[int]) -> Iterator[tuple[int, Scores, float]]:
        """Yield each leaf, its scores of all groups, shape (groups,), and its fit in deviations; below 0 it fits no group."""
        for start in range(0, len(places), _BLOCK):
            block = list(places[start : start + _BLOCK])
            cosines, like = self._leaves.vectors[block] @ self.profiles.centres.T, self.profiles
            newness = ((cosines - like.lows) / like.deviations).max(axis=1)
            for leaf, near, new in zip(block, (cosines - like.means) / like.deviations, newness, strict=True):
                yield leaf, self._scores(leaf, near), float(new)

    def _scores(self, leaf: int, similarities: NDArray[np.float64]) -> Scores:
        routing = self._routing
        scores = routing.beta * similarities + self._prior
        if len(scores) > _MAX_SCORED_GROUPS:
            scores[np.argsort(-similarities, kind="stable")[routing.candidates :]] = -np.inf
        for keys, values in zip(self._keys, self._known[leaf], strict=True):
            if values:
                scores += routing.alpha * np.where(keys == "", 0, np.where(np.isin(keys, sorted(values)), 1, -1))
        self._add_votes(scores, routing.gamma, self._neighbours_of.get(leaf, ()))
        self._add_votes(scores, routing.delta, [other for other in self._leaves_of_document[self._leaves.documents[leaf]] if other != leaf])
        scores += routing.kappa * self._step_continuity(leaf)
        scores[self._pools] = -np.inf
        return np.asarray(scores, dtype=np.float64)

    def _add_votes(self, scores: Scores, weight: float, others: Sequence[int]) -> None:
        for other in others:
            for group, share in self._memberships.get(other, ()):
                scores[group] += weight * share / len(others)

    def _step_continuity(self, leaf: int) -> Scores:
        """Return 1 for groups with the previous or next step, -1 for groups with other steps of the kind, else 0; shape (groups,)."""
        scores = np.zeros(len(self._parts.groups))
        step = self._leaves.steps[leaf]
        if step is None or step[0] not in self._steps:
            return scores
        same = self._steps[step[0]]
        scores[sorted({group for groups in same.values() for group in groups})] = -1
        scores[sorted(same.get(step[1] - 1, set()) | same.get(step[1] + 1, set()))] = 1
        return scores


def _neighbours(leaves: Leaves, own: dict[int, list[tuple[int, float]]]) -> dict[int, list[int]]:
    """Return for each leaf the nearest grouped leaves before and after it in its file, outside its document."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for order in (leaves.reading_order, leaves.reading_order[::-1]):
        last: int | None = None
        document, before = "", None
        for leaf in order:
            if leaves.documents[leaf] != document:
                document, before = leaves.documents[leaf], last
            if before is not None and leaves.files[before] == leaves.files[leaf]:
                neighbours[leaf].append(before)
            if leaf in own:
                last = leaf
    return neighbours


def form_groups(leaves: Leaves, parts: Partition, assignment: GroupAssignment, routing: Routing) -> Partition:
    """Return the partition with soft edges and new groups of leaves that fit none; leaves that do not cluster form the pool."""
    novel_leaves, first, unknown = assignment.novel, len(parts.groups), ("",) * len(parts.fields)
    # Without groups, novelty is undefined.
    clusters = _novel_clusters(leaves, assignment, routing) if first and len(novel_leaves) >= routing.found else []
    values = leaves.folded_values(parts.fields)
    cluster_of: dict[int, int] = {}
    for number, own in enumerate(clusters):
        for leaf in own:
            cluster_of.setdefault(leaf, number)
    exclusive = [[leaf for leaf in own if cluster_of[leaf] == number] for number, own in enumerate(clusters)]
    alike = [part for own in exclusive for part in separate_conflicts([[leaf] for leaf in own], values) if len(part) >= routing.found]
    together = sorted(sorted(leaf for part in own for leaf in alike[part]) for own in merge_by_bic(leaves.vectors, alike, routing.seed))
    groups = [Group(f"found {number}: {_central_title(leaves, own)}", unknown, "founded") for number, own in enumerate(together, 1)]
    edges = [Edge(leaf, first + number, 1.0, "founded") for number, own in enumerate(together) for leaf in own]
    rest = sorted(set(novel_leaves) - {edge.leaf for edge in edges})
    if rest:
        edges += [Edge(leaf, first + len(groups), 1.0, "pool") for leaf in rest]
        groups.append(Group(POOL_NAME, unknown, "pool"))
    return Partition(parts.fields, [*parts.groups, *groups], [*assignment.edges, *edges], parts.ungrouped)


def _novel_clusters(leaves: Leaves, assignment: GroupAssignment, routing: Routing) -> list[list[int]]:
    """Cluster novel leaves; a single cluster counts only if it is as cohesive as most groups."""
    novel = assignment.novel
    clusters = [[novel[row] for row in own] for own in cluster(leaves.vectors[list(novel)], routing.seed, routing.reduction).clusters]
    return clusters if len(clusters) > 1 or float(group_profiles(leaves.vectors, [novel]).means[0]) >= assignment.typical_cosine else []


def _central_title(leaves: Leaves, own: Sequence[int]) -> str:
    """Return the title, or document, of the leaf nearest the centre."""
    vectors = leaves.vectors[list(own)]
    similarities = vectors @ vectors.mean(axis=0)
    return leaves.titles[own[int(np.argmax(similarities))]] or leaves.documents[own[int(np.argmax(similarities))]]
