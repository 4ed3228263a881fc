"""The two kinds of index, as `ramify.kinds` offers them; what they need is imported when they are used."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.tools.index.build import IndexStore
from ramify.tools.index.index import Index
from ramify.tools.index.kind import Kind


class Graph(Kind):
    """A graph of names, with communities and their reports (GraphRAG)."""

    def open(self, store: IndexStore) -> Index:
        """Open an index with a graph."""
        from ramify.kinds.knowledge.index import GraphIndex

        return GraphIndex.open(store)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise UsageError for settings that are unknown or not valid."""
        from ramify.kinds.settings import BuildSettings

        BuildSettings.model_validate(options)

    def build(self, folder: Path) -> None:
        """Build the graph by rules."""
        from ramify.kinds.knowledge.rule_builder import build_graph_by_rules

        build_graph_by_rules(folder)

    def command(self, folder: Path, options: dict[str, Any], group_by: Sequence[str] | None, renew: bool) -> None:
        """Build or update the graph, and print the result; `renew` computes all communities anew."""
        from ramify.kinds.console import add_graph

        add_graph(folder, options, renew)


class Hierarchy(Kind):
    """Groups by metadata, with a tree of summaries in each (meta-guided RAG)."""

    def open(self, store: IndexStore) -> Index:
        """Open an index with a hierarchy."""
        from ramify.kinds.hierarchy.index import HierarchyIndex

        return HierarchyIndex.open(store)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise UsageError for settings that are unknown or not valid."""
        from ramify.kinds.building import hierarchy_settings

        hierarchy_settings(options)

    def build(self, folder: Path) -> None:
        """Build the hierarchy with quoted summaries."""
        from ramify.kinds.building import build_hierarchy

        build_hierarchy(folder)

    def command(self, folder: Path, options: dict[str, Any], group_by: Sequence[str] | None, renew: bool) -> None:
        """Build or update the hierarchy, and print the result; `renew` clusters all groups again."""
        from ramify.kinds.console import add_hierarchy

        add_hierarchy(folder, options, group_by, renew)


GRAPH, HIERARCHY = Graph(), Hierarchy()
