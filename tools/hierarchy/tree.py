"""The tree of a group: its leaves clustered, each cluster summed up, the summaries clustered in turn, up to one root (local RAPTOR)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.hierarchy._clustering import Clusters, Known, Mixture, bisected, cluster, constrained, differ
from ramify.tools.hierarchy.leaves import Leaves, Node, Routing, Tree
from ramify.tools.hierarchy.summaries import Material, Source, Summarizer, encoded

TOKENS = 3500
"""Most tokens of the texts of a cluster, about: what a summary can be made from (RAPTOR's own limit)."""
LETTERS = 4
"""Characters of a token, about."""
_DEEPEST = 3
"""How often a cluster is clustered again, at most."""
_LONGEST = 8
"""Leaves that must stay together, at most."""


Tell = Callable[[float], None]
"""Called with the share of a group that is summed up."""


class Grown(NamedTuple):
    """A tree, and what had to be done otherwise."""

    tree: Tree
    notes: tuple[str, ...] = ()


class Grower:
    """Grow the trees of an index."""

    def __init__(self, leaves: Leaves, encoder: Encoder, summarizer: Summarizer, how: Routing, known: Sequence[Known]) -> None:
        """Grow trees; known: the metadata values of each leaf, which cannot-links come from."""
        self._leaves, self._encoder, self._summarizer, self._how, self._known = leaves, encoder, summarizer, how, known

    @property
    def made_by(self) -> str:
        """Name who sums up."""
        return self._summarizer.made_by

    async def grow(self, name: str, own: Sequence[int], tell: Tell, linked: bool = False, kept: Clusters | None = None) -> Grown:
        """Grow the tree of a group; linked: with must-links and cannot-links; kept: the lowest clusters as they were."""
        clusters, notes = (kept, []) if kept else self._lowest(own, linked)
        tree = await self._of_clusters(name, clusters, tell)
        top = list(range(len(tree)))
        for _ in range(self._how.max_levels - 1):
            if len(top) == 1:
                break
            found = cluster(np.array([tree[place].vector for place in top]), self._how.seed, self._how.reduction)
            notes += [found.note] if found.note else []
            if len(found.clusters) >= len(top):
                break
            top = await self._above(name, tree, [[top[one] for one in places] for places in found.clusters])
        if len(top) > 1:
            await self._above(name, tree, [top])
        tree[-1] = tree[-1]._replace(title=name)
        return Grown(tree, tuple(dict.fromkeys(notes)))

    async def revise(self, name: str, tree: Tree, parts: Mapping[int, Clusters], tell: Tell) -> Grown:
        """Put other clusters in the place of the lowest ones of a tree; only summaries of what has changed are made again."""
        kept = {node.leaves: node for node in tree if not node.children}
        wanted = dict.fromkeys(tuple(own) for clusters in parts.values() for own in clusters)
        new = [list(own) for own in wanted if own not in kept]
        fresh = dict(zip(map(tuple, new), await self._of_clusters(name, new, tell), strict=True))
        made = [kept.get(own) or fresh[own] for own in wanted]
        place_of = {own: place for place, own in enumerate(wanted)}
        unchanged = {place for own, place in place_of.items() if own in kept}
        now = {place: [place_of[tuple(own)] for own in clusters] for place, clusters in parts.items()}
        parents: dict[tuple[int, ...], int] = {}
        for place, node in enumerate(tree):
            if not node.children:
                continue
            children = tuple(sorted({new for child in node.children for new in now[child]}))
            if len(children) > 1 and children not in parents:
                same = unchanged.issuperset(children) and len(children) == len(node.children)
                parents[children] = len(made)
                unchanged |= {len(made)} if same else set()
                made.append(node._replace(children=children) if same else await self._parent(name, made, children))
            now[place] = [parents[children]] if len(children) > 1 else list(children)
        if len(now[len(tree) - 1]) > 1:  # one cluster was the whole tree
            await self._above(name, made, [now[len(tree) - 1]])
        made[-1] = made[-1]._replace(title=name)
        return Grown(made)

    async def _of_clusters(self, name: str, clusters: Clusters, tell: Tell) -> Tree:
        """Make the lowest nodes."""
        total, done = sum(map(len, clusters)), 0
        every = sorted({place for own in clusters for place in own})
        texts = dict(zip(every, self._leaves.texts(every), strict=True))

        async def node(own: Sequence[int]) -> Node:
            nonlocal done
            made = await self._node(name, (), tuple(own), tuple(self._of_leaf(place, texts[place]) for place in own))
            done += len(own)
            tell(done / total)
            return made

        return list(await asyncio.gather(*map(node, clusters)))

    def _lowest(self, own: Sequence[int], linked: bool) -> tuple[Clusters, list[str]]:
        """Cluster the leaves of a group; one of few leaves is one cluster."""
        if len(own) < self._how.tree:
            return [list(own)], []
        notes: list[str] = []
        clusters: Clusters = []
        for part in bisected(self._leaves.vectors[list(own)], self._how.largest, self._how.seed):
            places = [own[one] for one in part]
            found = self._clustered(places, linked)
            notes += [found.note] if found.note else []
            clusters += [[places[one] for one in one_cluster] for one_cluster in found.clusters]
        lengths = dict(zip(own, (len(text) / LETTERS for text in self._leaves.texts(own)), strict=True))
        return [part for places in clusters for part in self._cut(places, lengths, linked)], notes

    def _clustered(self, places: Sequence[int], linked: bool) -> Mixture:
        vectors, seed, reduction = self._leaves.vectors[list(places)], self._how.seed, self._how.reduction
        if not linked:
            return cluster(vectors, seed, reduction)
        known = [self._known[place] for place in places]
        return constrained(vectors, must_links(self._leaves, places, known), known, seed, reduction)

    def _cut(self, places: list[int], lengths: Mapping[int, float], linked: bool, depth: int = 0) -> Clusters:
        """Cluster again what is too much for one summary; what that does not cut is cut by size."""
        parts = int(np.ceil(sum(lengths[place] for place in places) / TOKENS))
        if parts <= 1 or len(places) <= 1:
            return [places]
        if depth < _DEEPEST and parts > 2:
            found = self._clustered(places, linked).clusters
            if len(found) > 1 and max(map(len, found)) < len(places):
                return [part for own in found for part in self._cut([places[one] for one in own], lengths, linked, depth + 1)]
        size = int(np.ceil(len(places) / parts))
        if linked:
            chains = must_links(self._leaves, places, [self._known[place] for place in places])
            return _filled([[places[one] for one in chain] for chain in chains], size)
        main = self._leaves.vectors[places] @ self._leaves.vectors[places[0]]
        order = [places[one] for one in np.argsort(-main, kind="stable")]
        return [sorted(order[start : start + size]) for start in range(0, len(order), size)]

    def _of_leaf(self, place: int, text: str) -> Source:
        known = self._leaves.metadata[place]
        headings = (str(known.get("title") or ""), *str(known.get("heading") or "").split(" > "))
        return Source(text, place, self._leaves.vectors[place], headings)

    async def _above(self, name: str, tree: Tree, clusters: Sequence[Sequence[int]]) -> list[int]:
        """Add the parents of some nodes, and give their places; one alone needs no parent."""
        several = [children for children in clusters if len(children) > 1]
        alone = [children[0] for children in clusters if len(children) == 1]
        tree += await asyncio.gather(*(self._parent(name, tree, children) for children in several))
        return [*alone, *range(len(tree) - len(several), len(tree))]

    async def _parent(self, name: str, tree: Tree, children: Sequence[int]) -> Node:
        leaves = tuple(sorted({leaf for child in children for leaf in tree[child].leaves}))
        said = [one for child in children for one in tree[child].summary.said]
        vectors = encoded(self._encoder, tuple(one.text for one in said)) if said else ()
        sources = tuple(Source(one.text, one.leaf, vector) for one, vector in zip(said, vectors, strict=True))
        return await self._node(name, tuple(children), leaves, sources or tuple(self._of_leaf(leaf, "") for leaf in leaves))

    async def _node(self, name: str, children: tuple[int, ...], leaves: tuple[int, ...], sources: tuple[Source, ...]) -> Node:
        material = Material(sources, len(leaves), name)
        title = self._leaves.titles[material.nearest[0].leaf] or name
        summary = await self._summarizer.summarize(material)
        # Where there is nothing to sum up, the centre of the leaves stands for it.
        vector = encoded(self._encoder, (summary.text,))[0] if summary.text else material.centre
        return Node(children, leaves, title, summary, vector)


def _filled(chained: Clusters, size: int) -> Clusters:
    """Put chains together, in their order, until so many leaves are reached."""
    found: Clusters = [[]]
    for chain in chained:
        if found[-1] and len(found[-1]) + len(chain) > size:
            found.append([])
        found[-1] = sorted([*found[-1], *chain])
    return found


def must_links(leaves: Leaves, places: Sequence[int], known: Sequence[Known]) -> Clusters:
    """Group what must stay together: consecutive steps, and the parts of a document that is a step, up to a few, if no metadata differ."""
    number = {(*step, leaves.files[place]): one for one, place in enumerate(places) if (step := leaves.steps[place])}
    first: dict[str, int] = {}
    own = [[one] for one in range(len(places))]
    for one, place in enumerate(places):
        step = leaves.steps[place]
        if step is None:
            continue
        before = number.get((step[0], step[1] - 1, leaves.files[place]))
        for other in (before, first.setdefault(leaves.documents[place], one)):
            if other is None or own[other] is own[one] or len(own[other]) + len(own[one]) > _LONGEST:
                continue
            if not any(differ(known[a], known[b]) for a in own[other] for b in own[one]):
                joined = own[other] + own[one]
                for member in joined:
                    own[member] = joined
    return [sorted(chain) for one, chain in enumerate(own) if one == min(chain)]
