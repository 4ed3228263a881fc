"""A hierarchy on the terminal: its groups, what was measured of them, and the tree of one."""

from rich.console import Group as Together
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Drawn

from ramify.studio.inspection.group_phrases import (
    GROUPS,
    LEVELS,
    MEASURES,
    SUSPICIOUS,
    about,
    group_row,
    level_rows,
    linked,
    measure_row,
    measures,
)
from ramify.studio.inspection.groups import Grouped
from ramify.studio.inspection.source_text import sources
from ramify.tools.index import Index
from ramify.tools.quoting import brief, one_line

LISTED = 15
"""Groups of a table."""
_LEAVES, _PARTS = 6, 30
"""Passages and summaries below a summary."""
_LONG = 160
"""Characters of a sentence, and of a passage."""
_NAMED = 60
"""Characters of the title of a passage."""


def overview(found: Grouped) -> Together:
    """Draw the groups, the largest first, and what was measured of them, the suspicious first."""
    levels = table(LEVELS, list(level_rows(found)))
    groups = table(GROUPS, [group_row(found, group) for group in found.by_size[:LISTED]], left=(0, 1))
    heads = ("group", *(name.replace("_", "\n") for name in MEASURES))
    diagnostics = table(heads, [measure_row(found, group) for group in found.suspicious_first[:LISTED]])
    more = len(found.names) - LISTED
    left = [Text(f"and {more:,} more groups: --group NAME shows one, --json and --html FILE all of them", style="cyan")] if more > 0 else []
    return Together(levels, Text(), groups, Text(), diagnostics, *left, Text(), Text(SUSPICIOUS, style="dim"))


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]], left: tuple[int, ...] = (0,)) -> Table:
    """Draw a table; its first column names things, and what has a mark stands out."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        drawn.add_column(
            head,
            justify="left" if number in left else "right",
            style=None if number else "bold",
            no_wrap=number not in left,
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(Text(cell, style="yellow" if number and cell.endswith("!") else "") for number, cell in enumerate(row)))
    return drawn


def one_group(found: Grouped, group: int, index: Index) -> Together:
    """Draw one group: what it is, and its tree of summaries with passages as leaves."""
    facts = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for thing, told in (*about(found, group), *measures(found, group), ("linked to", linked(found, group))):
        facts.add_row(thing, Text(told))
    return Together(Text(one_line(found.names[group]), style="bold"), facts, Text(), _Drawing(found, group, index).tree())


class _Drawing:
    """A group's tree as it is drawn; of the passages only those that are shown are read."""

    def __init__(self, found: Grouped, group: int, index: Index) -> None:
        self._found, self._tree = found, found.content.trees[group]
        self._kinds = {edge.leaf: edge.kind for edge in found.edges.get(group, ()) if edge.kind != "primary"}
        shown = {leaf for node in self._tree if not node.children for leaf in node.leaves[:_LEAVES]}
        said = {one.leaf for node in self._tree for one in node.summary.said}
        self._cited = sources(index, [found.content.ids[leaf] for leaf in sorted(shown | said)])

    def tree(self) -> Drawn:
        """Draw it from the root."""
        root = Drawn(self._label(len(self._tree) - 1), guide_style="dim")
        self._below(len(self._tree) - 1, root)
        return root

    def _below(self, place: int, drawn: Drawn) -> None:
        node = self._tree[place]
        for child in node.children[:_PARTS]:
            self._below(child, drawn.add(self._label(child)))
        leaves = () if node.children else node.leaves
        for leaf in leaves[:_LEAVES]:
            drawn.add(self._leaf(leaf))
        more = max(0, len(node.children) - _PARTS) + max(0, len(leaves) - _LEAVES)
        if more:
            drawn.add(Text(f"and {more:,} more", style="dim"))

    def _label(self, place: int) -> Text:
        node = self._tree[place]
        replaced = ", quoted instead" if node.summary.made_by != self._found.made_by else ""
        label = Text(one_line(node.title), style="bold").append(f"  {len(node.leaves):,} passages{replaced}", style="not bold dim")
        for one in node.summary.said:
            label.append(f"\n· {brief(one.text, _LONG)} ", style="not bold default").append(self._where(one.leaf), style="not bold cyan")
        return label

    def _leaf(self, leaf: int) -> Text:
        cited = self._cited.get(self._found.content.ids[leaf])
        kind = f" ({self._kinds[leaf]})" if leaf in self._kinds else ""
        said = brief(cited.text, _LONG) if cited else "is not in the index any more"
        return Text(self._where(leaf) + kind, style="cyan").append(f"  {said}", style="default")

    def _where(self, leaf: int) -> str:
        """Name a passage by its title, else by its file."""
        id = self._found.content.ids[leaf]
        cited = self._cited.get(id)
        return brief(cited.title or cited.where or id, _NAMED) if cited else one_line(id)
