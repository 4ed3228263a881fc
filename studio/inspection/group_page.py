"""The groups of a hierarchy as a page shows them: tables that lead to each group, which unfolds to its tree of summaries."""

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from ramify.studio.drawing.phrases import named
from ramify.studio.inspection.contents import cited_of
from ramify.studio.inspection.group_phrases import GROUPS, LEVELS, MEASURES, SUSPICIOUS, about, beside, group_row, level_rows, measure_row
from ramify.studio.inspection.phrases import Table
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
        tree = _Tree(found, group, index)
        whole = tree.html()
        made = whole if len(whole.encode()) <= left - coming else tree.html(whole=False)
        if len(made.encode()) <= left:
            written[group] = made
            left -= len(made.encode())
    return written


class _Tree:
    """A group's tree as it is written."""

    def __init__(self, found: Grouped, group: int, index: Index) -> None:
        self._found, self._group, self._nodes = found, group, found.content.trees[group]
        self._kinds = found.unusual(group)
        self._cited = cited_of(found, group, index, _LEAVES)

    def html(self, whole: bool = True) -> Markup:
        """Unfold to what the group is, and to its tree."""
        near = [(anchor(other), brief(self._found.names[other], 80), f"{cosine:.2f}") for other, cosine in beside(self._found, self._group)]
        facts = part(PARTS, "facts", about(self._found, self._group), near)
        return self._node(len(self._nodes) - 1, facts, anchor(self._group), whole)

    def _node(self, place: int, facts: Markup = NOTHING, id: str = "", whole: bool = True) -> Markup:
        node = self._nodes[place]
        said = part(PARTS, "summary", [(one.text, *self._where(one.leaf)) for one in node.summary.said])
        replaced = " · quoted instead" if node.summary.made_by != self._found.made_by else ""
        size = f"{len(node.leaves):,} passages{replaced}"
        if not whole:
            left_out = part(PARTS, "note", "What is below it is left out, so that the page stays small: --group shows it.")
            return part(PARTS, "unfolded", node.title, size, facts + said + left_out, id)
        heading = f"{len(node.children):,} summaries within" if node.children else f"{len(node.leaves):,} passages"
        within = [self._node(child) for child in node.children] if node.children else [self._leaves(node.leaves)]
        return part(PARTS, "unfolded", node.title, size, facts + said, id, heading, within)

    def _leaves(self, leaves: Sequence[int]) -> Markup:
        shown = []
        for leaf in leaves[:_LEAVES]:
            cited = self._cited.get(self._found.content.ids[leaf])
            text = brief(cited.text, _LONG) if cited else "is not in the index any more"
            shown.append((text, *self._where(leaf), self._kinds.get(leaf, "")))
        more = f"and {len(leaves) - _LEAVES:,} more passages" if len(leaves) > _LEAVES else ""
        return part(PARTS, "leaves", shown, more)

    def _where(self, leaf: int) -> tuple[str, str]:
        id = self._found.content.ids[leaf]
        cited = self._cited.get(id)
        return named(cited) if cited else (id, "")
