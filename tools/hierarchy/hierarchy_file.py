"""A hierarchy on disk, and what of it the next build reuses."""

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
from ramify.tools.hierarchy._clustering import Clusters, Known
from ramify.tools.hierarchy.leaves import Edge, Finding, Group, Leaves, Measured, Node, Repair, Said, Summary, Tree
from ramify.tools.hierarchy.tree import Grower, Grown, Tell
from ramify.tools.index.index import read_facts, write_tables
from ramify.tools.index.passage_store import connected
from ramify.tools.index.progress import Progress
from ramify.tools.knowledge.build import ReplyStore

HIERARCHY = "hierarchy.sqlite"
EDITION = "1"
"""Counts up when a file made before cannot be read any more."""
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
"""A group and its node, another group and its node, and how similar their summaries are."""


class Content(NamedTuple):
    """All that the file holds."""

    fields: tuple[str, ...]
    ids: Sequence[str]
    titles: Sequence[str]
    """Of the leaves, folded: what a question may name."""
    groups: Sequence[Group]
    edges: Sequence[Edge]
    trees: Mapping[int, Tree]
    links: Sequence[Link]
    findings: Sequence[Finding]
    repairs: Sequence[Repair]
    facts: Mapping[str, str]


def write_content(path: Path, content: Content) -> None:
    """Write the file anew."""
    write_tables(path, _SCHEMA, _rows(content))


def _rows(content: Content) -> Iterator[tuple[str, Iterable[tuple[object, ...]]]]:
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
    yield "said", ((group, place, line, *one) for group, place, node in nodes for line, one in enumerate(node.summary.said))
    yield "links", sorted(content.links)
    yield "diagnostics", ((group, one.leaves, *one.measured, " ".join(one.flags)) for group, one in enumerate(content.findings))
    yield "repairs", ((number, *one) for number, one in enumerate(content.repairs))


def opened(path: Path) -> sqlite3.Connection:
    """Open the file to be read; IndexingError for one that another version has written."""
    if read_facts(path).get("edition") != EDITION:
        what = f"the groups in {str(path.parent)!r} were made by another version of ramify"
        raise IndexingError(what, "make them again: ramify index --kind hierarchy --out DIR")
    return connected(path)


def _groups(database: sqlite3.Connection) -> list[Group]:
    keys: dict[int, list[str]] = {}
    for number, value in database.execute("SELECT grp, value FROM keys ORDER BY grp, field"):
        keys.setdefault(number, []).append(value)
    rows = database.execute("SELECT number, name, kind FROM groups ORDER BY number")
    return [Group(name, tuple(keys.get(number, ())), kind) for number, name, kind in rows]


def _trees(database: sqlite3.Connection) -> dict[int, Tree]:
    children = _lists(database, "SELECT grp, place, child FROM children ORDER BY grp, place, child")
    below = _lists(database, "SELECT grp, place, leaf FROM below ORDER BY grp, place, leaf")
    said: dict[tuple[int, int], list[Said]] = {}
    for group, place, text, leaf in database.execute("SELECT grp, place, text, leaf FROM said ORDER BY grp, place, line"):
        said.setdefault((group, place), []).append(Said(text, leaf))
    found: dict[int, Tree] = {}
    rows = database.execute("SELECT grp, place, title, made_by, support, vector FROM nodes ORDER BY grp, place")
    for group, place, title, made_by, support, vector in rows:
        tree = found.setdefault(group, [])
        own = children.get((group, place), ())
        leaves = tuple(sorted({leaf for child in own for leaf in tree[child].leaves})) if own else tuple(below.get((group, place), ()))
        read: Matrix = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        tree.append(Node(tuple(own), leaves, title, Summary(tuple(said.get((group, place), ())), made_by, support), read))
    return found


def _lists(database: sqlite3.Connection, sql: str) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for group, place, one in database.execute(sql):
        found.setdefault((group, place), []).append(one)
    return found


def read_content(path: Path) -> Content:
    """Read all of a file."""
    with closing(opened(path)) as database:
        leaves = database.execute("SELECT id, title FROM leaves ORDER BY number").fetchall()
        findings = [
            Finding(leaves, Measured(*measured), tuple(flags.split()))
            for leaves, *measured, flags in database.execute(
                "SELECT leaves, cluster_cohesion, outlier_rate, meta_conflict, step_discontinuity, summary_support, self_retrieval, flags "
                "FROM diagnostics ORDER BY grp"
            )
        ]
        return Content(
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

    def __init__(self, work: ReplyStore, leaves: Leaves, known: Sequence[Known], made: Sequence[str]) -> None:
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
