"""An index with a hierarchy: searched as every index is, by way of the groups that answer the question."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.hierarchy_file import HIERARCHY
from ramify.tools.hierarchy.router import Router, RouteSearch
from ramify.tools.hierarchy.summary_reports import Summaries
from ramify.tools.index.hybrid_search import Found, How, Steer
from ramify.tools.index.local_index import LocalIndex
from ramify.tools.index.snapshot import Snapshot


class HierarchyIndex(LocalIndex):
    """An index of kind `hierarchy`; its hits are passages, and their scores cosines, as in any other."""

    _read: tuple[Snapshot, Router] | None = None

    @property
    def _router(self) -> Router:
        """Give the groups of the passages as they are now: adding and deleting puts passages into other places."""
        snapshot, held = self.snapshot, self._read
        if held is None or held[0] is not snapshot:
            held = self._read = (snapshot, Router(self.folder / HIERARCHY, snapshot.store.ids()))
        return held[1]

    @cached_property
    def reports(self) -> Summaries:
        """Give the summaries, level by level."""
        return Summaries(self.folder / HIERARCHY)

    def _steer(self, how: How) -> Steer | None:
        settings = self._settings(how.options)
        return None if how.view == "flat" else self._by_groups(settings)

    def _settings(self, options: Mapping[str, Any] | None) -> RouteSearch:
        try:
            return RouteSearch.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            what = (
                f"search.{'.'.join(map(str, first['loc']))}={first['input']!r} is not valid for an index with a hierarchy ({first['msg']})"
            )
            raise UsageError(what, f"choose among {', '.join(RouteSearch.model_fields)}") from error

    def _by_groups(self, settings: RouteSearch) -> Steer:
        stored = self.snapshot

        def steer(query: str, vector: Matrix, found: Found) -> list[int]:
            return self._router.routed(query, vector, found, stored.vectors, settings)

        return steer
