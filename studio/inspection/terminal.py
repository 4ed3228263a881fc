"""What an index holds, on the terminal: its sizes, the levels of a graph, the groups of a hierarchy, and the tree of one group."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, OverflowMethod
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ramify.studio.inspection import group_phrases
from ramify.studio.inspection.contents import GroupTree, Inspection
from ramify.studio.inspection.group_phrases import about, group_row, linked, measure_row, measures
from ramify.studio.inspection.phrases import CORPORA, LEVELS, NOTES, corpus_rows, how_to_add, largest_rows, level_rows, sizes
from ramify.tools.hierarchy.groups_and_nodes import Node
from ramify.tools.hierarchy.overview import Grouped
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


def show(found: Inspection, console: Console) -> None:
    """Print what an index holds."""
    console.print(Text(one_line(found.folder), style="bold"), soft_wrap=True)
    console.print(_facts((thing, one_line(told)) for thing, told in sizes(found)))
    if found.grouped is not None:
        console.print()
        console.print(_overview(found.grouped))
    elif found.inside is None:
        console.print(Text(how_to_add(found), style="cyan"), soft_wrap=True)
    else:
        largest = _table(("names", "rating", "largest communities of level 0"), largest_rows(found.inside), words=(2,), folded=True)
        for table in (_table(LEVELS, level_rows(found.inside)), _table(CORPORA, corpus_rows(found)), largest):
            console.print()
            console.print(table)
        console.print()
        for line in NOTES:
            console.print(Text(line, style="dim"))


def _facts(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for thing, told in rows:
        table.add_row(thing, Text(told))
    return table


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (0,), folded: bool = False) -> Table:
    """Draw a table; its first column names things, those of words are set from the left, and what has a mark stands out."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        style = None if number else "bold"
        overflow: OverflowMethod = "fold" if folded else "ellipsis"
        table.add_column(
            head, justify="left" if number in words else "right", style=style, no_wrap=folded and number not in words, overflow=overflow
        )
    for row in rows:
        table.add_row(*(Text(cell, style="yellow" if number and cell.endswith(" !") else "") for number, cell in enumerate(row)))
    return table


def _overview(found: Grouped) -> Group:
    """Draw the groups, the largest first, and what was measured of them, the suspicious first."""
    levels = _table(group_phrases.LEVELS, group_phrases.level_rows(found), folded=True)
    groups = _table(group_phrases.GROUPS, (group_row(found, group) for group in found.by_size[:LISTED]), words=(0, 1), folded=True)
    heads = ("group", *(name.replace("_", "\n") for name in group_phrases.MEASURES))
    diagnostics = _table(heads, (measure_row(found, group) for group in found.suspicious_first[:LISTED]), folded=True)
    more = len(found.names) - LISTED
    left = [Text(f"and {more:,} more groups: --group NAME shows one, --json and --html FILE all of them", style="cyan")] if more > 0 else []
    return Group(levels, Text(), groups, Text(), diagnostics, *left, Text(), Text(group_phrases.SUSPICIOUS, style="dim"))


def one_group(found: Grouped, group: int, index: Index) -> Group:
    """Draw one group: what it is, and its tree of summaries with passages as leaves."""
    facts = _facts((*about(found, group), *measures(found, group), ("linked to", linked(found, group))))
    return Group(Text(one_line(found.names[group]), style="bold"), facts, Text(), _Drawing(found, group, index, _LEAVES).tree())


class _Drawing(GroupTree):
    """A group's tree as it is drawn."""

    def tree(self) -> Tree:
        """Draw it from the root."""
        root = Tree(self._label(self.root), guide_style="dim")
        self._below(self.root, root)
        return root

    def _below(self, node: Node, drawn: Tree) -> None:
        below = [self.nodes[child] for child in node.children]
        for child in below[:_PARTS]:
            self._below(child, drawn.add(self._label(child)))
        leaves = () if below else node.leaves
        for leaf in leaves[:_LEAVES]:
            kind = f" ({self.kinds[leaf]})" if leaf in self.kinds else ""
            drawn.add(Text(self._where(leaf) + kind, style="cyan").append(f"  {self.text(leaf, _LONG)}", style="default"))
        more = max(0, len(below) - _PARTS) + max(0, len(leaves) - _LEAVES)
        if more:
            drawn.add(Text(f"and {more:,} more", style="dim"))

    def _label(self, node: Node) -> Text:
        replaced = ", quoted instead" if self.is_replaced(node) else ""
        label = Text(one_line(node.title), style="bold").append(f"  {len(node.leaves):,} passages{replaced}", style="not bold dim")
        for one in node.summary.said:
            label.append(f"\n· {brief(one.text, _LONG)} ", style="not bold default").append(self._where(one.leaf), style="not bold cyan")
        return label

    def _where(self, leaf: int) -> str:
        """Name a passage by its title, else by its file."""
        id, cited = self.cited(leaf)
        return brief(cited.title or cited.where or id, _NAMED) if cited else one_line(id)
