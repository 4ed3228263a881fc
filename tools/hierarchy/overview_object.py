"""What the hierarchy of an index holds, as plain values: its groups, its summaries, and the tree of one group."""

from typing import Any

from ramify.tools.hierarchy.groups_and_nodes import Node
from ramify.tools.hierarchy.overview import Grouped


def grouped_object(found: Grouped) -> dict[str, Any]:
    """Give the counts, the levels, the groups, their summaries and the facts."""
    content = found.content
    counts = {
        "groups": len(content.groups),
        "memberships": dict(found.kinds),
        "none_pool": sum(found.homeless.values()),
        "summaries": sum(map(len, content.trees.values())),
        "links": len(content.links),
        "suspicious_groups": sum(bool(one.flags) for one in content.findings),
        "replaced_summaries": found.replaced,
        "missing_passages": found.missing,
        "tokens": found.tokens,
    }
    return {
        "group_by": list(content.fields),
        "counts": counts,
        "levels": [level._asdict() for level in found.levels],
        "groups": [_group(found, group) for group in found.suspicious_first],
        "reports": _summaries(found),
        "repairs": [{**one._asdict(), "group": found.names[one.group]} for one in content.repairs],
        "none_pool": dict(found.homeless),
        "drift": found.drifted,
        "notes": found.notes,
        "facts": dict(content.facts),
    }


def _group(found: Grouped, group: int) -> dict[str, Any]:
    content = found.content
    known, finding, trees = content.groups[group], content.findings[group], content.trees
    links = [
        {"summary": trees[group][place].title, "to": found.names[other], "summary_there": trees[other][there].title, "cosine": cosine}
        for place, other, there, cosine in found.links.get(group, ())
    ]
    return {
        "group": found.names[group],
        "kind": known.kind,
        "metadata": dict(zip(content.fields, known.key, strict=False)),
        "passages": finding.leaves,
        "summaries": len(content.trees[group]),
        "levels": found.depth(group),
        "diagnostics": finding.measured._asdict(),
        "suspicious": list(finding.flags),
        "links": links,
    }


def tree_object(found: Grouped, group: int) -> dict[str, Any]:
    """Give a group with its tree: summaries within summaries, the lowest with their passages."""
    kinds = [{"passage": found.content.ids[edge.leaf], "kind": edge.kind, "weight": edge.weight} for edge in found.edges.get(group, ())]
    return {**_group(found, group), "memberships": kinds, "tree": _node(found, group, len(found.content.trees[group]) - 1)}


def _node(found: Grouped, group: int, place: int) -> dict[str, Any]:
    node = found.content.trees[group][place]
    below = {"parts": [_node(found, group, child) for child in node.children]} if node.children else _passages(found, node)
    return {"title": node.title, **_said(found, node), **below}


def _summaries(found: Grouped) -> list[dict[str, Any]]:
    told = []
    for id, (group, place) in found.summaries.places.items():
        node = found.content.trees[group][place]
        head = {"summary": id, "level": id.count("."), "parent": id.rpartition(".")[0] or None, "group": found.names[group]}
        told.append({**head, "title": node.title, **_said(found, node), **({} if node.children else _passages(found, node))})
    return told


def _said(found: Grouped, node: Node) -> dict[str, Any]:
    ids = found.content.ids
    findings = [{"text": one.text, "passages": [ids[one.leaf]]} for one in node.summary.said]
    return {"made_by": node.summary.made_by, "support": node.summary.support, "findings": findings}


def _passages(found: Grouped, node: Node) -> dict[str, Any]:
    return {"passages": [found.content.ids[leaf] for leaf in node.leaves]}
