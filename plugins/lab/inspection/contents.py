"""The contents of an index of any kind, also as JSON values; tables and citations for display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ramify.kinds.hierarchy.index import GroupOverview, HierarchyIndex, HierarchyView, hierarchy_view
from ramify.kinds.hierarchy.leaves import Node
from ramify.kinds.knowledge.index import GraphIndex, GraphView, graph_view
from ramify.nodes.tree.citation import Citation, cite
from ramify.tools.index import Index
from ramify.tools.index.file_list import FileList, read_file_list
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.manifest import Manifest


@dataclass(frozen=True)
class Inspection:
    """The contents of an index."""

    folder: str
    manifest: Manifest
    graph: GraphView | None = None
    hierarchy: HierarchyView | None = None
    file_list: FileList = field(default_factory=FileList)
    """The files of an index in a folder."""

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; a plain index has no levels and no reports."""
        manifest = self.manifest
        counts = {name: getattr(manifest, name) for name in ("files", "documents", "passages")}
        counts["left_out"] = sum(manifest.hidden.values())
        manifest_fields = {name: getattr(manifest, name) for name in ("kind", "description", "embedding", "chunk_tokens", "overlap")}
        content = _graph_json(self.graph) if self.graph else _hierarchy_json(self.hierarchy) if self.hierarchy else {}
        content["counts"] = counts | content.get("counts", {})
        content["files"] = [
            {**file._asdict(), "left_out": dict(file.left_out), "remarks": list(file.remarks)} for file in self.file_list.files
        ]
        content["outdated"] = self.file_list.outdated
        content["unread"] = [{"name": name, "reason": reason} for name, reason in self.file_list.unread]
        return {
            "index": self.folder,
            **manifest_fields,
            "left_out": manifest.hidden,
            "counts": {},
            "levels": [],
            "reports": [],
            "facts": {},
            **content,
        }


class InspectionTable(NamedTuple):
    """A table: heads, rows, the indices of its text columns, and the anchors that its rows link to on a page."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: Sequence[int] = (0,)
    is_long: bool = False
    """Whether it can have many rows and long words."""
    row_anchors: Sequence[str] = ()


def inspect_index(index: Index) -> Inspection:
    """Return the contents of an index."""
    graph = graph_view(index, index.reports) if isinstance(index, GraphIndex) else None
    file_list = FileList() if is_store_address(index.where) else read_file_list(Path(index.where))
    return Inspection(index.where, index.manifest, graph, hierarchy_view(index) if isinstance(index, HierarchyIndex) else None, file_list)


def _graph_json(view: GraphView) -> dict[str, Any]:
    reports = []
    for id, community in view.partition.items():
        report = view.reports[id]
        head = {"community": id, "level": community.level, "parent": community.parent, "members": view.members(id)}
        report_fields = {name: getattr(report, name) for name in ("title", "summary", "rating", "made_by")}
        findings = [{"text": finding.text, "passages": list(finding.passages)} for finding in report.findings]
        reports.append({**head, **report_fields, "findings": findings})
    claims = [{"name": view.graph.names[claim.subject].name, **claim._asdict()} for claim in view.graph.claims]
    levels = [dict(zip(("level", "communities", "tokens", "share", "modularity"), level, strict=True)) for level in view.levels]
    return {"counts": view.counts, "levels": levels, "reports": reports, "claims": claims, "facts": dict(view.facts)}


def _hierarchy_json(view: HierarchyView) -> dict[str, Any]:
    content = view.content
    counts = {
        "groups": len(view.groups),
        "memberships": dict(view.edge_counts),
        "none_pool": sum(view.without_metadata.values()),
        "summaries": sum(map(len, content.trees.values())),
        "suspicious_groups": sum(bool(diagnosis.flags) for diagnosis in content.diagnoses),
        "replaced_summaries": view.replaced,
        "missing_passages": view.missing_passages,
        "tokens": view.tokens,
    }
    reports = []
    for id, (group, own_place) in view.positions.items():
        head = {"summary": id, "level": id.count("."), "parent": id.rpartition(".")[0] or None, "group": view.groups[group].name}
        reports.append({**head, **_summary_json(view, content.trees[group][own_place])})
    return {
        "group_by": list(content.fields),
        "counts": counts,
        "levels": [level._asdict() for level in view.levels],
        "groups": [_group_json(view, group) for group in view.suspicious_first],
        "reports": reports,
        "repairs": [{**repair._asdict(), "group": view.groups[repair.group].name} for repair in content.repairs],
        "none_pool": dict(view.without_metadata),
        "drift": view.drifted,
        "notes": view.notes,
        "facts": dict(content.facts),
    }


def _group_json(view: HierarchyView, group: GroupOverview) -> dict[str, Any]:
    return {
        "group": group.name,
        "kind": group.kind,
        "metadata": group.metadata,
        "passages": group.diagnosis.leaves,
        "summaries": len(group.tree),
        "levels": group.depth,
        "diagnostics": group.diagnosis.measures._asdict(),
        "suspicious": group.diagnosis.flags,
    }


def _summary_json(view: HierarchyView, node: Node) -> dict[str, Any]:
    """Return a summary with its supporting passages; a lowest one with its members."""
    ids = view.content.ids
    findings = [{"text": sentence.text, "passages": [ids[sentence.leaf]]} for sentence in node.summary.sentences]
    passages = {} if node.children else {"passages": [ids[leaf] for leaf in node.leaves]}
    return {"title": node.title, "made_by": node.summary.made_by, "support": node.summary.support, "findings": findings, **passages}


def group_json(view: HierarchyView, group: GroupOverview) -> dict[str, Any]:
    """Return a group with its tree of summaries as JSON values."""

    def subtree_json(node: Node) -> dict[str, Any]:
        parts = {"parts": [subtree_json(group.tree[child]) for child in node.children]} if node.children else {}
        return {**_summary_json(view, node), **parts}

    members = [{"passage": view.content.ids[edge.leaf], "kind": edge.kind, "weight": edge.weight} for edge in group.edges]
    return {**_group_json(view, group), "memberships": members, "tree": subtree_json(group.tree[-1])}


def load_citations(index: Index, ids: Sequence[str]) -> Mapping[str, Citation]:
    """Return passages as citations, by id."""
    passages = list(iterate_passages(index, list(dict.fromkeys(ids))))
    return {citation.id: citation for citation in cite(passages, [""] * len(passages), cited=True)}
