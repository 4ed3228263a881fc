"""An index with a hierarchy: searched by way of its groups; its summaries, level by level; and all that there is to see of it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePath
from typing import NamedTuple

from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.hierarchy_file import HIERARCHY, Content, Link, read_content
from ramify.tools.hierarchy.leaves import Edge, EdgeKind, Finding, GroupKind, Tree, distinct
from ramify.tools.hierarchy.router import Router, RouteSearch
from ramify.tools.index.index import LocalIndex, documents, tokens_of
from ramify.tools.index.reports import Level, Subject
from ramify.tools.knowledge import reports as knowledge
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.quoting import one_line

_HIGHEST = 10.0
_NEAR = 5
"""Names that are suggested for one that there is not."""
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

    def _report(self, id: str) -> knowledge.Report:
        group, place = self.places[id]
        tree = self.content.trees[group]
        node = tree[place]
        title = node.title if place == len(tree) - 1 else f"{tree[-1].title} > {node.title}"
        findings = tuple(knowledge.Finding(one.text, (self.content.ids[one.leaf],)) for one in node.summary.said)
        rating = min(_HIGHEST, float(max(1, len(node.leaves)).bit_length()))  # each doubling of its leaves is a point
        return knowledge.Report(id, title, "", rating, findings, node.summary.made_by, "")

    @cached_property
    def levels(self) -> list[Level]:
        """List the levels, the groups' own level first."""
        return [
            Level(number, len(own), sum(estimate_tokens(self._report(id).text) for id in own)) for number, own in enumerate(self._paths)
        ]

    def reports(self, level: int) -> list[knowledge.Report]:
        """Return the reports of a level; UsageError where there is no such level."""
        if not 0 <= level < len(self._paths):
            what = f"there is no level {level}: the hierarchy has levels 0 to {len(self._paths) - 1}"
            raise UsageError(what, "take one of them, or level=auto")
        return list(self.of(self._paths[level]))

    def of(self, ids: Iterable[str]) -> list[knowledge.Report]:
        """Return the reports of some nodes; what is none is passed over."""
        return [self._report(id) for id in ids if id in self.places]


def _parts(id: str, place: Place, tree: Tree) -> dict[str, Place]:
    """Give the summaries below one by number, the largest first; one without any stands for itself."""
    group, own = place
    children = sorted((child for child in tree[own].children if tree[child].summary.said), key=lambda child: -len(tree[child].leaves))
    return {f"{id}.{number}": (group, child) for number, child in enumerate(children)} or {id: place}


class HierarchyIndex(LocalIndex[RouteSearch]):
    """An index of kind `hierarchy`, searched by way of the groups that a question is about."""

    kind_name, settings_class = "a hierarchy", RouteSearch

    def load_structure(self, ids: Sequence[str]) -> Router:
        """Read the groups of the passages."""
        return Router(self.folder / HIERARCHY, ids)

    @cached_property
    def reports(self) -> Summaries:
        """Give the summaries, level by level."""
        return Summaries(self.folder / HIERARCHY)


class Depth(NamedTuple):
    """A level of summaries: how many, their tokens, and these as a share of the source text's."""

    number: int
    summaries: int
    tokens: int
    share: float


class GroupOverview(NamedTuple):
    """A group with all that there is to see of it; two of one name are told apart."""

    number: int
    name: str
    kind: GroupKind
    metadata: Mapping[str, str]
    finding: Finding
    tree: Tree
    edges: Sequence[Edge]
    links: Sequence[Link]

    @property
    def depth(self) -> int:
        """Count the levels of its tree."""
        deep: list[int] = []
        for node in self.tree:
            deep.append(1 + max((deep[child] for child in node.children), default=0))
        return deep[-1] if deep else 0


@dataclass(frozen=True)
class Grouped:
    """What the hierarchy of an index holds."""

    content: Content
    groups: Sequence[GroupOverview]
    places: Mapping[str, Place]
    """The group of each summary and its place in the tree there, by its number."""
    levels: Sequence[Depth]
    tokens: int
    """Of the text of all passages that are searched."""
    missing: int
    """Passages that came in after it was made."""
    homeless: Mapping[str, int]
    """Passages without the metadata, by the file they are from: the None-pool."""
    made_by: str
    replaced: int
    """Summaries that the model did not write, and that are quoted from the documents instead."""
    drifted: Mapping[str, float]
    """The groups that have changed much since they were clustered, with the share, the most first."""
    notes: Sequence[str]
    """What had to be done otherwise."""

    @cached_property
    def kinds(self) -> Counter[EdgeKind]:
        """Count the memberships by kind."""
        return Counter(edge.kind for edge in self.content.edges)

    @cached_property
    def by_size(self) -> list[GroupOverview]:
        """List the groups, the largest first."""
        return sorted(self.groups, key=lambda group: -group.finding.leaves)

    @cached_property
    def suspicious_first(self) -> list[GroupOverview]:
        """List the groups, those of which most is suspicious first."""
        return sorted(self.by_size, key=lambda group: -len(group.finding.flags))

    def find(self, name: str) -> GroupOverview:
        """Find a group by name, however that is spelled; UsageError where there is none, or several."""
        exact = [group for group in self.groups if group.name == name]
        same = [group for group in self.groups if fold(group.name) == fold(name) and fold(name)]
        if exact or len(same) == 1:
            return (exact or same)[0]
        folded = {fold(group.name): group.name for group in reversed(self.groups)}
        near = [folded[known] for known in get_close_matches(fold(name), folded, _NEAR, 0.3)]
        listed = near or [group.name for group in self.by_size[:_NEAR]]
        raise UsageError(f"there is no group {name!r}", f"name one of {len(self.groups):,}, such as {' · '.join(map(one_line, listed))}")


def grouped(index: HierarchyIndex) -> Grouped:
    """Look at the hierarchy of an index."""
    summaries, there = index.reports, index.ids()
    content, tokens = summaries.content, tokens_of(index, there)
    edges: dict[int, list[Edge]] = defaultdict(list)
    for edge in content.edges:
        edges[edge.group].append(edge)
    links: dict[int, list[Link]] = defaultdict(list)
    for link in content.links:
        links[link[0]].append(link)
    groups = []
    for number, (name, group) in enumerate(zip(distinct(content.groups), content.groups, strict=True)):
        metadata = dict(zip(content.fields, group.key, strict=False))
        known = (content.findings[number], content.trees[number], edges[number], links[number])
        groups.append(GroupOverview(number, name, group.kind, metadata, *known))
    at_home = {edge.leaf for edge in content.edges if edge.kind == "primary"}
    homeless = [id for leaf, id in enumerate(content.ids) if leaf not in at_home]
    files = Counter(_file(str(document.metadata.get("source", document.id))) for document in documents(index, homeless))
    drifted = {name: float(share) for name, share in _facts(content, "drifted ").items()}
    return Grouped(
        content,
        groups,
        summaries.places,
        [Depth(*level, level.tokens / max(1, tokens)) for level in summaries.levels],
        tokens,
        missing=len(set(there) - set(content.ids)),
        homeless=dict(files.most_common()),
        made_by=content.facts.get("made_by", ""),
        replaced=int(content.facts.get("replaced", 0)),
        drifted=dict(sorted(drifted.items(), key=lambda one: (-one[1], one[0]))),
        notes=list(_facts(content, "note ").values()),
    )


def _facts(content: Content, prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in content.facts.items() if name.startswith(prefix)}


def _file(source: str) -> str:
    """Name the file of a passage; of a record, what stands before its own name."""
    file, mark, _ = source.partition("#")
    return file if mark and PurePath(file).suffix else source
