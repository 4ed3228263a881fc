"""The summaries of a finished hierarchy as reports, level by level: what questions about everything read."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.file import Content, read_content
from ramify.tools.hierarchy.values import Tree
from ramify.tools.index.reports import Subject
from ramify.tools.knowledge.content import Level
from ramify.tools.knowledge.reports import Finding, Report
from ramify.tools.models.tokens import estimate

_HIGHEST = 10.0


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
    def _paths(self) -> list[dict[str, Report]]:
        """List the reports that make up each level; a summary without parts stands for itself at every level below its own."""
        trees = self.content.trees
        roots = [(group, len(tree) - 1) for group, tree in sorted(trees.items()) if tree[-1].summary.said]
        roots.sort(key=lambda one: -len(trees[one[0]][one[1]].leaves))
        level = {str(number): root for number, root in enumerate(roots)}
        found = []
        while True:
            found.append({id: self._report(id, group, place) for id, (group, place) in level.items()})
            below = {part: one for id, (group, place) in level.items() for part, one in _parts(id, group, place, trees[group]).items()}
            if below.keys() == level.keys():
                return found
            level = below

    def _report(self, id: str, group: int, place: int) -> Report:
        tree = self.content.trees[group]
        node = tree[place]
        title = node.title if place == len(tree) - 1 else f"{tree[-1].title} > {node.title}"
        findings = tuple(Finding(one.text, (self.content.ids[one.leaf],)) for one in node.summary.said)
        return Report(id, title, "", _rating(len(node.leaves)), findings, node.summary.made_by, "")

    @cached_property
    def levels(self) -> list[Level]:
        """List the levels, the groups' own level first."""
        return [Level(number, len(own), sum(estimate(one.text) for one in own.values())) for number, own in enumerate(self._paths)]

    def reports(self, level: int) -> list[Report]:
        """Return the reports of a level; UsageError where there is no such level."""
        if not 0 <= level < len(self._paths):
            what = f"there is no level {level}: the hierarchy has levels 0 to {len(self._paths) - 1}"
            raise UsageError(what, "take one of them, or level=auto")
        return list(self._paths[level].values())

    def every(self) -> dict[str, Report]:
        """Return the reports of all nodes by id."""
        return {id: report for level in self._paths for id, report in level.items()}

    def of(self, ids: Iterable[str]) -> list[Report]:
        """Return the reports of some nodes; what is none is passed over."""
        known = self.every()
        return [known[id] for id in ids if id in known]


def _rating(leaves: int) -> float:
    """Rate a summary by what it stands for: each doubling of its leaves is a point."""
    return min(_HIGHEST, float(max(1, leaves).bit_length()))


def _parts(id: str, group: int, place: int, tree: Tree) -> dict[str, tuple[int, int]]:
    children = sorted((child for child in tree[place].children if tree[child].summary.said), key=lambda child: -len(tree[child].leaves))
    return {f"{id}.{number}": (group, child) for number, child in enumerate(children)} or {id: (group, place)}
