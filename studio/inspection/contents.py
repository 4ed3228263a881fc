"""The contents of an index of any kind, also as JSON values; tables and citations for display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ramify.nodes.retrieve import passage_of
from ramify.nodes.tree.citation import Citation, cite
from ramify.tools.hierarchy.index import GroupOverview, HierarchyIndex, HierarchyView, hierarchy_view
from ramify.tools.hierarchy.leaves import Node
from ramify.tools.index import Hit, Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.manifest import Manifest
from ramify.tools.index.passage_store import FileList, read_file_list
from ramify.tools.knowledge.index import GraphIndex, GraphView, graph_view


@dataclass(frozen=True)
class Inspection:
    """The contents of an index."""

    folder: str
    manifest: Manifest
    inside: GraphView | None = None
    grouped: HierarchyView | None = None
    listed: FileList = field(default_factory=FileList)
    """Its files, where it lies in a folder."""

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; a plain index has no levels and no reports."""
        manifest = self.manifest
        counts = {"documents": manifest.documents, "passages": manifest.passages, "left_out": sum(manifest.hidden.values())}
        told = {name: getattr(manifest, name) for name in ("kind", "description", "embedding", "chunk_tokens", "overlap")}
        held = _graph(self.inside) if self.inside else _hierarchy(self.grouped) if self.grouped else {}
        held["counts"] = counts | held.get("counts", {})
        held["files"] = [{**one._asdict(), "left_out": dict(one.left_out)} for one in self.listed.files]
        held["unread"] = [{"name": name, "reason": reason} for name, reason in self.listed.unread]
        return {"index": self.folder, **told, "left_out": manifest.hidden, "counts": {}, "levels": [], "reports": [], "facts": {}, **held}


class Table(NamedTuple):
    """A table: heads, rows, the indices of text columns, and the anchors that rows link to on a page."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    long: bool = False
    """Whether it may have many rows and long words."""
    leads: Sequence[str] = ()


def inspection(index: Index) -> Inspection:
    """Return the contents of an index."""
    graph = graph_view(index, index.reports) if isinstance(index, GraphIndex) else None
    listed = FileList() if is_store_address(index.where) else read_file_list(Path(index.where))
    return Inspection(index.where, index.manifest, graph, hierarchy_view(index) if isinstance(index, HierarchyIndex) else None, listed)


def _graph(found: GraphView) -> dict[str, Any]:
    reports = []
    for id, community in found.partition.items():
        report = found.reports[id]
        head = {"community": id, "level": community.level, "parent": community.parent, "members": found.members(id)}
        said = {name: getattr(report, name) for name in ("title", "summary", "rating", "made_by")}
        findings = [{"text": finding.text, "passages": list(finding.passages)} for finding in report.findings]
        reports.append({**head, **said, "findings": findings})
    claims = [{"name": found.graph.names[claim.subject].name, **claim._asdict()} for claim in found.graph.claims]
    levels = [dict(zip(("level", "communities", "tokens", "share", "modularity"), level, strict=True)) for level in found.levels]
    return {"counts": found.counts, "levels": levels, "reports": reports, "claims": claims, "facts": dict(found.facts)}


def _hierarchy(found: HierarchyView) -> dict[str, Any]:
    content = found.content
    counts = {
        "groups": len(found.groups),
        "memberships": dict(found.edge_counts),
        "none_pool": sum(found.without_metadata.values()),
        "summaries": sum(map(len, content.trees.values())),
        "links": len(content.links),
        "suspicious_groups": sum(bool(one.flags) for one in content.diagnoses),
        "replaced_summaries": found.replaced,
        "missing_passages": found.missing_passages,
        "tokens": found.tokens,
    }
    reports = []
    for id, (group, place) in found.positions.items():
        head = {"summary": id, "level": id.count("."), "parent": id.rpartition(".")[0] or None, "group": found.groups[group].name}
        reports.append({**head, **_node(found, content.trees[group][place])})
    return {
        "group_by": list(content.fields),
        "counts": counts,
        "levels": [level._asdict() for level in found.levels],
        "groups": [_group(found, group) for group in found.suspicious_first],
        "reports": reports,
        "repairs": [{**one._asdict(), "group": found.groups[one.group].name} for one in content.repairs],
        "none_pool": dict(found.without_metadata),
        "drift": found.drifted,
        "notes": found.notes,
        "facts": dict(content.facts),
    }


def _group(found: HierarchyView, group: GroupOverview) -> dict[str, Any]:
    links = []
    for _, place, other, there, cosine in group.links:
        to = found.groups[other]
        links.append({"summary": group.tree[place].title, "to": to.name, "summary_there": to.tree[there].title, "cosine": cosine})
    return {
        "group": group.name,
        "kind": group.kind,
        "metadata": group.metadata,
        "passages": group.diagnosis.leaves,
        "summaries": len(group.tree),
        "levels": group.depth,
        "diagnostics": group.diagnosis.measures._asdict(),
        "suspicious": group.diagnosis.flags,
        "links": links,
    }


def _node(found: HierarchyView, node: Node) -> dict[str, Any]:
    """Return a summary with its supporting passages; a lowest one with its members."""
    ids = found.content.ids
    findings = [{"text": one.text, "passages": [ids[one.leaf]]} for one in node.summary.sentences]
    passages = {} if node.children else {"passages": [ids[leaf] for leaf in node.leaves]}
    return {"title": node.title, "made_by": node.summary.made_by, "support": node.summary.support, "findings": findings, **passages}


def group_json(found: HierarchyView, group: GroupOverview) -> dict[str, Any]:
    """Return a group with its tree of summaries as JSON values."""

    def branch(node: Node) -> dict[str, Any]:
        parts = {"parts": [branch(group.tree[child]) for child in node.children]} if node.children else {}
        return {**_node(found, node), **parts}

    members = [{"passage": found.content.ids[edge.leaf], "kind": edge.kind, "weight": edge.weight} for edge in group.edges]
    return {**_group(found, group), "memberships": members, "tree": branch(group.tree[-1])}


def sources(index: Index, ids: Sequence[str]) -> Mapping[str, Citation]:
    """Return passages as citations, by id."""
    passages = [passage_of(Hit(document, 0.0, 0.0)) for document in iterate_passages(index, list(dict.fromkeys(ids)))]
    return {citation.id: citation for citation in cite(passages, [""] * len(passages), cited=True)}
