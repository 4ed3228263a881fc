"""The contents of an index on the terminal: facts, tables, and the tree of one group."""

from collections.abc import Iterable

from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text
from rich.tree import Tree

from ramify.kinds.hierarchy.index import GroupOverview, HierarchyView
from ramify.kinds.hierarchy.leaves import Node
from ramify.lab.inspection.contents import Inspection, InspectionTable
from ramify.lab.inspection.description import (
    GroupTree,
    group_details,
    group_diagnostics,
    index_facts,
    index_tables,
    structure_hint,
    table_notes,
)
from ramify.tools.index import Index
from ramify.tools.quoting import one_line, truncate_line

MAX_ROWS = 15
"""Maximum number of rows of a long table."""
_MAX_LEAVES, _MAX_CHILDREN = 6, 30
"""Maximum numbers of passages and summaries below a summary."""
_MAX_TEXT_CHARS = 160
"""Maximum length of a sentence or passage."""
_MAX_TITLE_CHARS = 60
"""Maximum length of the title of a passage."""


def print_index(inspection: Inspection, console: Console) -> None:
    """Print the facts, tables and notes on an index."""
    tables, notes_text = index_tables(inspection), [Text(line, style="dim") for line in table_notes(inspection)]
    console.print(Text(one_line(inspection.folder), style="bold"), soft_wrap=True)
    console.print(_facts((label, one_line(text)) for label, text in index_facts(inspection)))
    is_plain = inspection.graph is None and inspection.hierarchy is None
    if is_plain:
        console.print(Text(structure_hint(inspection), style="cyan"), soft_wrap=True)
    for table in tables:
        console.print()
        console.print(_table(table))
    omitted = max((len(table.rows) - MAX_ROWS for table in tables if table.is_long), default=0)
    if omitted > 0:
        noun = "files" if is_plain else "groups: --group NAME shows one"
        console.print(Text(f"and {omitted:,} more {noun}{':' if is_plain else ','} --json and --html FILE show all of them", style="cyan"))
    if notes_text:
        console.print(Group(Text(), *notes_text))


def render_group(hierarchy: HierarchyView, group: GroupOverview, index: Index) -> Group:
    """Return one group with its tree of summaries and passages."""
    facts, tree = (
        _facts((*group_details(hierarchy, group), *group_diagnostics(hierarchy, group))),
        _TerminalTree(hierarchy, group, index, _MAX_LEAVES),
    )
    return Group(Text(one_line(group.name), style="bold"), facts, Text(), tree.render(tree.root))


def _facts(rows: Iterable[tuple[str, str]]) -> RichTable:
    table = RichTable(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, Text(text))
    return table


def _table(inspection_table: InspectionTable) -> RichTable:
    """Return a table; text columns are left-aligned, marked cells highlighted."""
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, head in enumerate(inspection_table.heads):
        table.add_column(
            head.replace("_", "\n"),
            justify="left" if number in inspection_table.text_columns else "right",
            style=None if number else "bold",
            no_wrap=inspection_table.is_long and number not in inspection_table.text_columns,
            overflow="fold" if inspection_table.is_long else "ellipsis",
        )
    for cells in inspection_table.rows[:MAX_ROWS] if inspection_table.is_long else inspection_table.rows:
        table.add_row(*(Text(cell, style="yellow" if number and cell.endswith(" !") else "") for number, cell in enumerate(cells)))
    return table


class _TerminalTree(GroupTree):
    """A group's tree for the terminal."""

    def render(self, node: Node) -> Tree:
        """Return a summary with everything below it."""
        rich_tree = Tree(self._label(node), guide_style="dim")
        children = [self.nodes[child] for child in node.children]
        rich_tree.children += [self.render(child) for child in children[:_MAX_CHILDREN]]
        leaves = () if children else node.leaves
        for leaf in leaves[:_MAX_LEAVES]:
            kind = f" ({self.kinds[leaf]})" if leaf in self.kinds else ""
            rich_tree.add(
                Text(self._passage_title(leaf) + kind, style="cyan").append(
                    f"  {one_line(self.text(leaf, _MAX_TEXT_CHARS))}", style="default"
                )
            )
        omitted = max(0, len(children) - _MAX_CHILDREN) + max(0, len(leaves) - _MAX_LEAVES)
        if omitted:
            rich_tree.add(Text(f"and {omitted:,} more", style="dim"))
        return rich_tree

    def _label(self, node: Node) -> Text:
        replaced = ", quoted instead" if self.is_replaced(node) else ""
        label = Text(one_line(node.title), style="bold").append(f"  {len(node.leaves):,} passages{replaced}", style="not bold dim")
        for sentence in node.summary.sentences:
            sentence_text = one_line(truncate_line(sentence.text, _MAX_TEXT_CHARS))
            label.append(f"\n· {sentence_text} ", style="not bold default").append(
                self._passage_title(sentence.leaf), style="not bold cyan"
            )
        return label

    def _passage_title(self, leaf: int) -> str:
        """Return the title of a passage, else its file."""
        id, cited = self.cited[leaf]
        return one_line(truncate_line(cited.title or cited.where or id, _MAX_TITLE_CHARS) if cited else id)
