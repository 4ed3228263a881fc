"""Soft membership: the groups of leaves whose metadata are missing or do not fit, by a log-linear posterior (meta-guided RAG §4).

score(g|i) = beta z + alpha match + gamma adjacency + delta document + kappa step + log((n_g + 1) / (N + G)). z is the cosine to the group's
centre in the group's own deviations: on raw cosines a softmax over many groups is nearly uniform.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.hierarchy.groups_and_nodes import Edge, Routing
from ramify.tools.hierarchy.leaves import Leaves, folded
from ramify.tools.hierarchy.partition import Partition
from ramify.tools.hierarchy.profiles import Profiles, profiles

Scores = NDArray[np.float64]
_BLOCK = 4096
_MANY = 1000
"""Groups from which on only the nearest are weighed for a leaf."""


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
    members = members_of(parts.edges, len(parts.groups))
    like = profiles(leaves.vectors, members, how.novelty)
    posterior = _Posterior(leaves, parts, like, how)
    edges, novel = list(parts.edges), []
    for block in _blocks(parts.pool):
        newness = like.novelty(leaves.vectors[block])
        for leaf, new, scores in zip(block, newness, posterior.of(block), strict=True):
            kept = _likeliest(scores, how.soft_k, how.least)
            edges += [Edge(leaf, group, weight, "novel" if new < 0 else "soft") for group, weight in kept]
            novel += [leaf] if new < 0 else []
    astray = _astray(leaves, parts, like, how)
    for block in _blocks(sorted(astray)):
        for leaf, scores in zip(block, posterior.of(block), strict=True):
            scores[list(astray[leaf])] = -np.inf
            edges += [Edge(leaf, group, weight, "escape") for group, weight in _likeliest(scores, how.soft_k, how.least)]
    return Routed(edges, novel, float(np.median(like.means)))


def members_of(edges: Sequence[Edge], groups: int) -> list[list[int]]:
    """List the leaves of each group, in order."""
    found: list[list[int]] = [[] for _ in range(groups)]
    for edge in edges:
        found[edge.group].append(edge.leaf)
    return [sorted(set(own)) for own in found]


def alternatives(leaves: Leaves, parts: Partition, places: Sequence[int], how: Routing) -> list[list[tuple[int, float]]]:
    """Give the likeliest groups of some leaves with their weights, whatever groups these are in."""
    like = profiles(leaves.vectors, members_of(parts.edges, len(parts.groups)), how.novelty)
    posterior = _Posterior(leaves, parts, like, how)
    return [_likeliest(scores, how.soft_k + 1, how.least) for block in _blocks(places) for scores in posterior.of(block)]


def _astray(leaves: Leaves, parts: Partition, like: Profiles, how: Routing) -> dict[int, set[int]]:
    """List the leaves far from the group that their metadata say, with their groups."""
    found: dict[int, set[int]] = defaultdict(set)
    own = [edge for edge in parts.edges if edge.kind == "primary"]
    for start in range(0, len(own), _BLOCK):
        block = own[start : start + _BLOCK]
        places, groups = np.array([edge.leaf for edge in block]), np.array([edge.group for edge in block])
        cosines = np.einsum("ij,ij->i", leaves.vectors[places], like.centres[groups])
        z = (cosines - like.means[groups]) / like.deviations[groups]
        for edge, value in zip(block, z, strict=True):
            if value < -how.escape:
                found[edge.leaf].add(edge.group)
    return found if len(parts.groups) > 1 else {}


def _likeliest(scores: Scores, most: int, least: float) -> list[tuple[int, float]]:
    """Give the best groups, the share of each by softmax; those below the least share are dropped."""
    best = [int(group) for group in np.lexsort((np.arange(len(scores)), -scores))[:most] if np.isfinite(scores[group])]
    if not best:
        return []
    shares = np.exp(scores[best] - scores[best[0]])
    shares /= shares.sum()
    return [(group, round(float(share), 6)) for group, share in zip(best, shares, strict=True) if share >= least]


def _blocks(places: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(places), _BLOCK):
        yield list(places[start : start + _BLOCK])


class _Posterior:
    """Scores of groups for leaves."""

    def __init__(self, leaves: Leaves, parts: Partition, like: Profiles, how: Routing) -> None:
        self._leaves, self._parts, self._like, self._how = leaves, parts, like, how
        sizes = np.bincount([edge.group for edge in parts.edges], minlength=len(parts.groups))
        self._prior = np.log((sizes + 1) / (len(leaves) + len(parts.groups)))
        self._values = leaves.values(parts.fields) if parts.groups[0].key else []
        self._own: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for edge in parts.edges:
            self._own[edge.leaf].append((edge.group, edge.weight))
        self._keys = [np.array([group.key[field] if group.key else "" for group in parts.groups]) for field in range(len(parts.fields))]
        self._pools = [number for number, group in enumerate(parts.groups) if group.kind == "pool"]
        self._around = _neighbours(leaves, self._own)
        self._together: dict[str, list[int]] = defaultdict(list)
        for leaf, document in enumerate(leaves.documents):
            self._together[document].append(leaf)
        self._steps: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for leaf, groups in self._own.items():
            if step := leaves.steps[leaf]:
                self._steps[step[0]][step[1]].update(group for group, _ in groups)

    def of(self, block: Sequence[int]) -> Iterator[Scores]:
        """Yield the scores of all groups for each leaf of a block."""
        how = self._how
        z = self._like.z(self._leaves.vectors[list(block)])
        for leaf, near in zip(block, z, strict=True):
            scores = how.beta * near + self._prior
            if len(scores) > _MANY:
                far = np.argsort(-near, kind="stable")[how.candidates :]
                scores[far] = -np.inf
            for field, keys in enumerate(self._keys):
                told = {folded(value) for value in self._values[leaf][field]} if self._values else set()
                if told:
                    scores += how.alpha * np.where(keys == "", 0, np.where(np.isin(keys, sorted(told)), 1, -1))
            self._add(scores, how.gamma, self._around.get(leaf, ()))
            self._add(scores, how.delta, [other for other in self._together[self._leaves.documents[leaf]] if other != leaf])
            scores += how.kappa * self._continued(leaf)
            scores[self._pools] = -np.inf
            yield scores

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
