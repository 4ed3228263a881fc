"""A tree as a Mermaid flowchart, for documents, issues and wikis."""

import re

from ramify.nodes.tree import WORKING, Branch, Tree
from ramify.nodes.tree.notes import figure
from ramify.studio.drawing.phrases import kind_of, measures
from ramify.tools.quoting import one_line

MAX_LINE_CHARS = 160
STATUS_STYLES = {
    "leaf": "stroke:#1c7d43",
    "inner": "stroke:#1d5fc4",
    "split": "stroke:#6a45c0",
    "pruned": "stroke:#666f7f,stroke-dasharray:4 4,opacity:0.6",
    "failed": "stroke:#b3261e,stroke-dasharray:4 4",
    "working": "stroke:#8f6000",
}
SPECIAL_CHARACTERS = re.compile(r"[^\w .,:?!'’→…·-]")
"""Characters that Mermaid or its HTML could interpret."""


def tree_mermaid(tree: Tree) -> str:
    """Return the tree as a top-down flowchart: one box per branch, with status, question, answer, scores and note."""
    boxes = [
        f'    {_node_id(branch.path)}["{_label(branch)}"]:::{"working" if branch.status in WORKING else branch.status}'
        for branch in tree.values()
    ]
    edges = [
        f"    {_node_id(branch.parent)} --> {_node_id(branch.path)}" for branch in tree.values() if branch.parent in tree and branch.parent
    ]
    classes = [f"    classDef {status} {style},stroke-width:2px" for status, style in STATUS_STYLES.items()]
    return "\n".join(["flowchart TD", *boxes, *edges, *classes, ""])


def _node_id(path: str) -> str:
    return "b" + path.replace(".", "_")


def _label(branch: Branch) -> str:
    lines = [f"{branch.path} · {branch.status}", kind_of(branch)]
    if branch.answer is not None:
        lines.append(f"→ {branch.answer or '(nothing)'}")
    lines += [" · ".join(f"{name} {figure(value)}" for name, value in measures(branch)), branch.note]
    return "<br/>".join(_escape(line) for line in lines if line)


def _escape(text: str) -> str:
    """Return a text on one line, shortened and escaped."""
    line = one_line(text)
    shortened = line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS].rstrip() + "…"
    return SPECIAL_CHARACTERS.sub(lambda match: f"#{ord(match[0])};", shortened)
