"""An index with a hierarchy: searched by way of its groups, and its summaries, level by level, for questions about everything."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.groups_and_nodes import Tree
from ramify.tools.hierarchy.hierarchy_file import HIERARCHY, Content, read_content
from ramify.tools.hierarchy.router import Router, RouteSearch
from ramify.tools.index.local_index import LocalIndex
from ramify.tools.index.reports import Level, Subject
from ramify.tools.knowledge.reports import Finding, Report
from ramify.tools.models.tokens import estimate

_HIGHEST = 10.0
Place = tuple[int, int]
"""A group, and the place of a node in its tree."""


class Summaries:
    """Read the summaries of a hierarchy: level 0 are the groups' roots, "0" that of the largest; "0.1" is the second largest part of it."""

    subject: Subject = "summary"

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def content(self) -> Content:
        """Return all of the hierarchy."""
        return read_content(self._path)

    @property
    def facts(self) -> Mapping[str, str]:
        """Return what the hierarchy says of how it was made."""
        return self.content.facts

    @cached_property
    def _paths(self) -> list[dict[str, Place]]:
        """List the summaries that make up each level, each once; one without parts stands for itself at every level below its own."""
        trees = self.content.trees
        roots = [(group, len(tree) - 1) for group, tree in sorted(trees.items()) if tree[-1].summary.said]
        roots.sort(key=lambda one: -len(trees[one[0]][one[1]].leaves))
        level = {str(number): root for number, root in enumerate(roots)}
        found = []
        while True:
            found.append(level)
            below = {one: part for id, place in level.items() for part, one in _parts(id, place, trees[place[0]]).items()}
            if below.keys() == set(level.values()):
                return found
            level = {part: one for one, part in below.items()}

    @cached_property
    def places(self) -> dict[str, Place]:
        """Give the group and the place in its tree of every summary by its number."""
        return {id: place for level in self._paths for id, place in level.items()}

    def _report(self, id: str) -> Report:
        group, place = self.places[id]
        tree = self.content.trees[group]
        node = tree[place]
        title = node.title if place == len(tree) - 1 else f"{tree[-1].title} > {node.title}"
        findings = tuple(Finding(one.text, (self.content.ids[one.leaf],)) for one in node.summary.said)
        rating = min(_HIGHEST, float(max(1, len(node.leaves)).bit_length()))  # each doubling of its leaves is a point
        return Report(id, title, "", rating, findings, node.summary.made_by, "")

    @cached_property
    def levels(self) -> list[Level]:
        """List the levels, the groups' own level first."""
        return [Level(number, len(own), sum(estimate(self._report(id).text) for id in own)) for number, own in enumerate(self._paths)]

    def reports(self, level: int) -> list[Report]:
        """Return the reports of a level; UsageError where there is no such level."""
        if not 0 <= level < len(self._paths):
            what = f"there is no level {level}: the hierarchy has levels 0 to {len(self._paths) - 1}"
            raise UsageError(what, "take one of them, or level=auto")
        return list(self.of(self._paths[level]))

    def every(self) -> dict[str, Report]:
        """Return the reports of all nodes by id."""
        return {id: self._report(id) for id in self.places}

    def of(self, ids: Iterable[str]) -> list[Report]:
        """Return the reports of some nodes; what is none is passed over."""
        return [self._report(id) for id in ids if id in self.places]


def _parts(id: str, place: Place, tree: Tree) -> dict[str, Place]:
    """Give the summaries below one by number, the largest first; one without any stands for itself."""
    group, own = place
    children = sorted((child for child in tree[own].children if tree[child].summary.said), key=lambda child: -len(tree[child].leaves))
    return {f"{id}.{number}": (group, child) for number, child in enumerate(children)} or {id: place}


class HierarchyIndex(LocalIndex[RouteSearch]):
    """An index of kind `hierarchy`, searched by way of the groups that a question is about."""

    called, knobs = "a hierarchy", RouteSearch

    def guide(self, ids: Sequence[str]) -> Router:
        """Read the groups of the passages."""
        return Router(self.folder / HIERARCHY, ids)

    @cached_property
    def reports(self) -> Summaries:
        """Give the summaries, level by level."""
        return Summaries(self.folder / HIERARCHY)
