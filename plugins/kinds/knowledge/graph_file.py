"""`graph.sqlite`: the graph, its communities and their reports; the same content gives the same file."""

import json
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ramify.kinds.knowledge.communities import Community, Partition, community_levels, community_sort_key
from ramify.kinds.knowledge.elements import Claim, Connection, Description, Graph, Name, Pair
from ramify.tools.errors import UsageError
from ramify.tools.index.passage_store import open_readonly
from ramify.tools.index.reports import Report, ReportFinding, ReportLevel, Subject
from ramify.tools.models.tokens import estimate_tokens

GRAPH = "graph.sqlite"
EDITION = "1"
"""Version of the file format: incremented when older files can no longer be read."""
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE passages (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE told (number INTEGER PRIMARY KEY, text TEXT NOT NULL, passage TEXT NOT NULL);
CREATE TABLE names (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL, told INTEGER NOT NULL,
    degree INTEGER NOT NULL
);
CREATE TABLE mentions (name INTEGER NOT NULL, passage INTEGER NOT NULL, PRIMARY KEY (name, passage)) WITHOUT ROWID;
CREATE TABLE titles (name INTEGER NOT NULL, passage INTEGER NOT NULL, PRIMARY KEY (name, passage)) WITHOUT ROWID;
CREATE TABLE edges (
    source INTEGER NOT NULL, target INTEGER NOT NULL, count INTEGER NOT NULL, told INTEGER NOT NULL, PRIMARY KEY (source, target)
) WITHOUT ROWID;
CREATE TABLE claims (
    subject TEXT NOT NULL, object TEXT NOT NULL, kind TEXT NOT NULL, description TEXT NOT NULL, passage TEXT NOT NULL,
    span TEXT NOT NULL, start TEXT NOT NULL, end TEXT NOT NULL
);
CREATE TABLE communities (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, level INTEGER NOT NULL, parent TEXT, size INTEGER NOT NULL);
CREATE TABLE members (community INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (community, name)) WITHOUT ROWID;
CREATE TABLE levels (level INTEGER NOT NULL, community INTEGER NOT NULL, PRIMARY KEY (level, community)) WITHOUT ROWID;
CREATE TABLE reports (
    community INTEGER PRIMARY KEY, title TEXT NOT NULL, summary TEXT NOT NULL, rating REAL NOT NULL, made_by TEXT NOT NULL,
    digest TEXT NOT NULL, tokens INTEGER NOT NULL
);
CREATE TABLE findings (
    community INTEGER NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL, passages TEXT NOT NULL, PRIMARY KEY (community, place)
) WITHOUT ROWID;
"""


class GraphContent(NamedTuple):
    """The content of a graph file."""

    graph: Graph
    partition: Partition
    reports: Mapping[str, Report]
    titles: Mapping[str, Sequence[str]]
    """The keys of a passage's title and headings, by its id."""
    passages: Sequence[str]
    """The ids of the passages read for names."""
    facts: Mapping[str, str]


def write_graph_file(path: Path, content: GraphContent) -> None:
    """Write the content to an empty file."""
    with closing(sqlite3.connect(path.absolute())) as database, database:
        database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        for table, rows in _rows(content):
            if listed := list(rows):
                database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(listed[0]))})", listed)
        database.execute(f"PRAGMA user_version = {_checksum(database)}")


def read_facts(path: Path) -> dict[str, str]:
    """Return the facts table of a file; empty if it is missing or unreadable."""
    if not path.is_file():
        return {}
    try:
        with closing(open_readonly(path)) as database:
            return dict(database.execute("SELECT name, value FROM facts ORDER BY name"))
    except sqlite3.DatabaseError:
        return {}


def _checksum(database: sqlite3.Connection) -> int:
    """Return a CRC-32 over all tables: it detects damage that SQLite does not notice."""
    checksum = 0
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        for row in database.execute(f"SELECT * FROM {table}"):
            checksum = zlib.crc32(repr(row).encode("utf-8", "surrogatepass"), checksum)
    return checksum >> 1  # user_version has 31 bits


def _rows(content: GraphContent) -> Iterator[tuple[str, Iterable[tuple[object, ...]]]]:
    graph, partition = content.graph, content.partition
    passage_of = {id: number for number, id in enumerate(sorted(content.passages))}
    number_of = {key: number for number, key in enumerate(graph.names)}
    community_of = {id: number for number, id in enumerate(partition)}
    description_of: dict[Description, int] = {}
    for description in (*(name.description for name in graph.names.values()), *(edge.description for edge in graph.edges.values())):
        description_of.setdefault(description, len(description_of))
    yield "facts", sorted({**content.facts, "edition": EDITION}.items())
    yield "passages", ((number, id) for id, number in passage_of.items())
    yield "told", ((number, description.text, description.passage) for description, number in description_of.items())
    yield (
        "names",
        ((number_of[key], key, name.name, name.kind, description_of[name.description], name.degree) for key, name in graph.names.items()),
    )
    yield "mentions", ((number_of[key], passage_of[id]) for key, name in graph.names.items() for id in name.passages if id in passage_of)
    yield "titles", sorted({(number_of[key], passage_of[id]) for id, keys in content.titles.items() for key in keys if key in number_of})
    yield (
        "edges",
        ((number_of[one], number_of[other], edge.times, description_of[edge.description]) for (one, other), edge in graph.edges.items()),
    )
    yield "claims", (tuple(claim) for claim in graph.claims)
    yield (
        "communities",
        ((community_of[id], id, community.level, community.parent, len(community.members)) for id, community in partition.items()),
    )
    yield "members", ((community_of[id], number_of[key]) for id, community in partition.items() for key in community.members)
    yield "levels", ((level, community_of[id]) for level, ids in enumerate(community_levels(partition)) for id in ids)
    reports = [(community_of[id], content.reports[id]) for id in partition]
    yield (
        "reports",
        (
            (number, report.title, report.summary, report.rating, report.made_by, report.digest, estimate_tokens(report.text))
            for number, report in reports
        ),
    )
    findings = ((number, rank, finding) for number, report in reports for rank, finding in enumerate(report.findings))
    yield "findings", ((number, rank, finding.text, "\n".join(finding.passages)) for number, rank, finding in findings)


class PreviousGraph(NamedTuple):
    """What an update reuses: the communities, the connected pairs, and the reports by digest of their material."""

    partition: Partition
    pairs: frozenset[Pair]
    reports: Mapping[str, Report]


def read_previous_graph(path: Path) -> PreviousGraph:
    """Return what an update reuses; empty if the file is missing, damaged or of another version."""
    if read_facts(path).get("edition") != EDITION:
        return PreviousGraph({}, frozenset(), {})
    try:
        with closing(open_readonly(path)) as database:
            if database.execute("PRAGMA user_version").fetchone()[0] != _checksum(database):
                return PreviousGraph({}, frozenset(), {})
            pairs = database.execute(
                "SELECT one.key, other.key FROM edges JOIN names one ON one.number = source JOIN names other ON other.number = target"
            )
            return PreviousGraph(read_partition(database), frozenset(pairs), {report.digest: report for report in read_reports(database)})
    except sqlite3.DatabaseError:
        return PreviousGraph({}, frozenset(), {})


def read_partition(database: sqlite3.Connection) -> Partition:
    """Return the communities, sorted by id."""
    members: dict[str, list[str]] = {id: [] for (id,) in database.execute("SELECT id FROM communities ORDER BY number")}
    sql = """SELECT id, key FROM members JOIN communities ON communities.number = community
        JOIN names ON names.number = members.name ORDER BY key"""
    for id, key in database.execute(sql):
        members[id].append(key)
    return {id: Community(id, tuple(members[id])) for id in sorted(members, key=community_sort_key)}


def read_reports(database: sqlite3.Connection, level: int | None = None, ids: Iterable[str] | None = None) -> list[Report]:
    """Return the reports in order of their communities: all, those of a level, or those of some ids."""
    where, parameters = "", []
    if level is not None:
        where, parameters = "WHERE community IN (SELECT community FROM levels WHERE level = ?)", [str(level)]
    if ids is not None:
        chosen = "SELECT number FROM communities WHERE id IN (SELECT value FROM json_each(?))"
        where, parameters = f"WHERE community IN ({chosen})", [json.dumps(list(ids))]
    findings: dict[int, list[ReportFinding]] = {}
    for number, text, passages in database.execute(
        f"SELECT community, text, passages FROM findings {where} ORDER BY community, place", parameters
    ):
        findings.setdefault(number, []).append(ReportFinding(text, tuple(passages.split("\n")) if passages else ()))
    sql = f"""SELECT community, id, title, summary, rating, made_by, digest FROM reports
        JOIN communities ON communities.number = community {where} ORDER BY community"""
    return [
        Report(id, title, summary, rating, tuple(findings.get(number, ())), made_by, digest)
        for number, id, title, summary, rating, made_by, digest in database.execute(sql, parameters)
    ]


class GraphFile:
    """Reads a graph file, also after another has taken its place; thread-safe, as SQLite takes one statement after another."""

    subject: Subject = "community"

    def __init__(self, path: Path) -> None:
        self._database = open_readonly(path)
        weakref.finalize(self, self._database.close)

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """Return the facts recorded at the build: models, options and failures."""
        return dict(self._database.execute("SELECT name, value FROM facts ORDER BY name"))

    @cached_property
    def levels(self) -> list[ReportLevel]:
        """Return the levels, the root level first."""
        sql = """SELECT level, count(*), sum(tokens) FROM levels JOIN reports ON reports.community = levels.community
            GROUP BY level ORDER BY level"""
        return [ReportLevel(*row) for row in self._database.execute(sql)]

    def reports(self, level: int) -> list[Report]:
        """Return the reports of a level; UsageError if there is no such level."""
        numbers = [entry.number for entry in self.levels]
        if level not in numbers:
            raise UsageError(
                f"there is no level {level}: the graph has levels {numbers[0]} to {numbers[-1]}", "choose one of them, or level=auto"
            )
        return read_reports(self._database, level)

    def all_reports(self) -> dict[str, Report]:
        """Return the reports of all communities by id."""
        return {report.community: report for report in read_reports(self._database)}

    def by_ids(self, ids: Iterable[str]) -> list[Report]:
        """Return the reports of some communities; unknown ids are skipped."""
        return read_reports(self._database, ids=ids)

    def partition(self) -> Partition:
        """Return the communities."""
        return read_partition(self._database)

    def graph(self) -> Graph:
        """Return the graph: names, edges and claims."""
        descriptions = {
            number: Description(text, passage) for number, text, passage in self._database.execute("SELECT number, text, passage FROM told")
        }
        passages: dict[int, list[str]] = {}
        for name, id in self._database.execute("SELECT name, id FROM mentions JOIN passages ON number = passage ORDER BY name, passage"):
            passages.setdefault(name, []).append(id)
        rows = self._database.execute("SELECT number, key, name, kind, told, degree FROM names ORDER BY number").fetchall()
        keys = {number: key for number, key, *_ in rows}
        names = {
            key: Name(name, kind, descriptions[description], degree, tuple(passages.get(number, ())))
            for number, key, name, kind, description, degree in rows
        }
        edges = self._database.execute("SELECT source, target, count, told FROM edges ORDER BY source, target")
        claims = self._database.execute("SELECT * FROM claims ORDER BY rowid")
        return Graph(
            names,
            {(keys[one], keys[other]): Connection(count, descriptions[description]) for one, other, count, description in edges},
            tuple(Claim(*claim) for claim in claims),
        )

    def passages(self) -> frozenset[str]:
        """Return the ids of the passages that were read for names."""
        return frozenset(id for (id,) in self._database.execute("SELECT id FROM passages"))
