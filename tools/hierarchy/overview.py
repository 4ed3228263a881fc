"""What the hierarchy of an index holds: its groups, what was measured of them, and which of them to look at first."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

from ramify.tools.errors import UsageError
from ramify.tools.folded_text import fold
from ramify.tools.hierarchy.groups_and_nodes import Edge, EdgeKind, Finding, GroupKind, Tree, distinct
from ramify.tools.hierarchy.hierarchy_file import Content, Link
from ramify.tools.hierarchy.index import HierarchyIndex, Place
from ramify.tools.index.local_index import documents, tokens_of
from ramify.tools.quoting import one_line

_NEAR = 5
"""Names that are suggested for one that there is not."""


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
