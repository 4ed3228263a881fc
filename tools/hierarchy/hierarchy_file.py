"""`hierarchy.sqlite`: groups, edges, trees, links and what was measured, written whole and in order: the same content, the same file."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy.groups_and_nodes import Edge, Finding, Group, Measured, Node, Repair, Said, Summary, Tree
from ramify.tools.index.local_index import connected, read_facts, write_tables

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
