"""An index with a graph: searched along the names in its passages; its communities and their reports, for questions about everything."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

from ramify.tools.errors import UsageError
from ramify.tools.index.kind_tables import connected
from ramify.tools.index.local_index import LocalIndex
from ramify.tools.index.reports import Level, Subject
from ramify.tools.knowledge.communities import Partition
from ramify.tools.knowledge.graph import Graph
from ramify.tools.knowledge.graph_file import GRAPH, read_graph, read_partition, read_reports
from ramify.tools.knowledge.graph_search import Walk, WalkSearch
from ramify.tools.knowledge.reports import Report


class Reports:
    """Read a graph file; each call opens it anew, so any thread may."""

    subject: Subject = "community"

    def __init__(self, path: Path) -> None:
        self._path = path

    def _opened(self) -> closing[sqlite3.Connection]:
        return closing(connected(self._path))

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """Return what the graph says of how it was made."""
        with self._opened() as database:
            return dict(database.execute("SELECT name, value FROM facts ORDER BY name"))

    @cached_property
    def levels(self) -> list[Level]:
        """List the levels, the root level first."""
        sql = """SELECT level, count(*), sum(tokens) FROM levels JOIN reports ON reports.community = levels.community
            GROUP BY level ORDER BY level"""
        with self._opened() as database:
            return [Level(*row) for row in database.execute(sql)]

    def reports(self, level: int) -> list[Report]:
        """Return the reports of a level; UsageError where there is no such level."""
        there = [one.number for one in self.levels]
        if level not in there:
            raise UsageError(
                f"there is no level {level}: the graph has levels {there[0]} to {there[-1]}", "take one of them, or level=auto"
            )
        with self._opened() as database:
            return read_reports(database, level)

    def every(self) -> dict[str, Report]:
        """Return the reports of all communities by id."""
        with self._opened() as database:
            return {report.community: report for report in read_reports(database)}

    def of(self, ids: Iterable[str]) -> list[Report]:
        """Return the reports of some communities; what is none is passed over."""
        with self._opened() as database:
            return read_reports(database, ids=ids)

    def partition(self) -> Partition:
        """Return the communities."""
        with self._opened() as database:
            return read_partition(database)

    def graph(self) -> Graph:
        """Return the names and what connects them."""
        with self._opened() as database:
            return read_graph(database)

    def passages(self) -> frozenset[str]:
        """Return the ids of the passages that were read for names."""
        with self._opened() as database:
            return frozenset(id for (id,) in database.execute("SELECT id FROM passages"))


class GraphIndex(LocalIndex[WalkSearch]):
    """An index of kind `graph`, searched along the names in its passages."""

    called, knobs = "a graph", WalkSearch

    def guide(self, ids: Sequence[str]) -> Walk:
        """Read the names of the passages."""
        return Walk(self.folder / GRAPH, ids)

    @cached_property
    def reports(self) -> Reports:
        """Give the communities and their reports."""
        return Reports(self.folder / GRAPH)
