"""An index with a hierarchy: search through its groups, its summaries by level, and a view for display."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePath
from typing import NamedTuple

from ramify.kinds.hierarchy.hierarchy_file import HIERARCHY, HierarchyContent, read_hierarchy_file
from ramify.kinds.hierarchy.leaves import Edge, EdgeKind, GroupDiagnosis, GroupKind, Tree, unique_group_names
from ramify.kinds.hierarchy.router import Router, RouteSearch
from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.index.folder import index_file
from ramify.tools.index.index import LocalIndex, count_tokens, iterate_passages
from ramify.tools.index.reports import Report, ReportFinding, ReportLevel, Subject
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.quoting import one_line

_MAX_RATING = 10.0
_MAX_SUGGESTIONS = 5
"""Names suggested for an unknown group."""
NodePosition = tuple[int, int]
"""A group's number, and the position of a node in its tree."""


class Summaries:
    """Reads the summaries of a hierarchy by level: at level 0 "0" is the root of the largest group, "0.1" its second largest child."""

    subject: Subject = "summary"

    def __init__(self, path: Path) -> None:
        self.content = read_hierarchy_file(path)
        """The content of the hierarchy file."""

    @cached_property
    def _paths(self) -> list[dict[str, NodePosition]]:
        """The summaries of each level by number; a summary without children also counts at all levels below its own."""
        trees = self.content.trees
        roots = [(group, len(tree) - 1) for group, tree in sorted(trees.items()) if tree[-1].summary.sentences]
        roots.sort(key=lambda root: -len(trees[root[0]][root[1]].leaves))
        level = {str(number): root for number, root in enumerate(roots)}
        levels = []
        while True:
            levels.append(level)
            below = {
                position: part for id, place in level.items() for part, position in _child_summaries(id, place, trees[place[0]]).items()
            }
            if below.keys() == set(level.values()):
                return levels
            level = {part: position for position, part in below.items()}

    @cached_property
    def positions(self) -> dict[str, NodePosition]:
        """The group and node position of every summary by its number."""
        return {id: place for level in self._paths for id, place in level.items()}

    def _report(self, id: str) -> Report:
        group, place = self.positions[id]
        tree = self.content.trees[group]
        node = tree[place]
        title = node.title if place == len(tree) - 1 else f"{tree[-1].title} > {node.title}"
        findings = tuple(ReportFinding(sentence.text, (self.content.ids[sentence.leaf],)) for sentence in node.summary.sentences)
        rating = min(_MAX_RATING, float(max(1, len(node.leaves)).bit_length()))  # one point for each doubling of its leaves
        return Report(id, title, "", rating, findings, node.summary.made_by, "")

    @cached_property
    def levels(self) -> list[ReportLevel]:
        """The levels, that of the groups' roots first."""
        return [
            ReportLevel(number, len(own), sum(estimate_tokens(self._report(id).text) for id in own))
            for number, own in enumerate(self._paths)
        ]

    def reports(self, level: int) -> list[Report]:
        """Return the summaries of a level as reports; UsageError if there is no such level."""
        if not 0 <= level < len(self._paths):
            what = f"there is no level {level}: the hierarchy has levels 0 to {len(self._paths) - 1}"
            raise UsageError(what, "choose one of them, or level=auto")
        return list(self.by_ids(self._paths[level]))

    def by_ids(self, ids: Iterable[str]) -> list[Report]:
        """Return the summaries of some numbers as reports; unknown numbers are skipped."""
        return [self._report(id) for id in ids if id in self.positions]


def _child_summaries(id: str, place: NodePosition, tree: Tree) -> dict[str, NodePosition]:
    """Return the child summaries by number, the largest first; a summary without children returns itself."""
    group, own = place
    children = sorted((child for child in tree[own].children if tree[child].summary.sentences), key=lambda child: -len(tree[child].leaves))
    return {f"{id}.{number}": (group, child) for number, child in enumerate(children)} or {id: place}


class HierarchyIndex(LocalIndex[RouteSearch]):
    """An index of kind `hierarchy`, searched through the groups that match a question."""

    kind_name, settings_class = "a hierarchy", RouteSearch

    def load_structure(self, ids: Sequence[str]) -> Router:
        """Return the router of the passages at these positions."""
        return Router(index_file(self.folder, HIERARCHY), ids)

    @cached_property
    def reports(self) -> Summaries:
        """The summaries by level."""
        return Summaries(index_file(self.folder, HIERARCHY))


class SummaryLevel(NamedTuple):
    """A level of summaries: number of summaries, their tokens, and these as a share of the source text."""

    number: int
    summaries: int
    tokens: int
    share: float


class GroupOverview(NamedTuple):
    """A group for display, with a unique name."""

    number: int
    name: str
    kind: GroupKind
    metadata: Mapping[str, str]
    diagnosis: GroupDiagnosis
    tree: Tree
    edges: Sequence[Edge]

    @property
    def depth(self) -> int:
        """Return the number of levels of its tree."""
        deep: list[int] = []
        for node in self.tree:
            deep.append(1 + max((deep[child] for child in node.children), default=0))
        return deep[-1] if deep else 0


@dataclass(frozen=True)
class HierarchyView:
    """The hierarchy of an index, for display."""

    content: HierarchyContent
    groups: Sequence[GroupOverview]
    positions: Mapping[str, NodePosition]
    """The group and node position of each summary, by its number."""
    levels: Sequence[SummaryLevel]
    tokens: int
    """Tokens of all searchable passages."""
    missing_passages: int
    """Passages added after the hierarchy was built."""
    without_metadata: Mapping[str, int]
    """Number of passages without the grouping metadata (the None-pool), by file."""
    made_by: str
    replaced: int
    """Summaries quoted from the documents because the model failed to write them."""
    drifted: Mapping[str, float]
    """Groups changed by more than `MAX_DRIFT` since they were clustered, with the share, the largest first."""
    notes: Sequence[str]
    """Notes on fallbacks during the build."""

    @cached_property
    def edge_counts(self) -> Counter[EdgeKind]:
        """Number of memberships by kind."""
        return Counter(edge.kind for edge in self.content.edges)

    @cached_property
    def by_size(self) -> list[GroupOverview]:
        """The groups by descending size."""
        return sorted(self.groups, key=lambda group: -group.diagnosis.leaves)

    @cached_property
    def suspicious_first(self) -> list[GroupOverview]:
        """The groups by descending number of suspicious measures."""
        return sorted(self.by_size, key=lambda group: -len(group.diagnosis.flags))

    def find(self, name: str) -> GroupOverview:
        """Return the group of a name, ignoring case and accents; UsageError if there is none, or several."""
        exact = [group for group in self.groups if group.name == name]
        same = [group for group in self.groups if fold(group.name) == fold(name) and fold(name)]
        if exact or len(same) == 1:
            return (exact or same)[0]
        folded = {fold(group.name): group.name for group in reversed(self.groups)}
        close = [folded[known] for known in get_close_matches(fold(name), folded, _MAX_SUGGESTIONS, 0.3)]
        listed = close or [group.name for group in self.by_size[:_MAX_SUGGESTIONS]]
        raise UsageError(f"there is no group {name!r}", f"choose one of {len(self.groups):,}, such as {' · '.join(map(one_line, listed))}")


def hierarchy_view(index: HierarchyIndex) -> HierarchyView:
    """Return the view of an index's hierarchy."""
    summaries, ids = index.reports, index.ids()
    content, tokens = summaries.content, count_tokens(index, ids)
    edges: dict[int, list[Edge]] = defaultdict(list)
    for edge in content.edges:
        edges[edge.group].append(edge)
    groups = []
    for number, (name, group) in enumerate(zip(unique_group_names(content.groups), content.groups, strict=True)):
        metadata = dict(zip(content.fields, group.key, strict=False))
        details = (content.diagnoses[number], content.trees[number], edges[number])
        groups.append(GroupOverview(number, name, group.kind, metadata, *details))
    grouped_leaves = {edge.leaf for edge in content.edges if edge.kind == "primary"}
    without_metadata = [id for leaf, id in enumerate(content.ids) if leaf not in grouped_leaves]
    files = Counter(_file_name(passage.source) for passage in iterate_passages(index, without_metadata))
    drifted = {name: float(share) for name, share in _facts(content, "drifted ").items()}
    return HierarchyView(
        content,
        groups,
        summaries.positions,
        [SummaryLevel(*level, level.tokens / max(1, tokens)) for level in summaries.levels],
        tokens,
        missing_passages=len(set(ids) - set(content.ids)),
        without_metadata=dict(files.most_common()),
        made_by=content.facts.get("made_by", ""),
        replaced=int(content.facts.get("replaced", 0)),
        drifted=dict(sorted(drifted.items(), key=lambda item: (-item[1], item[0]))),
        notes=list(_facts(content, "note ").values()),
    )


def _facts(content: HierarchyContent, prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in content.facts.items() if name.startswith(prefix)}


def _file_name(source: str) -> str:
    """Return the file of a source; of a record `file#id`, the file."""
    file, mark, _ = source.partition("#")
    return file if mark and PurePath(file).suffix else source
