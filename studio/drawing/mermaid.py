"""A tree as a Mermaid flowchart, for what draws Mermaid: documents, issues, wikis."""

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
"""What Mermaid, or the HTML that it writes, could take for more than a character of a label."""


def tree_mermaid(tree: Tree) -> str:
    """Give the tree as a flowchart from top to bottom: a box a branch, with status, question, answer, figures and note."""
    boxes = [f'    {_name(branch.path)}["{_label(branch)}"]:::{_tone(branch)}' for branch in tree.values()]
    edges = [f"    {_name(branch.parent)} --> {_name(branch.path)}" for branch in tree.values() if branch.parent in tree and branch.parent]
    classes = [f"    classDef {tone} {style},stroke-width:2px" for tone, style in STYLES.items()]
    return "\n".join(["flowchart TD", *boxes, *edges, *classes, ""])


def _name(path: str) -> str:
    return "b" + path.replace(".", "_")


def _tone(branch: Branch) -> str:
    return "working" if branch.status in WORKING else branch.status


def _label(branch: Branch) -> str:
    lines = [f"{branch.path} · {branch.status}", kind_of(branch)]
    if branch.answer is not None:
        lines.append(f"→ {branch.answer or '(nothing)'}")
    lines += [" · ".join(f"{name} {figure(value)}" for name, value in measures(branch)), branch.note]
    return "<br/>".join(_spoken(line) for line in lines if line)


def _spoken(text: str) -> str:
    """Write a text so that it is only ever read: by its characters' numbers where they could mean something."""
    flat = one_line(text)
    short = flat if len(flat) <= LONGEST else flat[:LONGEST].rstrip() + "…"
    return SPOKEN.sub(lambda match: f"#{ord(match[0])};", short)
