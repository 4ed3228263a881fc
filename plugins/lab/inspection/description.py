"""Texts and tables on the contents of an index, for terminal and page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import TypeVar

from ramify.kinds.hierarchy.build import FLAG_LIMITS
from ramify.kinds.hierarchy.hierarchy_file import MAX_DRIFT
from ramify.kinds.hierarchy.index import GroupOverview, HierarchyView
from ramify.kinds.hierarchy.leaves import NO_FIELDS as UNGROUPED
from ramify.kinds.hierarchy.leaves import EdgeKind, GroupKind, GroupMeasures, Node
from ramify.kinds.knowledge.communities import EXTRACTIVE
from ramify.kinds.knowledge.index import PAPER_CORPORA, PAPER_SHARES, GraphView
from ramify.lab.inspection.contents import Inspection, InspectionTable, load_citations
from ramify.nodes.tree.citation import Citation
from ramify.tools.index import Index
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.manifest import FULL_PRECISION
from ramify.tools.quoting import one_line, pluralize, truncate_line
from ramify.tools.search.searcher import hidden_note, hidden_reasons

MAX_COMMUNITIES = 10
"""Maximum number of communities listed."""
MAX_CLAIMS = 20
"""Maximum number of claims listed; --json prints all."""
NO_VALUE = "—"
GRAPH_NOTES = (
    "C0 is the root level, Q the modularity of a level, TS the text of all searched passages; tokens are estimated, of both alike.",
    "The paper is Edge et al. 2024, From Local to Global: its C3 is its lowest level, its units are 600 tokens long, ours are passages.",
)
MAX_LISTED_NAMES = 5
"""Maximum number of names listed."""
GROUP_KIND_LABELS: Mapping[GroupKind, str] = {"metadata": "by metadata", "founded": "founded", "pool": "ungrouped", "all": "everything"}
EDGE_KIND_LABELS: Mapping[EdgeKind, str] = {
    "primary": "by metadata",
    "soft": "soft: by content, because metadata is missing",
    "novel": "novel: nearest group, because none fits",
    "escape": "escape: additional group, because its metadata group fits poorly",
    "founded": "founded: new group of passages that fit no other",
    "pool": "ungrouped",
    "moved": "moved: by repair",
}
K = TypeVar("K")
SUSPICIOUS_NOTE = "suspicious (!): " + "; ".join(f"{name} {limit}" for name, limit in FLAG_LIMITS.items())


def index_facts(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Yield facts about an index as label and text."""
    manifest = inspection.manifest
    yield "kind", manifest.kind
    if manifest.description:
        yield "description", one_line(manifest.description)
    if manifest.files:
        yield "files", f"{manifest.files:,}"
    if manifest.documents != manifest.files:
        yield "documents", f"{manifest.documents:,}"
    yield "passages", f"{manifest.passages:,} searched{hidden_note(manifest.hidden)}"
    if manifest.label:
        yield "label", f"{', '.join(manifest.label)}, title and headings: included in the searched text"
    yield "embedding", f"{manifest.embedding}; passages of at most {manifest.chunk_tokens:,} tokens, {manifest.overlap:,} of them shared"
    if manifest.vectors != FULL_PRECISION:
        yield "vectors", f"searched as {manifest.vectors}; scores are computed from fp32"
    if inspection.file_list.outdated:
        yield "readers", f"{pluralize(inspection.file_list.outdated, 'file')} read by an earlier version: index the same paths again"
    if inspection.graph is not None:
        yield from _graph_facts(inspection.graph, manifest.passages)
    if inspection.hierarchy is not None:
        yield from hierarchy_facts(inspection.hierarchy, one_line(inspection.folder))


def index_tables(inspection: Inspection) -> list[InspectionTable]:
    """Return the tables of a graph (levels, comparison with the paper), of a hierarchy (groups), or of a plain index (files)."""
    if inspection.hierarchy is not None:
        return hierarchy_tables(inspection.hierarchy)
    return _graph_tables(inspection.graph, inspection.manifest.passages) if inspection.graph is not None else _file_tables(inspection)


def _file_tables(inspection: Inspection) -> list[InspectionTable]:
    """Return the files with their passages, the remarks on them, and the files that the last build skipped, if any."""
    rows = [
        (f"{file.searched:,}", hidden_reasons(file.left_out) or NO_VALUE, one_line(file.source) or "(given by a program)")
        for file in sorted(inspection.file_list.files, key=lambda file: (file.source, file.root))
    ]
    file_tables = [InspectionTable(("searched", "not searched", "file"), rows, text_columns=(1, 2), is_long=True)] if rows else []
    remarks = [(one_line(file.source), one_line(remark)) for file in inspection.file_list.files for remark in file.remarks]
    remark_tables = [InspectionTable(("file", "remark"), remarks, text_columns=(0, 1), is_long=True)] if remarks else []
    skipped_tables = (
        [
            InspectionTable(
                ("left out", "why"),
                [(one_line(name), one_line(reason)) for name, reason in inspection.file_list.unread],
                text_columns=(0, 1),
                is_long=True,
            )
        ]
        if inspection.file_list.unread
        else []
    )
    return file_tables + remark_tables + skipped_tables


def table_notes(inspection: Inspection) -> tuple[str, ...]:
    """Return the notes that explain the tables."""
    return (SUSPICIOUS_NOTE,) if inspection.hierarchy is not None else GRAPH_NOTES if inspection.graph is not None else ()


def structure_hint(inspection: Inspection) -> str:
    """Return how to add a graph or hierarchy to a plain index."""
    if is_store_address(inspection.folder):
        return "no graph and no hierarchy: only an index in a folder can have one"
    command = f"`ramify index --kind graph --out {quote(one_line(inspection.folder))}` adds a graph"
    return f"no graph and no hierarchy: {command}, --kind hierarchy a hierarchy, without encoding passages again"


def _graph_facts(inside: GraphView, passages: int) -> Iterator[tuple[str, str]]:
    counts = inside.counts
    unconnected = f"; {counts['unconnected_names']:,} of them without a connection" if counts["unconnected_names"] else ""
    yield "names", f"{counts['names']:,}, found by {_model_label(inside.facts.get('made_by', ''))}{unconnected}"
    with_names = counts["passages_with_names"]
    yield "", f"in {with_names:,} of {passages:,} passages ({_format_percent(with_names / max(1, passages))})"
    yield "connections", f"{counts['connections']:,}"
    if counts["claims"]:
        yield "claims", f"{counts['claims']:,}"
    replaced = f", {counts['replaced_reports']:,} of them replaced by quotations" if counts["replaced_reports"] else ""
    yield "reports", f"{len(inside.reports):,}, written by {_model_label(inside.facts.get('reported_by', ''))}{replaced}"
    if inside.unread:
        reasons = sorted({one_line(why) for why in inside.unread.values()})
        yield "not read", f"{len(inside.unread):,} units, the first from {next(iter(inside.unread))}: {reasons[0]}"


def _model_label(name: str) -> str:
    """Return the name of the model that extracted names or wrote reports."""
    return "rules (no model)" if name == EXTRACTIVE else one_line(name) or "an unknown model"


def _format_percent(share: float) -> str:
    """Format a share; never 100 % unless complete."""
    return f"{min(share, 0.999):.1%}".replace("%", " %") if share < 1 else f"{share:.0%}".replace("%", " %")


def _graph_tables(inside: GraphView, passages: int) -> list[InspectionTable]:
    """Return the levels and sizes, compared with those of the GraphRAG paper, and the largest communities of level 0."""
    levels, by_number = [], {level.number: level for level in inside.levels}
    for number in sorted({*by_number, *PAPER_SHARES}):
        level = by_number.get(number)
        level_cells = (
            (f"{level.communities:,}", f"{level.tokens:,}", _format_percent(level.share), f"{level.modularity:.2f}")
            if level
            else (NO_VALUE,) * 4
        )
        levels.append((f"C{number}", *level_cells, PAPER_SHARES.get(number, NO_VALUE)))
    text = ("TS", NO_VALUE, f"{inside.tokens:,}", "100 %", NO_VALUE, "100 %")
    counts = (inside.tokens, passages, inside.counts["names"], inside.counts["connections"])
    corpora = [("this index", *(f"{count:,}" for count in counts)), *((f"the paper's {name}", *sizes) for name, *sizes in PAPER_CORPORA)]
    largest = [
        (f"{inside.size(id):,}", f"{inside.reports[id].rating:g}", one_line(inside.reports[id].title))
        for id in inside.root[:MAX_COMMUNITIES]
    ]
    return [
        InspectionTable(("level", "communities", "tokens of reports", "of the text", "Q", "the paper's share"), [*levels, text]),
        InspectionTable(("corpus", "tokens", "units", "names", "connections"), corpora),
        InspectionTable(("names", "rating", "largest communities of level 0"), largest, text_columns=(2,), is_long=True),
        *_claims(inside),
    ]


def _claims(inside: GraphView) -> Iterator[InspectionTable]:
    """Yield the first claims with their quotations, if any."""
    rows = [
        tuple(
            map(
                one_line,
                (
                    inside.graph.names[claim.subject].name,
                    claim.object or NO_VALUE,
                    claim.kind or NO_VALUE,
                    claim.dates or NO_VALUE,
                    claim.span,
                ),
            )
        )
        for claim in inside.graph.claims[:MAX_CLAIMS]
    ]
    if rows:
        yield InspectionTable(
            ("claims on", "concerning", "type", "dates", "in the words of the documents"), rows, text_columns=(0, 1, 2, 3, 4), is_long=True
        )


def hierarchy_facts(hierarchy: HierarchyView, folder: str) -> Iterator[tuple[str, str]]:
    """Yield facts about a hierarchy as label and text."""
    content = hierarchy.content
    yield "grouped by", "nothing: one tree over everything" if content.fields == (UNGROUPED,) else ", ".join(content.fields)
    kinds = Counter(group.kind for group in hierarchy.groups)
    yield "groups", f"{len(hierarchy.groups):,}: {', '.join(_count_labels(kinds, GROUP_KIND_LABELS))}"
    memberships = _count_labels(hierarchy.edge_counts, EDGE_KIND_LABELS) or ["none"]
    yield "memberships", memberships[0]
    yield from (("", more) for more in memberships[1:])
    yield "None-pool", _without_metadata(hierarchy)
    yield "summaries", f"{sum(map(len, content.trees.values())):,}, {_summary_origin(hierarchy.made_by, hierarchy.replaced)}"
    yield "suspicious", f"{sum(bool(diagnosis.flags) for diagnosis in content.diagnoses):,} of {len(hierarchy.groups):,} groups"
    yield from _repair_facts(hierarchy)
    if hierarchy.drifted:
        groups = [f"{one_line(name)} {share:.0%}" for name, share in hierarchy.drifted.items()]
        summary = (
            f"{len(groups):,} {'group has' if len(groups) == 1 else 'groups have'} changed by more than {MAX_DRIFT:.0%} since clustered"
        )
        yield "drift", f"{summary} ({_join_first(groups)}): `ramify index --kind hierarchy --out {folder} --rebuild` clusters them again"
    if hierarchy.missing_passages:
        summary = f"{hierarchy.missing_passages:,} passages were added since the hierarchy was built"
        yield "behind", f"{summary}: `ramify index --kind hierarchy --out {folder}` brings it up to date"
    yield from (("note", one_line(line)) for line in hierarchy.notes[:MAX_LISTED_NAMES])


def _count_labels(kinds: Counter[K], labels: Mapping[K, str]) -> list[str]:
    return [f"{kinds[kind]:,} {label}" for kind, label in labels.items() if kinds[kind]]


def _join_first(items: Sequence[str], noun: str = "") -> str:
    """Return the first items and the number of the others."""
    return ", ".join(items[:MAX_LISTED_NAMES]) + (
        f" and {len(items) - MAX_LISTED_NAMES:,} more{noun}" if len(items) > MAX_LISTED_NAMES else ""
    )


def _summary_origin(made_by: str, replaced: int) -> str:
    name = "quoted from the documents (no model)" if made_by == EXTRACTIVE else f"written by {one_line(made_by) or 'an unknown model'}"
    return name + (f", {replaced:,} of them replaced by quotations" if replaced else "")


def _without_metadata(hierarchy: HierarchyView) -> str:
    """Return the number of passages without metadata, their files, and where they were assigned."""
    if not hierarchy.without_metadata:
        return "no passage lacks the metadata"
    files = [f"{one_line(file)} {passages:,}" for file, passages in hierarchy.without_metadata.items()]
    in_no_group = hierarchy.edge_counts["pool"]
    assignment = f"{in_no_group:,} of them in no group" if in_no_group else "all of them assigned to groups"
    return f"{sum(hierarchy.without_metadata.values()):,} passages without metadata ({_join_first(files, ' files')}), {assignment}"


def _repair_facts(hierarchy: HierarchyView) -> Iterator[tuple[str, str]]:
    """Yield the repairs of each round with numbers of groups and passages."""
    done: dict[tuple[int, str], list[int]] = {}
    for repair in hierarchy.content.repairs:
        done.setdefault((repair.round, repair.what), []).append(repair.leaves)
    for number, ((round, what), leaves) in enumerate(done.items()):
        yield (
            "" if number else "repairs",
            f"round {round}: {what} in {pluralize(len(leaves), 'group')} ({pluralize(sum(leaves), 'passage')})",
        )


def hierarchy_tables(hierarchy: HierarchyView) -> list[InspectionTable]:
    """Return the levels, the groups by size, and their diagnostics, suspicious ones first."""
    levels = [
        (f"{level.number}", f"{level.summaries:,}", f"{level.tokens:,}", f"{level.share:.1%}".replace("%", " %"))
        for level in hierarchy.levels
    ]
    text = ("text", "—", f"{hierarchy.tokens:,}", "100 %")
    groups = []
    for group in hierarchy.by_size:
        counts = (f"{count:,}" for count in (group.diagnosis.leaves, len(group.tree), group.depth))
        flags = f"{len(group.diagnosis.flags)} !" if group.diagnosis.flags else "—"
        groups.append((one_line(group.name), GROUP_KIND_LABELS[group.kind], *counts, flags))
    measures = [(one_line(overview.name), *(value for _, value in _diagnostics(overview))) for overview in hierarchy.suspicious_first]
    heads = ("group", "kind", "passages", "summaries", "levels", "suspicious")
    return [
        InspectionTable(("level", "summaries", "tokens of summaries", "of the text"), [*levels, text], is_long=True),
        InspectionTable(
            heads, groups, text_columns=(0, 1), is_long=True, row_anchors=[group_anchor(overview.number) for overview in hierarchy.by_size]
        ),
        InspectionTable(
            ("group", *GroupMeasures._fields),
            measures,
            is_long=True,
            row_anchors=[group_anchor(overview.number) for overview in hierarchy.suspicious_first],
        ),
    ]


def group_anchor(number: int) -> str:
    """Return the anchor of a group on the page."""
    return f"group-{number}"


def _diagnostics(group: GroupOverview) -> list[tuple[str, str]]:
    """Return the diagnostics of a group; suspicious values are marked."""
    values = group.diagnosis.measures._asdict().items()
    return [(name, f"{value:.2f}{' !' if name in group.diagnosis.flags else ''}") for name, value in values]


def group_details(hierarchy: HierarchyView, group: GroupOverview) -> Iterator[tuple[str, str]]:
    """Yield facts about a group, without diagnostics."""
    values = ", ".join(f"{field} {value}" for field, value in group.metadata.items() if value)
    yield "kind", GROUP_KIND_LABELS[group.kind] + (f" ({one_line(values)})" if values else "")
    yield (
        "passages",
        f"{group.diagnosis.leaves:,}: {', '.join(_count_labels(Counter(edge.kind for edge in group.edges), EDGE_KIND_LABELS))}",
    )
    replaced = sum(node.summary.made_by != hierarchy.made_by for node in group.tree)
    yield "summaries", f"{len(group.tree):,} on {group.depth:,} levels, {_summary_origin(hierarchy.made_by, replaced)}"
    for repair in hierarchy.content.repairs:
        if repair.group == group.number:
            yield "repaired", f"round {repair.round}: {repair.what} ({repair.leaves:,} passages)"
    if group.name in hierarchy.drifted:
        yield "drift", f"{hierarchy.drifted[group.name]:.0%} of its passages have changed since it was clustered: --rebuild"


def group_diagnostics(hierarchy: HierarchyView, group: GroupOverview) -> Iterator[tuple[str, str]]:
    """Yield the diagnostics of a group."""
    for name, value in _diagnostics(group):
        yield name, value + (f" suspicious: {FLAG_LIMITS[name]}" if name in group.diagnosis.flags else "")


class GroupTree:
    """The tree of a group with the passages to display: those that its summaries cite, and up to `max_leaves` below each lowest summary."""

    def __init__(self, hierarchy: HierarchyView, group: GroupOverview, index: Index, max_leaves: int) -> None:
        self.nodes = group.tree
        self.root = self.nodes[-1]
        self.kinds = {edge.leaf: edge.kind for edge in group.edges if edge.kind != "primary"}
        self._made_by = hierarchy.made_by
        shown_leaves = {leaf for node in self.nodes if not node.children for leaf in node.leaves[:max_leaves]}
        quoted_leaves = {sentence.leaf for node in self.nodes for sentence in node.summary.sentences}
        ids = {leaf: hierarchy.content.ids[leaf] for leaf in sorted(shown_leaves | quoted_leaves)}
        cited = load_citations(index, list(ids.values()))
        self.cited: Mapping[int, tuple[str, Citation | None]] = {leaf: (id, cited.get(id)) for leaf, id in ids.items()}
        """The id of a passage, and its citation, or None if it is no longer in the index."""

    def text(self, leaf: int, max_chars: int) -> str:
        """Return the shortened text of a passage."""
        _, cited = self.cited[leaf]
        return truncate_line(cited.text, max_chars) if cited else "is no longer in the index"

    def is_replaced(self, node: Node) -> bool:
        """Return whether a summary is quoted because the model did not write one."""
        return node.summary.made_by != self._made_by
