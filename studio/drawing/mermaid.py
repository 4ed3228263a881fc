"""A tree as a Mermaid flowchart, for documents, issues and wikis."""

import re

from ramify.nodes.tree import WORKING, Branch, Tree
from ramify.nodes.tree.phrases import figure, kind_of, measures
from ramify.tools.quoting import one_line

LONGEST = 160
STYLES = {
    "leaf": "stroke:#1c7d43",
    "inner": "stroke:#1d5fc4",
    "split": "stroke:#6a45c0",
    "pruned": "stroke:#6d7686,stroke-dasharray:4 4,opacity:0.6",
    "failed": "stroke:#b3261e,stroke-dasharray:4 4",
    "working": "stroke:#8f6000",
}
SPOKEN = re.compile(r"[^\w .,:?!'’→…·-]")
"""Characters that Mermaid or its HTML could interpret."""


def tree_mermaid(tree: Tree) -> str:
    """Return the tree as a top-down flowchart: one box per branch, with status, question, answer, scores and note."""
    boxes = [
        f'    {_name(branch.path)}["{_label(branch)}"]:::{"working" if branch.status in WORKING else branch.status}'
        for branch in tree.values()
    ]
    edges = [f"    {_name(branch.parent)} --> {_name(branch.path)}" for branch in tree.values() if branch.parent in tree and branch.parent]
    classes = [f"    classDef {tone} {style},stroke-width:2px" for tone, style in STYLES.items()]
    return "\n".join(["flowchart TD", *boxes, *edges, *classes, ""])


def _name(path: str) -> str:
    return "b" + path.replace(".", "_")


def _label(branch: Branch) -> str:
    lines = [f"{branch.path} · {branch.status}", kind_of(branch)]
    if branch.answer is not None:
        lines.append(f"→ {branch.answer or '(nothing)'}")
    lines += [" · ".join(f"{name} {figure(value)}" for name, value in measures(branch)), branch.note]
    return "<br/>".join(_spoken(line) for line in lines if line)


def _spoken(text: str) -> str:
    """Shorten and escape a text."""
    flat = one_line(text)
    short = flat if len(flat) <= LONGEST else flat[:LONGEST].rstrip() + "…"
    return SPOKEN.sub(lambda match: f"#{ord(match[0])};", short)
