"""The tree of a group: leaves are clustered, each cluster summarized, the summaries clustered again, up to one root (local RAPTOR)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ramify.kinds.hierarchy._clustering import Clusters, KnownValues, Mixture, bisect_vectors, cluster, cluster_constrained, values_conflict
from ramify.kinds.hierarchy.leaves import Leaves, Node, Routing, Tree
from ramify.kinds.hierarchy.summaries import ClusterText, Summarizer, SummaryMaterial, encode_cached
from ramify.tools.embeddings.encoder import Encoder

MAX_CLUSTER_TOKENS = 3500
"""Approximate maximum of tokens in a cluster (RAPTOR's limit for a summary)."""
CHARS_PER_TOKEN = 4
"""Approximate number of characters per token."""
_MAX_RECLUSTERINGS = 3
"""Maximum depth of reclustering a large cluster."""
_MAX_CHAIN_LEAVES = 8
"""Maximum number of leaves in a must-link chain."""


OnProgress = Callable[[float], None]
"""Called with the summarized share of a group, from 0 to 1."""


class BuiltTree(NamedTuple):
    """A tree, and notes on fallbacks."""

    tree: Tree
    notes: tuple[str, ...] = ()


class TreeBuilder:
    """Builds and revises the trees of an index."""

    def __init__(self, leaves: Leaves, encoder: Encoder, summarizer: Summarizer, routing: Routing, known: Sequence[KnownValues]) -> None:
        """known: the folded metadata values of each leaf, from which cannot-links are derived."""
        self._leaves, self._encoder, self._summarizer, self._routing, self._known = leaves, encoder, summarizer, routing, known

    @property
    def made_by(self) -> str:
        """Return the name of the summarizing model, or "extractive"."""
        return self._summarizer.made_by

    async def build(
        self, name: str, own: Sequence[int], on_progress: OnProgress, linked: bool = False, clusters_before: Clusters | None = None
    ) -> BuiltTree:
        """Build the tree of a group; linked: with must-links and cannot-links; clusters_before: lowest clusters to reuse."""
        clusters, notes = (clusters_before, []) if clusters_before else self._cluster_leaves(own, linked)
        tree = await self._leaf_nodes(name, clusters, on_progress)
        top = list(range(len(tree)))
        for _ in range(self._routing.max_levels - 1):
            if len(top) == 1:
                break
            mixture = cluster(np.array([tree[place].vector for place in top]), self._routing.seed, self._routing.reduction)
            notes += [mixture.note] if mixture.note else []
            if len(mixture.clusters) >= len(top):
                break
            top = await self._add_parents(name, tree, [[top[index] for index in places] for places in mixture.clusters])
        if len(top) > 1:
            await self._add_parents(name, tree, [top])
        tree[-1] = tree[-1]._replace(title=name)
        return BuiltTree(tree, tuple(dict.fromkeys(notes)))

    async def revise(self, name: str, tree: Tree, parts: Mapping[int, Clusters], on_progress: OnProgress) -> BuiltTree:
        """Replace lowest clusters of a tree; parts: the new clusters by node position. Only changed summaries are written again."""
        old_nodes = {node.leaves: node for node in tree if not node.children}
        wanted = dict.fromkeys(tuple(own) for clusters in parts.values() for own in clusters)
        new = [list(own) for own in wanted if own not in old_nodes]
        new_nodes = dict(zip(map(tuple, new), await self._leaf_nodes(name, new, on_progress), strict=True))
        nodes = [old_nodes.get(own) or new_nodes[own] for own in wanted]
        place_of = {own: place for place, own in enumerate(wanted)}
        unchanged = {place for own, place in place_of.items() if own in old_nodes}
        now = {place: [place_of[tuple(own)] for own in clusters] for place, clusters in parts.items()}
        parents: dict[tuple[int, ...], int] = {}
        for place, node in enumerate(tree):
            if not node.children:
                continue
            children = tuple(sorted({new for child in node.children for new in now[child]}))
            if len(children) > 1 and children not in parents:
                same = unchanged.issuperset(children) and len(children) == len(node.children)
                parents[children] = len(nodes)
                unchanged |= {len(nodes)} if same else set()
                nodes.append(node._replace(children=children) if same else await self._parent_node(name, nodes, children))
            now[place] = [parents[children]] if len(children) > 1 else list(children)
        if len(now[len(tree) - 1]) > 1:  # the tree had a single cluster
            await self._add_parents(name, nodes, [now[len(tree) - 1]])
        nodes[-1] = nodes[-1]._replace(title=name)
        return BuiltTree(nodes)

    async def _leaf_nodes(self, name: str, clusters: Clusters, on_progress: OnProgress) -> Tree:
        """Return the lowest nodes, one for each cluster."""
        total, done = sum(map(len, clusters)), 0
        every = sorted({place for own in clusters for place in own})
        texts = dict(zip(every, self._leaves.texts(every), strict=True))

        async def node(own: Sequence[int]) -> Node:
            nonlocal done
            made = await self._make_node(name, (), tuple(own), tuple(self._leaf_text(place, texts[place]) for place in own))
            done += len(own)
            on_progress(done / total)
            return made

        return list(await asyncio.gather(*map(node, clusters)))

    def _cluster_leaves(self, own: Sequence[int], linked: bool) -> tuple[Clusters, list[str]]:
        """Return the clusters of a group's leaves, and notes on fallbacks; a small group is one cluster."""
        if len(own) < self._routing.tree:
            return [list(own)], []
        notes: list[str] = []
        clusters: Clusters = []
        for part in bisect_vectors(self._leaves.vectors[list(own)], self._routing.largest, self._routing.seed):
            places = [own[index] for index in part]
            mixture = self._cluster(places, linked)
            notes += [mixture.note] if mixture.note else []
            clusters += [[places[index] for index in one_cluster] for one_cluster in mixture.clusters]
        lengths = dict(zip(own, (len(text) / CHARS_PER_TOKEN for text in self._leaves.texts(own)), strict=True))
        return [part for places in clusters for part in self._split_large(places, lengths, linked)], notes

    def _cluster(self, places: Sequence[int], linked: bool) -> Mixture:
        vectors, seed, reduction = self._leaves.vectors[list(places)], self._routing.seed, self._routing.reduction
        if not linked:
            return cluster(vectors, seed, reduction)
        known = [self._known[place] for place in places]
        return cluster_constrained(vectors, must_links(self._leaves, places, known), known, seed, reduction)

    def _split_large(self, places: list[int], lengths: Mapping[int, float], linked: bool, depth: int = 0) -> Clusters:
        """Recluster what is too long for one summary; split by size where reclustering does not help."""
        parts = int(np.ceil(sum(lengths[place] for place in places) / MAX_CLUSTER_TOKENS))
        if parts <= 1 or len(places) <= 1:
            return [places]
        if depth < _MAX_RECLUSTERINGS and parts > 2:
            clusters = self._cluster(places, linked).clusters
            if len(clusters) > 1 and max(map(len, clusters)) < len(places):
                return [
                    part for own in clusters for part in self._split_large([places[index] for index in own], lengths, linked, depth + 1)
                ]
        size = int(np.ceil(len(places) / parts))
        if linked:
            chains = must_links(self._leaves, places, [self._known[place] for place in places])
            return _pack_chains([[places[index] for index in chain] for chain in chains], size)
        main = self._leaves.vectors[places] @ self._leaves.vectors[places[0]]
        order = [places[index] for index in np.argsort(-main, kind="stable")]
        return [sorted(order[start : start + size]) for start in range(0, len(order), size)]

    def _leaf_text(self, place: int, text: str) -> ClusterText:
        known = self._leaves.metadata[place]
        headings = (str(known.get("title") or ""), *str(known.get("heading") or "").split(" > "))
        return ClusterText(text, place, self._leaves.vectors[place], headings)

    async def _add_parents(self, name: str, tree: Tree, clusters: Sequence[Sequence[int]]) -> list[int]:
        """Add parent nodes to the tree and return the positions of the new top level; a single child needs no parent."""
        several = [children for children in clusters if len(children) > 1]
        alone = [children[0] for children in clusters if len(children) == 1]
        tree += await asyncio.gather(*(self._parent_node(name, tree, children) for children in several))
        return [*alone, *range(len(tree) - len(several), len(tree))]

    async def _parent_node(self, name: str, tree: Tree, children: Sequence[int]) -> Node:
        leaves = tuple(sorted({leaf for child in children for leaf in tree[child].leaves}))
        sentences = [sentence for child in children for sentence in tree[child].summary.sentences]
        vectors = encode_cached(self._encoder, tuple(sentence.text for sentence in sentences)) if sentences else ()
        texts = tuple(ClusterText(sentence.text, sentence.leaf, vector) for sentence, vector in zip(sentences, vectors, strict=True))
        return await self._make_node(name, tuple(children), leaves, texts or tuple(self._leaf_text(leaf, "") for leaf in leaves))

    async def _make_node(self, name: str, children: tuple[int, ...], leaves: tuple[int, ...], texts: tuple[ClusterText, ...]) -> Node:
        material = SummaryMaterial(texts, len(leaves), name)
        title = self._leaves.titles[material.nearest[0].leaf] or name
        summary = await self._summarizer.summarize(material)
        # An empty summary gets the centre of its leaves.
        vector = encode_cached(self._encoder, (summary.text,))[0] if summary.text else material.centre
        return Node(children, leaves, title, summary, vector)


def _pack_chains(chained: Clusters, size: int) -> Clusters:
    """Pack chains, in order, into clusters of about `size` leaves."""
    clusters: Clusters = [[]]
    for chain in chained:
        if clusters[-1] and len(clusters[-1]) + len(chain) > size:
            clusters.append([])
        clusters[-1] = sorted([*clusters[-1], *chain])
    return clusters


def must_links(leaves: Leaves, places: Sequence[int], known: Sequence[KnownValues]) -> Clusters:
    """Return chains of leaves to keep together: consecutive steps, and parts of one step's document, without conflicting metadata."""
    number = {(*step, leaves.files[place]): index for index, place in enumerate(places) if (step := leaves.steps[place])}
    first: dict[str, int] = {}
    own = [[index] for index in range(len(places))]
    for one, place in enumerate(places):
        step = leaves.steps[place]
        if step is None:
            continue
        before = number.get((step[0], step[1] - 1, leaves.files[place]))
        for other in (before, first.setdefault(leaves.documents[place], one)):
            if other is None or own[other] is own[one] or len(own[other]) + len(own[one]) > _MAX_CHAIN_LEAVES:
                continue
            if not any(values_conflict(known[a], known[b]) for a in own[other] for b in own[one]):
                chain = own[other] + own[one]
                for member in chain:
                    own[member] = chain
    return [sorted(chain) for index, chain in enumerate(own) if index == min(chain)]
