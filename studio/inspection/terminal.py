"""The contents of an index on the terminal: facts, tables, and the tree of one group."""

from collections.abc import Iterable

from rich.console import Console, Group
from rich.table import Table as Drawn
from rich.text import Text
from rich.tree import Tree

from ramify.studio.inspection.contents import Inspection, Table
from ramify.studio.inspection.description import GroupTree, about, facts, how_to_add, measured, notes, tables
from ramify.tools.hierarchy.index import Grouped, GroupOverview
from ramify.tools.hierarchy.leaves import Node
from ramify.tools.index import Index
from ramify.tools.quoting import one_line, truncate_line

LISTED = 15
"""Rows of a long table."""
_LEAVES, _PARTS = 6, 30
"""Passages and summaries below a summary."""
_LONG = 160
"""Characters of a sentence, and of a passage."""
_NAMED = 60
"""Characters of the title of a passage."""


def show(found: Inspection, console: Console) -> None:
    """Print the contents of an index."""
    shown, told = tables(found), [Text(line, style="dim") for line in notes(found)]
    console.print(Text(one_line(found.folder), style="bold"), soft_wrap=True)
    console.print(_facts((thing, one_line(said)) for thing, said in facts(found)))
    plain = found.inside is None and found.grouped is None
    if plain:
        console.print(Text(how_to_add(found), style="cyan"), soft_wrap=True)
    for table in shown:
        console.print()
        console.print(_table(table))
    more = max((len(table.rows) - LISTED for table in shown if table.long), default=0)
    if more > 0:
        rest = "files" if plain else "groups: --group NAME shows one"
        console.print(Text(f"and {more:,} more {rest}{':' if plain else ','} --json and --html FILE show all of them", style="cyan"))
    if told:
        console.print(Group(Text(), *told))


def one_group(found: Grouped, group: GroupOverview, index: Index) -> Group:
    """Return one group with its tree of summaries and passages."""
    told, drawing = _facts((*about(found, group), *measured(found, group))), _Drawing(found, group, index, _LEAVES)
    return Group(Text(one_line(group.name), style="bold"), told, Text(), drawing.tree(drawing.root))


def _facts(rows: Iterable[tuple[str, str]]) -> Drawn:
    table = Drawn(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for thing, told in rows:
        table.add_row(thing, Text(told))
    return table


def _table(shown: Table) -> Drawn:
    """Return a table; text columns are left-aligned, marked cells highlighted."""
    table = Drawn(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, head in enumerate(shown.heads):
        table.add_column(
            head.replace("_", "\n"),
            justify="left" if number in shown.words else "right",
            style=None if number else "bold",
            no_wrap=shown.long and number not in shown.words,
            overflow="fold" if shown.long else "ellipsis",
        )
    for cells in shown.rows[:LISTED] if shown.long else shown.rows:
        table.add_row(*(Text(cell, style="yellow" if number and cell.endswith(" !") else "") for number, cell in enumerate(cells)))
    return table


class _Drawing(GroupTree):
    """A group's tree for the terminal."""

    def tree(self, node: Node) -> Tree:
        """Return a summary with everything below it."""
        drawn = Tree(self._label(node), guide_style="dim")
        below = [self.nodes[child] for child in node.children]
        drawn.children += [self.tree(child) for child in below[:_PARTS]]
        leaves = () if below else node.leaves
        for leaf in leaves[:_LEAVES]:
            kind = f" ({self.kinds[leaf]})" if leaf in self.kinds else ""
            drawn.add(Text(self._where(leaf) + kind, style="cyan").append(f"  {one_line(self.text(leaf, _LONG))}", style="default"))
        more = max(0, len(below) - _PARTS) + max(0, len(leaves) - _LEAVES)
        if more:
            drawn.add(Text(f"and {more:,} more", style="dim"))
        return drawn

    def _label(self, node: Node) -> Text:
        replaced = ", quoted instead" if self.is_replaced(node) else ""
        label = Text(one_line(node.title), style="bold").append(f"  {len(node.leaves):,} passages{replaced}", style="not bold dim")
        for one in node.summary.said:
            said = one_line(truncate_line(one.text, _LONG))
            label.append(f"\n· {said} ", style="not bold default").append(self._where(one.leaf), style="not bold cyan")
        return label

    def _where(self, leaf: int) -> str:
        """Return the title of a passage, else its file."""
        id, cited = self.cited[leaf]
        return one_line(truncate_line(cited.title or cited.where or id, _NAMED) if cited else id)
