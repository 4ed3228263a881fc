"""The drawing of a graph: its steps in the modules of the paper, and its edges without those that the settings exclude.

A solid edge is a decision, or always taken; a dotted one waits for other branches. A branch that takes no edge is settled, and the last
step runs once all are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langgraph.graph import END, START

from ramify.graphs.conditions import EdgeCondition, Join

OTHERWISE, SETTLED = "otherwise", "all settled"
Edges = Mapping[str, Sequence[tuple[EdgeCondition | None, str]]]
"""By step: conditions with the steps they lead to; None always holds."""
_ESCAPES = str.maketrans({'"': "#quot;", "<": "#lt;", ">": "#gt;"})
_ARROWS = {"always": "-->", "decision": "-->", "wait": "-.->"}


class DrawnEdge(NamedTuple):
    """An edge of a drawing."""

    source: str
    target: str
    label: str
    """Its conditions with the values of settings; empty if it is always taken."""
    kind: Literal["always", "decision", "wait"]


def draw_edges(edges: Edges, settings: Any, waiting_step: str = "") -> list[DrawnEdge]:
    """Return the edges that these settings leave, from the steps that can be reached from START.

    waiting_step: the step whose edges are only taken when every branch is settled.
    """
    drawn: list[DrawnEdge] = []
    reached = [START]
    for source in reached:
        left = [(condition, to) for condition, to in edges.get(source, ()) if condition is None or not condition.excluded(settings)]
        labels: dict[tuple[str, bool], list[str]] = {}
        for condition, target in left:
            text = (SETTLED if source == waiting_step else OTHERWISE) if condition is None else condition.label(settings)
            labels.setdefault((target, isinstance(condition, Join)), []).append(text)
        for (target, waits), texts in labels.items():
            is_plain = texts == [OTHERWISE] and len(left) == 1
            kind: Any = "always" if is_plain else "wait" if waits or source == waiting_step else "decision"
            drawn.append(DrawnEdge(source, target, "" if is_plain else " or ".join(dict.fromkeys(texts)), kind))
        reached += dict.fromkeys(target for _, target in left if target not in reached and target != END)
    return drawn


def to_mermaid(edges: Iterable[DrawnEdge], first: str, modules: Mapping[str, Sequence[str]]) -> str:
    """Return a flowchart in Mermaid's notation; `first` is the step that only takes in the question."""
    drawn = [edge for edge in edges if edge.source != START and edge.target != END]
    steps = list(dict.fromkeys(step for edge in drawn for step in (edge.source, edge.target)))
    lines = ["flowchart TD", *[f"    {first}([question])"] * (first in steps)]
    for name, members in modules.items():
        if present := [step for step in members if step in steps]:
            lines += [
                f'    subgraph {present[0]}_module["{name.translate(_ESCAPES)}"]',
                *(f"        {step}" for step in present),
                "    end",
            ]
    for edge in drawn:
        label = f'|"{edge.label.translate(_ESCAPES)}"|' if edge.label else ""
        lines.append(f"    {edge.source} {_ARROWS[edge.kind]}{label} {edge.target}")
    return "\n".join(lines) + "\n"
