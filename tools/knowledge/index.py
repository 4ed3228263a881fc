"""An index with a graph: searched as every index is, along the names in its passages."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.hybrid_search import Found, How, Steer
from ramify.tools.index.local_index import LocalIndex
from ramify.tools.index.snapshot import Snapshot
from ramify.tools.knowledge.community_reports import Reports
from ramify.tools.knowledge.graph_file import GRAPH
from ramify.tools.knowledge.graph_search import Walk, WalkSearch


class GraphIndex(LocalIndex):
    """An index of kind `graph`; its hits are passages, and their scores cosines, as in any other."""

    _walked: tuple[Snapshot, Walk] | None = None

    @property
    def _walk(self) -> Walk:
        """Give the names of the passages as they are now: adding and deleting puts passages into other places."""
        snapshot, held = self.snapshot, self._walked
        if held is None or held[0] is not snapshot:
            held = self._walked = (snapshot, Walk(self.folder / GRAPH, snapshot.store.ids()))
        return held[1]

    @cached_property
    def reports(self) -> Reports:
        """Give the communities and their reports."""
        return Reports(self.folder / GRAPH)

    def _steer(self, how: How) -> Steer | None:
        settings = self._settings(how.options)
        return None if how.view == "flat" else self._along_names(settings)

    def _settings(self, options: Mapping[str, Any] | None) -> WalkSearch:
        try:
            return WalkSearch.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            what = f"search.{'.'.join(map(str, first['loc']))}={first['input']!r} is not valid for an index with a graph ({first['msg']})"
            raise UsageError(what, f"choose among {', '.join(WalkSearch.model_fields)}") from error

    def _along_names(self, settings: WalkSearch) -> Steer:
        stored = self.snapshot

        def steer(query: str, vector: Matrix, found: Found) -> list[int]:
            return self._walk.steered(query, lambda positions: stored.vectors(positions) @ vector, list(found), settings)

        return steer
