"""The groups of a hierarchy as a page shows them: tables that lead to each group, which unfolds to its tree of summaries."""

from collections.abc import Mapping, Sequence

from ramify.nodes.state import Citation
from ramify.studio.drawing.phrases import file_of, title_of
from ramify.studio.inspection.group_phrases import GROUPS, LEVELS, MEASURES, SUSPICIOUS, about, beside, group_row, level_rows, measure_row
from ramify.studio.inspection.groups import Grouped
from ramify.studio.inspection.source_text import sources
from ramify.tools.hierarchy.groups_and_nodes import Said
from ramify.tools.hierarchy.summaries import QUOTED
from ramify.tools.index import Index
from ramify.tools.markup import element, safe
from ramify.tools.quoting import brief

ROOM = 4_000_000
"""Bytes that the trees of a page may take: the largest groups come first, and of the last ones the first summary alone."""
_BRIEF = 1500
"""Bytes that are kept for each group that is still to come."""
_LEAVES = 30
"""Passages below a summary that are shown."""
_LONG = 240
"""Characters of a passage."""


def groups_html(found: Grouped, index: Index) -> str:
    """Give the levels, the groups, what was measured of them, and their trees; what there is no room for is counted."""
    trees = _trees(found, index)
    return "".join((_tables(found, frozenset(trees)), _section(found, trees)))


def anchor(group: int) -> str:
    """Name the place of a group on the page."""
    return f"group-{group}"


def _tables(found: Grouped, shown: frozenset[int]) -> str:
    levels = _table(LEVELS, [[safe(cell) for cell in row] for row in level_rows(found)])
    groups = _table(GROUPS, [_linked(group_row(found, group), group, shown) for group in found.by_size])
    measures = _table(
        ("group", *(name.replace("_", " ") for name in MEASURES)),
        [_linked(measure_row(found, group), group, shown) for group in found.suspicious_first],
    )
    return (
        element("section", element("h2", "Levels of summaries") + element("div", levels, class_="tables"))
        + element("section", element("h2", "Groups, the largest first") + groups)
        + element("section", element("h2", "What was measured, the suspicious first") + measures + _note(SUSPICIOUS))
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = element("tr", "".join(element("th", safe(head), scope="col") for head in heads))
    body = "".join(
        element("tr", element("th", row[0], scope="row", dir="auto") + "".join(element("td", cell) for cell in row[1:])) for row in rows
    )
    return element("div", element("table", element("thead", top) + element("tbody", body)), class_="wide tall", tabindex="0")


def _linked(row: Sequence[str], group: int, shown: frozenset[int]) -> list[str]:
    """Lead from the name of a group to its tree, and let what is suspicious stand out."""
    first, *rest = row
    name = brief(first, 80)
    lead = element("a", safe(name), href=f"#{anchor(group)}") if group in shown else safe(name)
    return [lead, *(element("b", safe(cell), class_="flag") if cell.endswith("!") else safe(cell) for cell in rest)]


def _note(told: str) -> str:
    return element("p", safe(told), class_="note")


def _section(found: Grouped, trees: Mapping[int, str]) -> str:
    missing = len(found.names) - len(trees)
    left = _note(f"Left out, so that the page stays small: {missing:,} of the smallest groups; --json gives all.") if missing else ""
    quoted = _note("Quoted summaries are sentences of the passages, those nearest their middle.") if found.made_by == QUOTED else ""
    return element("section", element("h2", "Groups and their summaries") + left + quoted + "".join(trees.values()), class_="reports")


def _trees(found: Grouped, index: Index) -> dict[int, str]:
    """Write groups, the largest first, as far as there is room: whole, else without what is below the first summary."""
    written: dict[int, str] = {}
    left = ROOM
    for number, group in enumerate(found.by_size):
        coming = _BRIEF * (len(found.by_size) - number - 1)
        one = _Written(found, group, index)
        made = next((made for made, room in ((one.html(), left - coming), (one.html(whole=False), left)) if len(made.encode()) <= room), "")
        if made:
            written[group] = made
            left -= len(made.encode())
    return written


class _Written:
    """A group as it is written."""

    def __init__(self, found: Grouped, group: int, index: Index) -> None:
        self._found, self._group, self._tree = found, group, found.content.trees[group]
        self._kinds = {edge.leaf: edge.kind for edge in found.edges.get(group, ()) if edge.kind != "primary"}
        shown = {leaf for node in self._tree if not node.children for leaf in node.leaves[:_LEAVES]}
        said = {one.leaf for node in self._tree for one in node.summary.said}
        self._cited = sources(index, [found.content.ids[leaf] for leaf in sorted(shown | said)])

    def html(self, whole: bool = True) -> str:
        """Unfold to what it is, and to its tree; its place is inside what unfolds, because a browser opens what a link leads into."""
        rows = [element("dt", safe(thing)) + element("dd", safe(told), dir="auto") for thing, told in about(self._found, self._group)]
        near = beside(self._found, self._group)
        if near:
            rows.append(element("dt", "linked to") + element("dd", " · ".join(self._near(*one) for one in near), dir="auto"))
        facts = element("dl", "".join(rows), class_="sizes")
        return self._node(len(self._tree) - 1, facts, anchor(self._group), whole)

    def _near(self, group: int, cosine: float) -> str:
        return element("a", safe(brief(self._found.names[group], 80)), href=f"#{anchor(group)}") + f" {cosine:.2f}"

    def _node(self, place: int, facts: str = "", id: str | None = None, whole: bool = True) -> str:
        node = self._tree[place]
        replaced = " · quoted instead" if node.summary.made_by != self._found.made_by else ""
        head = element("span", safe(node.title), class_="title", dir="auto")
        head += " " + element("span", safe(f"{len(node.leaves):,} passages{replaced}"), class_="size")
        said = "".join(element("li", self._said(one), dir="auto") for one in node.summary.said)
        within = self._within(place) if whole else _note("What is below it is left out, so that the page stays small: --group shows it.")
        body = facts + (element("ul", said, class_="findings") if said else "") + within
        return element("details", element("summary", head) + element("div", body, id=id, class_="body"), class_="community")

    def _within(self, place: int) -> str:
        node = self._tree[place]
        told = f"{len(node.children):,} summaries within" if node.children else f"{len(node.leaves):,} passages"
        below = "".join(map(self._node, node.children)) if node.children else self._leaves(node.leaves)
        return element("div", element("h4", told) + below, class_="within")

    def _said(self, one: Said) -> str:
        return f"{safe(one.text)} {self._where(one.leaf)}"

    def _leaves(self, leaves: Sequence[int]) -> str:
        items = "".join(element("li", self._leaf(leaf), dir="auto") for leaf in leaves[:_LEAVES])
        more = f"and {len(leaves) - _LEAVES:,} more passages" if len(leaves) > _LEAVES else ""
        return element("ul", items, class_="findings") + (_note(more) if more else "")

    def _leaf(self, leaf: int) -> str:
        cited = self._cited.get(self._found.content.ids[leaf])
        kind = f" {element('b', safe(self._kinds[leaf]), class_='flag')}" if leaf in self._kinds else ""
        return safe(brief(cited.text, _LONG) if cited else "is not in the index any more") + " " + self._where(leaf) + kind

    def _where(self, leaf: int) -> str:
        id = self._found.content.ids[leaf]
        cited: Citation | None = self._cited.get(id)
        told = " · ".join(filter(None, (title_of(cited), file_of(cited)))) if cited else ""
        href = cited.link if cited and cited.link.startswith("file:") else None
        return element("a" if href else "span", safe(told or id), class_="source", href=href)
