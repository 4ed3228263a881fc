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
from ramify.tools.hierarchy.groups_and_nodes import Edge, EdgeKind, distinct
from ramify.tools.hierarchy.hierarchy_file import Content
from ramify.tools.hierarchy.index import HierarchyIndex
from ramify.tools.hierarchy.summary_reports import Summaries
from ramify.tools.index.local_index import documents, tokens_of
from ramify.tools.quoting import one_line

_DRIFTED, _NOTE = "drifted ", "note "
"""What the facts of groups that have changed much, and of what had to be done otherwise, begin with."""
_NEAR = 5
"""Names that are suggested for one that there is not."""


class Depth(NamedTuple):
    """A level of summaries: how many, their tokens, and these as a share of the source text's."""

    number: int
    summaries: int
    tokens: int
    share: float


@dataclass(frozen=True)
class Grouped:
    """What the hierarchy of an index holds."""

    summaries: Summaries
    levels: tuple[Depth, ...]
    tokens: int
    """Of the text of all passages that are searched."""
    missing: int
    """Passages that came in after it was made."""
    homeless: Mapping[str, int]
    """Passages without the metadata, by the file they are from: the None-pool."""

    @property
    def content(self) -> Content:
        """Give all that its file holds."""
        return self.summaries.content

    @cached_property
    def names(self) -> list[str]:
        """Name each group; two of one name are told apart."""
        return distinct(self.content.groups)

    @cached_property
    def by_size(self) -> list[int]:
        """List the groups, the largest first."""
        return sorted(range(len(self.names)), key=lambda group: (-self.content.findings[group].leaves, group))

    @cached_property
    def suspicious_first(self) -> list[int]:
        """List the groups, those of which most is suspicious first."""
        return sorted(self.by_size, key=lambda group: -len(self.content.findings[group].flags))

    @cached_property
    def edges(self) -> Mapping[int, Sequence[Edge]]:
        """List the memberships of each group."""
        found: dict[int, list[Edge]] = defaultdict(list)
        for edge in self.content.edges:
            found[edge.group].append(edge)
        return found

    def unusual(self, group: int) -> dict[int, EdgeKind]:
        """Give the kind of each membership of a group that is not by metadata."""
        return {edge.leaf: edge.kind for edge in self.edges.get(group, ()) if edge.kind != "primary"}

    @cached_property
    def kinds(self) -> Counter[EdgeKind]:
        """Count the memberships by kind."""
        return Counter(edge.kind for edge in self.content.edges)

    @cached_property
    def links(self) -> Mapping[int, Sequence[tuple[int, int, int, float]]]:
        """List the links of each group: the place of its summary, the other group, the place there, and the cosine."""
        found: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
        for group, place, other, there, cosine in self.content.links:
            found[group].append((place, other, there, cosine))
        return found

    @cached_property
    def drifted(self) -> dict[str, float]:
        """Give the groups that have changed much since they were clustered, with the share, the most first."""
        told = {name.removeprefix(_DRIFTED): float(share) for name, share in self._facts(_DRIFTED).items()}
        return dict(sorted(told.items(), key=lambda one: (-one[1], one[0])))

    @property
    def notes(self) -> list[str]:
        """Tell what had to be done otherwise."""
        return list(self._facts(_NOTE).values())

    def _facts(self, prefix: str) -> dict[str, str]:
        return {name: value for name, value in self.content.facts.items() if name.startswith(prefix)}

    @property
    def made_by(self) -> str:
        """Name who writes the summaries."""
        return self.content.facts.get("made_by", "")

    @property
    def replaced(self) -> int:
        """Count the summaries that the model did not write, and that are quoted from the documents instead."""
        return int(self.content.facts.get("replaced", 0))

    def depth(self, group: int) -> int:
        """Count the levels of a group's tree."""
        tree = self.content.trees[group]
        deep: list[int] = []
        for node in tree:
            deep.append(1 + max((deep[child] for child in node.children), default=0))
        return deep[-1] if deep else 0

    def find(self, name: str) -> int:
        """Find a group by name, however that is spelled; UsageError where there is none, or several."""
        if name in self.names:
            return self.names.index(name)
        same = [group for group, known in enumerate(self.names) if fold(known) == fold(name) and fold(name)]
        if len(same) == 1:
            return same[0]
        folded = {fold(known): known for known in reversed(self.names)}
        near = [folded[known] for known in get_close_matches(fold(name), folded, _NEAR, 0.3)]
        listed = near or [self.names[group] for group in self.by_size[:_NEAR]]
        raise UsageError(f"there is no group {name!r}", f"name one of {len(self.names):,}, such as {' · '.join(map(one_line, listed))}")


def grouped(index: HierarchyIndex) -> Grouped:
    """Look at the hierarchy of an index."""
    summaries = index.reports
    content = summaries.content
    there = index.ids()
    tokens = tokens_of(index, there)
    levels = tuple(Depth(*level, level.tokens / max(1, tokens)) for level in summaries.levels)
    at_home = {edge.leaf for edge in content.edges if edge.kind == "primary"}
    homeless = [id for leaf, id in enumerate(content.ids) if leaf not in at_home]
    files = Counter(_file(str(document.metadata.get("source", document.id))) for document in documents(index, homeless))
    return Grouped(summaries, levels, tokens, len(set(there) - set(content.ids)), dict(files.most_common()))


def _file(source: str) -> str:
    """Name the file of a passage; of a record, what stands before its own name."""
    file, mark, _ = source.partition("#")
    return file if mark and PurePath(file).suffix else source
