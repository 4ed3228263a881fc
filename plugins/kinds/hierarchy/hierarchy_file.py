"""The hierarchy on disk, and the cache of trees reused by the next build."""

import asyncio
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from ramify.kinds.hierarchy._clustering import Clusters, KnownValues
from ramify.kinds.hierarchy.leaves import (
    Edge,
    Group,
    GroupDiagnosis,
    GroupMeasures,
    Leaves,
    Node,
    Repair,
    Summary,
    SummarySentence,
    Tree,
    decode_vector,
    encode_vector,
)
from ramify.kinds.hierarchy.tree import BuiltTree, OnProgress, TreeBuilder
from ramify.kinds.knowledge.build import ReplyStore
from ramify.tools.embeddings.encoder import unit_rows
from ramify.tools.errors import IndexingError
from ramify.tools.index.manifest import repair_remedy
from ramify.tools.index.passage_store import open_readonly
from ramify.tools.index.progress import Progress

HIERARCHY = "hierarchy.zlib"
EDITION = "1"
"""Version of the content: incremented when older files can no longer be read."""
_MAX_BYTES = 2**30
"""Maximum size of the decompressed content."""
_SQLITE = b"SQLite format 3\0"
"""The first bytes of a file of an earlier version."""


class HierarchyContent(NamedTuple):
    """The content of a hierarchy file."""

    fields: tuple[str, ...]
    ids: Sequence[str]
    titles: Sequence[str]
    """Folded titles of the leaves, matched with questions."""
    groups: Sequence[Group]
    edges: Sequence[Edge]
    trees: Mapping[int, Tree]
    diagnoses: Sequence[GroupDiagnosis]
    repairs: Sequence[Repair]
    facts: Mapping[str, str]


_ADAPTER = TypeAdapter(HierarchyContent)


def write_hierarchy_file(path: Path, content: HierarchyContent) -> None:
    """Write the content; the same content gives the same file."""
    edges = {(edge.leaf, edge.group, edge.kind): edge for edge in content.edges}
    ordered = content._replace(
        edges=[edges[key] for key in sorted(edges)],
        trees=dict(sorted(content.trees.items())),
        facts=dict(sorted({**content.facts, "edition": EDITION}.items())),
    )
    path.write_bytes(zlib.compress(_ADAPTER.dump_json(ordered)))


def read_hierarchy_file(path: Path) -> HierarchyContent:
    """Read a hierarchy file; IndexingError if it is damaged or was written by another version."""
    try:
        stored = path.read_bytes()
        if stored.startswith(_SQLITE):
            content = _read_tables(path)
        else:
            unpacked = zlib.decompressobj().decompress(stored, _MAX_BYTES)
            content = _ADAPTER.validate_json(unpacked)
    except (OSError, ValueError, zlib.error, sqlite3.Error) as error:
        raise IndexingError(f"{str(path)!r} is damaged ({type(error).__name__})", repair_remedy(path.parent)) from error
    if content.facts.get("edition") != EDITION:
        what = f"the groups in {str(path.parent)!r} were made by another version of ramify"
        raise IndexingError(what, "rebuild them: `ramify index --kind hierarchy --out DIR`")
    return content


def _read_tables(path: Path) -> HierarchyContent:
    """Read a file of an earlier version, which has tables."""
    with closing(open_readonly(path)) as database:

        def rows(table: str, columns: str = "*", order: str = "1, 2, 3") -> list[Any]:
            return database.execute(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()

        def lists(table: str, columns: str = "*", order: str = "1, 2, 3") -> dict[Any, list[Any]]:
            grouped: dict[Any, list[Any]] = {}
            for *key, value in rows(table, columns, order):
                grouped.setdefault(tuple(key), []).append(value)
            return grouped

        keys, children, below = lists("keys", "grp, value", "grp, field"), lists("children"), lists("below")
        sentences: dict[Any, list[SummarySentence]] = {}
        for group, place, _, text, leaf in rows("said"):
            sentences.setdefault((group, place), []).append(SummarySentence(text, leaf))
        trees: dict[int, Tree] = {}
        for group, place, _, title, made_by, support, vector in rows("nodes"):
            tree, own = trees.setdefault(group, []), tuple(children.get((group, place), ()))
            leaves = sorted({leaf for child in own for leaf in tree[child].leaves}) if own else below.get((group, place), [])
            summary = Summary(tuple(sentences.get((group, place), ())), made_by, support)
            tree.append(Node(own, tuple(leaves), title, summary, decode_vector(vector)))
        return HierarchyContent(
            tuple(name for _, name in rows("fields", order="1")),
            [id for _, id, _ in rows("leaves", order="1")],
            [title for _, _, title in rows("leaves", order="1")],
            [Group(name, tuple(keys.get((number,), ())), kind) for number, name, kind in rows("groups")],
            [Edge(*row) for row in rows("edges", "leaf, grp, weight, kind", "1, 2, 4")],
            trees,
            [GroupDiagnosis(leaves, GroupMeasures(*of), tuple(flags.split())) for _, leaves, *of, flags in rows("diagnostics")],
            [Repair(*row) for _, *row in rows("repairs")],
            dict(rows("facts", order="1")),
        )


_MAX_PARALLEL_GROUPS = 8
"""Groups summarized in parallel by a model; extractive summaries are sequential."""
MAX_DRIFT = 0.1
"""Share of changed leaves of a group above which rebuilding its tree is recommended."""


class PreviousState(NamedTuple):
    """A group's state after the last build: the key of its unrepaired tree, its lowest clusters by leaf ids, and its drift."""

    key: str = ""
    lowest: Sequence[Sequence[str]] = ()
    drift: float = 0.0


class GroupState(NamedTuple):
    """A group's tree with its cache key now and before repair, notes, and drift: the share of leaves changed since clustering."""

    key: str
    initial_key: str
    tree: Tree
    notes: tuple[str, ...] = ()
    drift: float = 0.0


class GroupRepair(NamedTuple):
    """A planned repair: the group's leaves, and new clusters by lowest node; None to recluster with constraints."""

    leaves: Sequence[int]
    clusters: Mapping[int, Clusters] | None = None


class GroupTrees:
    """The trees of all groups during a build."""

    def __init__(self, leaves: Leaves, builder: TreeBuilder, cache: "TreeCache", rebuild: bool, progress: Progress) -> None:
        self.leaves = leaves
        self._builder, self._cache, self._rebuild, self._progress = builder, cache, rebuild, progress
        self._states: dict[str, GroupState] = {}
        self.rebuilt: set[str] = set()
        """Groups with a summary written in this build."""

    def by_group(self, names: Sequence[str]) -> dict[int, Tree]:
        """Return the trees by group number."""
        return {group: self._states[name].tree for group, name in enumerate(names)}

    async def build(self, members: Mapping[str, Sequence[int]]) -> None:
        """Build the tree of each group, unless it is cached."""
        await self._run_all(
            {name: len(own) for name, own in members.items()},
            lambda name, on_progress: self._initial_tree(name, members[name], on_progress),
        )

    async def repair(self, repairs: Mapping[str, GroupRepair]) -> None:
        """Repair the trees of some groups."""
        sizes = {name: len(repair.leaves) for name, repair in repairs.items()}
        await self._run_all(sizes, lambda name, on_progress: self._repair_tree(name, repairs[name], on_progress))

    async def _run_all(self, sizes: Mapping[str, int], make: Callable[[str, OnProgress], Awaitable[GroupState]]) -> None:
        semaphore, shares, total = asyncio.Semaphore(_MAX_PARALLEL_GROUPS), dict.fromkeys(sizes, 0.0), sum(sizes.values())

        def report(name: str, share: float) -> None:
            shares[name] = share
            self._progress(round(sum(share * sizes[group] for group, share in shares.items())), total, "passages in groups")

        async def make_limited(name: str) -> GroupState:
            async with semaphore:
                state = await make(name, partial(report, name))
            report(name, 1.0)
            return state

        self._states.update(zip(sizes, await asyncio.gather(*map(make_limited, sizes)), strict=True))

    async def _initial_tree(self, name: str, own: Sequence[int], on_progress: OnProgress) -> GroupState:
        """Return the cached tree of an unchanged group, a new tree, or one built from the previous clusters."""
        key_of_new = self._cache.tree_key(name, own)
        previous = PreviousState() if self._rebuild else self._cache.previous_state(name)
        if previous.key.startswith(key_of_new) and (cached := self._cache.get(previous.key)):
            return GroupState(previous.key, previous.key, *cached, previous.drift)
        if cached := self._cache.get(key_of_new):
            return GroupState(key_of_new, key_of_new, *cached)
        before, changed = self._cache.locate_clusters(previous.lowest, own)
        clusters = list(filter(None, update_clusters(self.leaves, own, before)))
        key = self._cache.tree_key(name, own, before=previous.lowest)
        made = await self._cached_or_built(name, key, lambda: self._builder.build(name, own, on_progress, clusters_before=clusters))
        return GroupState(key, key, *made, round(previous.drift + changed, 4) if clusters else 0.0)

    async def _repair_tree(self, name: str, repair: GroupRepair, on_progress: OnProgress) -> GroupState:
        state, parts = self._states[name], repair.clusters
        if parts is None:
            key = self._cache.tree_key(name, repair.leaves, linked=True)
            made = await self._cached_or_built(name, key, lambda: self._builder.build(name, repair.leaves, on_progress, linked=True))
        else:
            key = self._cache.revised_key(state.key, parts)
            made = await self._cached_or_built(name, key, lambda: self._builder.revise(name, state.tree, parts, on_progress))
        return state._replace(key=key, tree=made.tree, notes=tuple(dict.fromkeys((*state.notes, *made.notes))))

    async def _cached_or_built(self, name: str, key: str, build: Callable[[], Awaitable[BuiltTree]]) -> BuiltTree:
        """Return the cached tree of a key, or build and cache it."""
        if cached := self._cache.get(key):
            return cached
        made = await build()
        if all(node.summary.made_by == self._builder.made_by for node in made.tree):  # failed summaries are requested again
            self._cache.put(key, made)
        self.rebuilt.add(name)
        return made

    @property
    def drifted(self) -> dict[str, float]:
        """Return the share of changed leaves of the groups above `MAX_DRIFT`."""
        return {name: state.drift for name, state in self._states.items() if state.drift > MAX_DRIFT}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on fallbacks, with the groups' names."""
        return tuple(f"{name}: {note}" for name, state in self._states.items() for note in state.notes)

    def save(self) -> None:
        """Save the states of all groups at the end of a build, for the next one; an interrupted build saves none."""
        for name, state in self._states.items():
            self._cache.save(name, state)


class TreeCache:
    """Cache of trees by a digest of their input, and of each group's last state."""

    def __init__(self, replies: ReplyStore, leaves: Leaves, known: Sequence[KnownValues], build_options: Sequence[str]) -> None:
        """build_options: what else a tree depends on: settings, embedding, summarizer."""
        self._replies, self._leaves, self._build_options = replies, leaves, build_options
        self._places = {id: place for place, id in enumerate(leaves.ids)}
        rows = zip(leaves.ids, leaves.titles, leaves.vectors, strict=True)
        self._digests = [hashlib.sha256(f"{id}\0{title}".encode() + vector.tobytes()).digest() for id, title, vector in rows]
        self._known = known

    def tree_key(self, name: str, own: Sequence[int], linked: bool = False, before: Sequence[Sequence[str]] = ()) -> str:
        """Return the cache key of a group's tree: a digest of leaves, options, name, and the clusters it starts from."""
        values = [[sorted(field) for field in self._known[place]] for place in own] if linked else None
        content = hashlib.sha256(json.dumps([*self._build_options, name, values]).encode())
        for place in own:
            content.update(self._digests[place])
        earlier = f" {hashlib.sha256(json.dumps(before).encode()).hexdigest()}" if before else ""
        return f"tree {content.hexdigest()}{earlier}"

    def revised_key(self, key: str, parts: Mapping[int, Clusters]) -> str:
        """Return the cache key of a revised tree."""
        clusters = {place: [[self._digests[leaf].hex() for leaf in own] for own in revised] for place, revised in sorted(parts.items())}
        return f"{key} {hashlib.sha256(json.dumps(clusters).encode()).hexdigest()}"

    def get(self, key: str) -> BuiltTree | None:
        """Return the cached tree of a key; None if there is none or one of its leaves was deleted."""
        stored = self._replies.get(key) if key else None
        tree = self._from_json(stored) if stored else None
        return BuiltTree(tree, tuple(stored["notes"])) if stored and tree else None

    def put(self, key: str, made: BuiltTree) -> None:
        """Cache a tree."""
        self._replies.put(key, {"nodes": self._to_json(made.tree), "notes": made.notes})

    def save(self, name: str, state: GroupState) -> None:
        """Save the state of a group."""
        lowest = [[self._leaves.ids[leaf] for leaf in node.leaves] for node in state.tree if not node.children]
        self._replies.put(self._state_key(name), {"key": state.initial_key, "lowest": lowest, "drift": state.drift})

    def previous_state(self, name: str) -> PreviousState:
        """Return the state of a group after the last build; an empty one if there is none."""
        stored = self._replies.get(self._state_key(name))
        return PreviousState(**stored) if stored else PreviousState()

    def locate_clusters(self, clusters: Sequence[Sequence[str]], own: Sequence[int]) -> tuple[Clusters, float]:
        """Return clusters of leaf ids as clusters of positions, and the share of leaves added or deleted since."""
        known, now = {id for cluster in clusters for id in cluster}, {self._leaves.ids[place] for place in own}
        return [[self._places[id] for id in cluster if id in self._places] for cluster in clusters], len(known ^ now) / max(1, len(known))

    def _state_key(self, name: str) -> str:
        return f"latest {hashlib.sha256(json.dumps([*self._build_options, name]).encode()).hexdigest()}"

    def _to_json(self, tree: Tree) -> list[dict[str, Any]]:
        ids = self._leaves.ids
        return [
            {
                "children": node.children,
                "leaves": [] if node.children else [ids[leaf] for leaf in node.leaves],
                "title": node.title,
                "said": [[sentence.text, ids[sentence.leaf]] for sentence in node.summary.sentences],
                "made_by": node.summary.made_by,
                "support": node.summary.support,
                "vector": encode_vector(node.vector),
            }
            for node in tree
        ]

    def _from_json(self, stored: dict[str, Any]) -> Tree | None:
        place_of = self._places
        tree: Tree = []
        for node in stored["nodes"]:
            children = tuple(node["children"])
            if any(id not in place_of for id in (*node["leaves"], *(id for _, id in node["said"]))):
                return None
            own = [place_of[id] for id in node["leaves"]]
            leaves = tuple(sorted({leaf for child in children for leaf in tree[child].leaves} if children else own))
            sentences = tuple(SummarySentence(text, place_of[id]) for text, id in node["said"])
            summary = Summary(sentences, node["made_by"], node["support"])
            tree.append(Node(children, leaves, node["title"], summary, decode_vector(node["vector"])))
        return tree


def update_clusters(leaves: Leaves, own: Sequence[int], clusters: Clusters) -> Clusters:
    """Update clusters to a group's current leaves: deleted leaves are removed, new ones join the nearest cluster; some may be empty."""
    current, known = set(own), {place for cluster in clusters for place in cluster}
    updated = [[place for place in cluster if place in current] for cluster in clusters]
    remaining = [cluster for cluster in updated if cluster]
    if remaining:
        centres = unit_rows(np.array([leaves.vectors[cluster].mean(axis=0) for cluster in remaining]), leaves.vectors.shape[1])
        for place in own:
            if place not in known:
                remaining[int(np.argmax(centres @ leaves.vectors[place]))].append(place)
    return [sorted(cluster) for cluster in updated]
