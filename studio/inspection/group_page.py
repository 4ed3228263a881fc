"""The groups of a hierarchy as a page shows them: tables that lead to each group, which unfolds to its tree of summaries."""

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from ramify.studio.drawing.phrases import named
from ramify.studio.inspection.contents import GroupTree
from ramify.studio.inspection.group_phrases import GROUPS, LEVELS, MEASURES, SUSPICIOUS, about, beside, group_row, level_rows, measure_row
from ramify.studio.inspection.phrases import Table
from ramify.tools.hierarchy.groups_and_nodes import Node
from ramify.tools.hierarchy.overview import Grouped
from ramify.tools.hierarchy.summaries import QUOTED
from ramify.tools.index import Index
from ramify.tools.pages import part
from ramify.tools.quoting import brief

PARTS = "inspect_parts.html"
NOTHING = Markup()
ROOM = 4_000_000
"""Bytes that the trees of a page may take: the largest groups come first, and of the last ones the first summary alone."""
_BRIEF = 1500
"""Bytes that are kept for each group that is still to come."""
_LEAVES = 30
"""Passages below a summary that are shown."""
_LONG = 240
"""Characters of a passage."""


def groups_shown(found: Grouped, index: Index) -> dict[str, Any]:
    """Give the levels, the groups, what was measured of them, and their trees; what there is no room for is counted."""
    trees = _trees(found, index)
    lead = {group: anchor(group) for group in trees}

    def table(heads: Sequence[str], groups: Sequence[int], row: Callable[[Grouped, int], tuple[str, ...]]) -> Table:
        rows = [(group, row(found, group)) for group in groups]
        return Table(heads, [(lead.get(group, ""), (brief(first, 80), *rest)) for group, (first, *rest) in rows])

    return {
        "levels": Table.of(LEVELS, level_rows(found)),
        "groups": table(GROUPS, found.by_size, group_row),
        "measures": table(("group", *(name.replace("_", " ") for name in MEASURES)), found.suspicious_first, measure_row),
        "suspicious": SUSPICIOUS,
        "missing": len(found.names) - len(trees),
        "quoted": found.made_by == QUOTED,
        "trees": list(trees.values()),
    }


def anchor(group: int) -> str:
    """Name the place of a group on the page."""
    return f"group-{group}"


def _trees(found: Grouped, index: Index) -> dict[int, Markup]:
    """Write groups, the largest first, as far as there is room: whole, else without what is below the first summary."""
    written: dict[int, Markup] = {}
    left = ROOM
    for number, group in enumerate(found.by_size):
        coming = _BRIEF * (len(found.by_size) - number - 1)
        tree, facts = _Tree(found, group, index, _LEAVES), _facts(found, group)
        whole = tree.html(facts, anchor(group))
        made = whole if len(whole.encode()) <= left - coming else tree.html(facts, anchor(group), whole=False)
        if len(made.encode()) <= left:
            written[group] = made
            left -= len(made.encode())
    return written


def _facts(found: Grouped, group: int) -> Markup:
    near = [(anchor(other), brief(found.names[other], 80), f"{cosine:.2f}") for other, cosine in beside(found, group)]
    return part(PARTS, "facts", about(found, group), near)


class _Tree(GroupTree):
    """A group's tree as it is written."""

    def html(self, facts: Markup, id: str, whole: bool = True) -> Markup:
        """Unfold to what the group is, and to its tree; without what is below the first summary where not the `whole` is wanted."""
        return self._node(self.root, facts, id, whole)

    def _node(self, node: Node, facts: Markup = NOTHING, id: str = "", whole: bool = True) -> Markup:
        said = facts + part(PARTS, "summary", [(one.text, *self._where(one.leaf)) for one in node.summary.said])
        size = f"{len(node.leaves):,} passages{' · quoted instead' if self.is_replaced(node) else ''}"
        if not whole:
            left_out = part(PARTS, "note", "What is below it is left out, so that the page stays small: --group shows it.")
            return part(PARTS, "unfolded", node.title, size, said + left_out, id)
        heading = f"{len(node.children):,} summaries within" if node.children else f"{len(node.leaves):,} passages"
        within = [self._node(self.nodes[child]) for child in node.children] or [self._leaves(node.leaves)]
        return part(PARTS, "unfolded", node.title, size, said, id, heading, within)

    def _leaves(self, leaves: Sequence[int]) -> Markup:
        shown = [(self.text(leaf, _LONG), *self._where(leaf), self.kinds.get(leaf, "")) for leaf in leaves[:_LEAVES]]
        more = f"and {len(leaves) - _LEAVES:,} more passages" if len(leaves) > _LEAVES else ""
        return part(PARTS, "leaves", shown, more)

    def _where(self, leaf: int) -> tuple[str, str]:
        id, cited = self.cited(leaf)
        return named(cited) if cited else (id, "")
