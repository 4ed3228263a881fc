"""The trees of all groups: as an earlier build has kept them, grown, or renewed where something has changed; each is kept at once."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.hierarchy.clustering import Clusters, Known
from ramify.tools.hierarchy.groups_and_nodes import Node, Said, Summary, Tree
from ramify.tools.hierarchy.leaves import Leaves
from ramify.tools.hierarchy.tree import Grower, Grown, Tell
from ramify.tools.index.progress import Progress
from ramify.tools.knowledge.kept_replies import Work

_AT_ONCE = 8
"""Groups that a model sums up at the same time; quoting does one after another."""
DRIFT = 0.1
"""From this share of changed leaves of a group on, growing its tree anew is advised."""


class Last(NamedTuple):
    """How a group was at the end of the last build: the key of its tree before repair, its lowest clusters by ids of leaves, its drift."""

    key: str = ""
    lowest: Sequence[Sequence[str]] = ()
    drift: float = 0.0


class Standing(NamedTuple):
    """The tree of a group, the keys it is kept under now and was before repair, and how much the group has changed since clustered."""

    key: str
    first: str
    tree: Tree
    notes: tuple[str, ...] = ()
    drift: float = 0.0


class Change(NamedTuple):
    """The leaves of a group to repair, and new clusters for its lowest nodes; None: it is clustered anew, with constraints."""

    own: Sequence[int]
    parts: Mapping[int, Clusters] | None = None


class Trees:
    """The tree of each group so far."""

    def __init__(self, leaves: Leaves, grower: Grower, kept: "Kept", rebuild: bool, progress: Progress) -> None:
        self.leaves = leaves
        self._grower, self._kept, self._rebuild, self._progress = grower, kept, rebuild, progress
        self._made: dict[str, Standing] = {}
        self.grown: set[str] = set()
        """Groups of which a summary was made in this build."""

    def of(self, names: Sequence[str]) -> dict[int, Tree]:
        """Return the tree of each group by its number."""
        return {group: self._made[name].tree for group, name in enumerate(names)}

    async def grow(self, members: Mapping[str, Sequence[int]]) -> None:
        """Grow the tree of each group, unless it is kept."""
        await self._each({name: len(own) for name, own in members.items()}, lambda name, tell: self._first(name, members[name], tell))

    async def renew(self, changes: Mapping[str, Change]) -> None:
        """Repair the trees of some groups."""
        sizes = {name: len(change.own) for name, change in changes.items()}
        await self._each(sizes, lambda name, tell: self._repaired(name, changes[name], tell))

    async def _each(self, sizes: Mapping[str, int], make: Callable[[str, Tell], Awaitable[Standing]]) -> None:
        free, shares, total = asyncio.Semaphore(_AT_ONCE), dict.fromkeys(sizes, 0.0), sum(sizes.values())

        def tell(name: str, share: float) -> None:
            shares[name] = share
            self._progress(round(sum(share * sizes[one] for one, share in shares.items())), total, "passages in groups")

        async def made(name: str) -> Standing:
            async with free:
                standing = await make(name, partial(tell, name))
            tell(name, 1.0)
            return standing

        self._made.update(zip(sizes, await asyncio.gather(*map(made, sizes)), strict=True))

    async def _first(self, name: str, own: Sequence[int], tell: Tell) -> Standing:
        """Take the tree of a group that is as it was, grow a new one, or go on from what it was."""
        fresh = self._kept.key(name, own)
        last = Last() if self._rebuild else self._kept.latest(name)
        if last.key.startswith(fresh) and (held := self._kept.get(last.key)):
            return Standing(last.key, last.key, *held, last.drift)
        if held := self._kept.get(fresh):
            return Standing(fresh, fresh, *held)
        before, changed = self._kept.places(last.lowest, own)
        clusters = list(filter(None, following(self.leaves, own, before)))
        key = self._kept.key(name, own, before=last.lowest)
        made = await self._keeping(name, key, lambda: self._grower.grow(name, own, tell, kept=clusters))
        return Standing(key, key, *made, round(last.drift + changed, 4) if clusters else 0.0)

    async def _repaired(self, name: str, change: Change, tell: Tell) -> Standing:
        standing, parts = self._made[name], change.parts
        if parts is None:
            key = self._kept.key(name, change.own, linked=True)
            made = await self._keeping(name, key, lambda: self._grower.grow(name, change.own, tell, linked=True))
        else:
            key = self._kept.revised(standing.key, parts)
            made = await self._keeping(name, key, lambda: self._grower.revise(name, standing.tree, parts, tell))
        return standing._replace(key=key, tree=made.tree, notes=tuple(dict.fromkeys((*standing.notes, *made.notes))))

    async def _keeping(self, name: str, key: str, grow: Callable[[], Awaitable[Grown]]) -> Grown:
        """Return the tree kept under a key, or make and keep it."""
        if held := self._kept.get(key):
            return held
        made = await grow()
        if all(node.summary.made_by == self._grower.made_by for node in made.tree):  # what was quoted instead is asked for again
            self._kept.put(key, made)
        self.grown.add(name)
        return made

    @property
    def drifted(self) -> dict[str, float]:
        """Return the groups that have changed much since they were clustered, with the share."""
        return {name: one.drift for name, one in self._made.items() if one.drift > DRIFT}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what had to be done otherwise."""
        return tuple(f"{name}: {note}" for name, one in self._made.items() for note in one.notes)

    def settle(self) -> None:
        """Keep how the groups are at the end of a build: a further one goes on from that, an interrupted one does not."""
        for name, one in self._made.items():
            self._kept.settle(name, one)


class Kept:
    """Keep trees by what they are grown from, and the last one of each group."""

    def __init__(self, work: Work, leaves: Leaves, known: Sequence[Known], made: Sequence[str]) -> None:
        """Keep trees; made: what else a tree depends on: settings, the embedding, who sums up."""
        self._work, self._leaves, self._made = work, leaves, made
        self._places = {id: place for place, id in enumerate(leaves.ids)}
        rows = zip(leaves.ids, leaves.titles, leaves.vectors, strict=True)
        self._digests = [hashlib.sha256(f"{id}\0{title}".encode() + vector.tobytes()).digest() for id, title, vector in rows]
        self._known = known

    def key(self, name: str, own: Sequence[int], linked: bool = False, before: Sequence[Sequence[str]] = ()) -> str:
        """Return the key of a group's tree: another one where a leaf, a setting, the name or what it goes on from is another."""
        values = [[sorted(field) for field in self._known[place]] for place in own] if linked else None
        content = hashlib.sha256(json.dumps([*self._made, name, values]).encode())
        for place in own:
            content.update(self._digests[place])
        earlier = f" {hashlib.sha256(json.dumps(before).encode()).hexdigest()}" if before else ""
        return f"tree {content.hexdigest()}{earlier}"

    def revised(self, key: str, parts: Mapping[int, Clusters]) -> str:
        """Return the key of a tree that was revised."""
        clusters = {place: [[self._digests[leaf].hex() for leaf in own] for own in found] for place, found in sorted(parts.items())}
        return f"{key} {hashlib.sha256(json.dumps(clusters).encode()).hexdigest()}"

    def get(self, key: str) -> Grown | None:
        """Return the tree kept under a key; none where a leaf of it is gone."""
        held = self._work.get(key) if key else None
        tree = self._read(held) if held else None
        return Grown(tree, tuple(held["notes"])) if held and tree else None

    def put(self, key: str, made: Grown) -> None:
        """Keep a tree."""
        self._work.put(key, {"nodes": self._written(made.tree), "notes": made.notes})

    def settle(self, name: str, standing: Standing) -> None:
        """Keep how a group is now."""
        lowest = [[self._leaves.ids[leaf] for leaf in node.leaves] for node in standing.tree if not node.children]
        self._work.put(self._latest(name), {"key": standing.first, "lowest": lowest, "drift": standing.drift})

    def latest(self, name: str) -> Last:
        """Return how a group was at the end of the last build."""
        held = self._work.get(self._latest(name))
        return Last(**held) if held else Last()

    def places(self, clusters: Sequence[Sequence[str]], own: Sequence[int]) -> tuple[Clusters, float]:
        """Return clusters by the places of their leaves, and how many leaves of the group are new or gone, as a share of those."""
        known, now = {id for cluster in clusters for id in cluster}, {self._leaves.ids[place] for place in own}
        return [[self._places[id] for id in cluster if id in self._places] for cluster in clusters], len(known ^ now) / max(1, len(known))

    def _latest(self, name: str) -> str:
        return f"latest {hashlib.sha256(json.dumps([*self._made, name]).encode()).hexdigest()}"

    def _written(self, tree: Tree) -> list[dict[str, Any]]:
        ids = self._leaves.ids
        return [
            {
                "children": node.children,
                "leaves": [] if node.children else [ids[leaf] for leaf in node.leaves],
                "title": node.title,
                "said": [[one.text, ids[one.leaf]] for one in node.summary.said],
                "made_by": node.summary.made_by,
                "support": node.summary.support,
                "vector": base64.b64encode(node.vector.astype("<f4").tobytes()).decode(),
            }
            for node in tree
        ]

    def _read(self, held: dict[str, Any]) -> Tree | None:
        place_of = self._places
        tree: Tree = []
        for node in held["nodes"]:
            children = tuple(node["children"])
            if any(id not in place_of for id in (*node["leaves"], *(id for _, id in node["said"]))):
                return None
            own = [place_of[id] for id in node["leaves"]]
            leaves = tuple(sorted({leaf for child in children for leaf in tree[child].leaves} if children else own))
            said = tuple(Said(text, place_of[id]) for text, id in node["said"])
            vector: Matrix = np.frombuffer(base64.b64decode(node["vector"]), dtype="<f4").astype(np.float32)
            tree.append(Node(children, leaves, node["title"], Summary(said, node["made_by"], node["support"]), vector))
        return tree


def following(leaves: Leaves, own: Sequence[int], clusters: Clusters) -> Clusters:
    """Bring clusters to the leaves that their group has now: others leave, new ones join the nearest; one may be empty then."""
    there, known = set(own), {place for cluster in clusters for place in cluster}
    found = [[place for place in cluster if place in there] for cluster in clusters]
    left = [cluster for cluster in found if cluster]
    if left:
        centres = unit_rows(np.array([leaves.vectors[cluster].mean(axis=0) for cluster in left]), leaves.vectors.shape[1])
        for place in own:
            if place not in known:
                left[int(np.argmax(centres @ leaves.vectors[place]))].append(place)
    return [sorted(cluster) for cluster in found]
