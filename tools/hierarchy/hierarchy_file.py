"""The hierarchy on disk, and the cache of trees reused by the next build."""

import asyncio
import base64
import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix, unit_rows
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy._clustering import Clusters, KnownValues
from ramify.tools.hierarchy.leaves import Edge, Group, GroupDiagnosis, GroupMeasures, Leaves, Node, Repair, Summary, SummarySentence, Tree
from ramify.tools.hierarchy.tree import BuiltTree, OnProgress, TreeBuilder
from ramify.tools.index.index import read_facts, write_tables
from ramify.tools.index.passage_store import open_readonly
from ramify.tools.index.progress import Progress
from ramify.tools.knowledge.build import ReplyStore

HIERARCHY = "hierarchy.sqlite"
EDITION = "1"
"""Version of the file format: incremented when older files can no longer be read."""
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fields (place INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE leaves (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL);
CREATE TABLE groups (number INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL);
CREATE TABLE keys (grp INTEGER NOT NULL, field INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (grp, field)) WITHOUT ROWID;
CREATE TABLE edges (
    leaf INTEGER NOT NULL, grp INTEGER NOT NULL, kind TEXT NOT NULL, weight REAL NOT NULL, PRIMARY KEY (leaf, grp, kind)
)
WITHOUT ROWID;
CREATE TABLE nodes (
    grp INTEGER NOT NULL, place INTEGER NOT NULL, parent INTEGER, title TEXT NOT NULL, made_by TEXT NOT NULL, support REAL NOT NULL,
    vector BLOB NOT NULL, PRIMARY KEY (grp, place)
) WITHOUT ROWID;
CREATE TABLE children (grp INTEGER NOT NULL, place INTEGER NOT NULL, child INTEGER NOT NULL, PRIMARY KEY (grp, place, child)) WITHOUT ROWID;
CREATE TABLE below (grp INTEGER NOT NULL, place INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY (grp, place, leaf)) WITHOUT ROWID;
CREATE TABLE said (
    grp INTEGER NOT NULL, place INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, leaf INTEGER NOT NULL,
    PRIMARY KEY (grp, place, line)
) WITHOUT ROWID;
CREATE TABLE links (
    grp INTEGER NOT NULL, place INTEGER NOT NULL, other_grp INTEGER NOT NULL, other INTEGER NOT NULL, cosine REAL NOT NULL,
    PRIMARY KEY (grp, place, other_grp, other)
) WITHOUT ROWID;
CREATE TABLE diagnostics (
    grp INTEGER PRIMARY KEY, leaves INTEGER NOT NULL, cluster_cohesion REAL NOT NULL,
    outlier_rate REAL NOT NULL, meta_conflict REAL NOT NULL,
    step_discontinuity REAL NOT NULL, summary_support REAL NOT NULL, self_retrieval REAL NOT NULL, flags TEXT NOT NULL
);
CREATE TABLE repairs (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, grp INTEGER NOT NULL, what TEXT NOT NULL, leaves INTEGER NOT NULL
);
"""
Link = tuple[int, int, int, int, float]
"""A group, its node, another group, its node, and the cosine of their summaries."""


class HierarchyContent(NamedTuple):
    """The content of a hierarchy file."""

    fields: tuple[str, ...]
    ids: Sequence[str]
    titles: Sequence[str]
    """Folded titles of the leaves, matched with questions."""
    groups: Sequence[Group]
    edges: Sequence[Edge]
    trees: Mapping[int, Tree]
    links: Sequence[Link]
    diagnoses: Sequence[GroupDiagnosis]
    repairs: Sequence[Repair]
    facts: Mapping[str, str]


def write_hierarchy_file(path: Path, content: HierarchyContent) -> None:
    """Write the content to an empty file."""
    write_tables(path, _SCHEMA, _rows(content))


def _rows(content: HierarchyContent) -> Iterator[tuple[str, Iterable[tuple[object, ...]]]]:
    yield "facts", sorted({**content.facts, "edition": EDITION}.items())
    yield "fields", enumerate(content.fields)
    yield "leaves", ((number, *one) for number, one in enumerate(zip(content.ids, content.titles, strict=True)))
    yield "groups", ((number, one.name, one.kind) for number, one in enumerate(content.groups))
    yield "keys", ((number, field, value) for number, one in enumerate(content.groups) for field, value in enumerate(one.key))
    yield "edges", sorted({(one.leaf, one.group, one.kind): (one.leaf, one.group, one.kind, one.weight) for one in content.edges}.values())
    nodes = [(group, place, node) for group, tree in sorted(content.trees.items()) for place, node in enumerate(tree)]
    parents = {(group, child): place for group, place, node in reversed(nodes) for child in node.children}
    yield (
        "nodes",
        (
            (
                *(group, place, parents.get((group, place)), node.title, node.summary.made_by, node.summary.support),
                node.vector.astype("<f4").tobytes(),
            )
            for group, place, node in nodes
        ),
    )
    yield "children", ((group, place, child) for group, place, node in nodes for child in node.children)
    yield "below", ((group, place, leaf) for group, place, node in nodes if not node.children for leaf in node.leaves)
    yield "said", ((group, place, line, *one) for group, place, node in nodes for line, one in enumerate(node.summary.sentences))
    yield "links", sorted(content.links)
    yield "diagnostics", ((group, one.leaves, *one.measures, " ".join(one.flags)) for group, one in enumerate(content.diagnoses))
    yield "repairs", ((number, *one) for number, one in enumerate(content.repairs))


def open_hierarchy_file(path: Path) -> sqlite3.Connection:
    """Open a hierarchy file for reading; IndexingError if it was written by another version."""
    if read_facts(path).get("edition") != EDITION:
        what = f"the groups in {str(path.parent)!r} were made by another version of ramify"
        raise IndexingError(what, "rebuild them: `ramify index --kind hierarchy --out DIR`")
    return open_readonly(path)


def _groups(database: sqlite3.Connection) -> list[Group]:
    keys: dict[int, list[str]] = {}
    for number, value in database.execute("SELECT grp, value FROM keys ORDER BY grp, field"):
        keys.setdefault(number, []).append(value)
    rows = database.execute("SELECT number, name, kind FROM groups ORDER BY number")
    return [Group(name, tuple(keys.get(number, ())), kind) for number, name, kind in rows]


def _trees(database: sqlite3.Connection) -> dict[int, Tree]:
    children = _lists(database, "SELECT grp, place, child FROM children ORDER BY grp, place, child")
    below = _lists(database, "SELECT grp, place, leaf FROM below ORDER BY grp, place, leaf")
    sentences: dict[tuple[int, int], list[SummarySentence]] = {}
    for group, place, text, leaf in database.execute("SELECT grp, place, text, leaf FROM said ORDER BY grp, place, line"):
        sentences.setdefault((group, place), []).append(SummarySentence(text, leaf))
    found: dict[int, Tree] = {}
    rows = database.execute("SELECT grp, place, title, made_by, support, vector FROM nodes ORDER BY grp, place")
    for group, place, title, made_by, support, vector in rows:
        tree = found.setdefault(group, [])
        own = children.get((group, place), ())
        leaves = tuple(sorted({leaf for child in own for leaf in tree[child].leaves})) if own else tuple(below.get((group, place), ()))
        read: Matrix = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        tree.append(Node(tuple(own), leaves, title, Summary(tuple(sentences.get((group, place), ())), made_by, support), read))
    return found


def _lists(database: sqlite3.Connection, sql: str) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for group, place, one in database.execute(sql):
        found.setdefault((group, place), []).append(one)
    return found


def read_hierarchy_file(path: Path) -> HierarchyContent:
    """Read a hierarchy file; IndexingError if it was written by another version."""
    with closing(open_hierarchy_file(path)) as database:
        leaves = database.execute("SELECT id, title FROM leaves ORDER BY number").fetchall()
        findings = [
            GroupDiagnosis(leaves, GroupMeasures(*measured), tuple(flags.split()))
            for leaves, *measured, flags in database.execute(
                "SELECT leaves, cluster_cohesion, outlier_rate, meta_conflict, step_discontinuity, summary_support, self_retrieval, flags "
                "FROM diagnostics ORDER BY grp"
            )
        ]
        return HierarchyContent(
            tuple(name for (name,) in database.execute("SELECT name FROM fields ORDER BY place")),
            [id for id, _ in leaves],
            [title for _, title in leaves],
            _groups(database),
            [Edge(*row) for row in database.execute("SELECT leaf, grp, weight, kind FROM edges ORDER BY leaf, grp, kind")],
            _trees(database),
            database.execute("SELECT * FROM links ORDER BY 1, 2, 3, 4").fetchall(),
            findings,
            [Repair(*row) for row in database.execute("SELECT round, grp, what, leaves FROM repairs ORDER BY number")],
            dict(database.execute("SELECT name, value FROM facts ORDER BY name")),
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
            self._progress(round(sum(share * sizes[one] for one, share in shares.items())), total, "passages in groups")

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
        return {name: one.drift for name, one in self._states.items() if one.drift > MAX_DRIFT}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on fallbacks, with the groups' names."""
        return tuple(f"{name}: {note}" for name, one in self._states.items() for note in one.notes)

    def save(self) -> None:
        """Save the states of all groups at the end of a build, for the next one; an interrupted build saves none."""
        for name, one in self._states.items():
            self._cache.save(name, one)


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
        clusters = {place: [[self._digests[leaf].hex() for leaf in own] for own in found] for place, found in sorted(parts.items())}
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
                "said": [[one.text, ids[one.leaf]] for one in node.summary.sentences],
                "made_by": node.summary.made_by,
                "support": node.summary.support,
                "vector": base64.b64encode(node.vector.astype("<f4").tobytes()).decode(),
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
            vector: Matrix = np.frombuffer(base64.b64decode(node["vector"]), dtype="<f4").astype(np.float32)
            tree.append(Node(children, leaves, node["title"], Summary(sentences, node["made_by"], node["support"]), vector))
        return tree


def update_clusters(leaves: Leaves, own: Sequence[int], clusters: Clusters) -> Clusters:
    """Update clusters to a group's current leaves: deleted leaves are removed, new ones join the nearest cluster; some may be empty."""
    current, known = set(own), {place for cluster in clusters for place in cluster}
    found = [[place for place in cluster if place in current] for cluster in clusters]
    remaining = [cluster for cluster in found if cluster]
    if remaining:
        centres = unit_rows(np.array([leaves.vectors[cluster].mean(axis=0) for cluster in remaining]), leaves.vectors.shape[1])
        for place in own:
            if place not in known:
                remaining[int(np.argmax(centres @ leaves.vectors[place]))].append(place)
    return [sorted(cluster) for cluster in found]
