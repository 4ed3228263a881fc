"""An answer and its tree as HTML: one self-contained page that runs only its own few lines of script, or the parts of a notebook's turn."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.cells import cell_len, chop_cells

from ramify.graphs.result import Result
from ramify.nodes.state import NOT_CITED
from ramify.nodes.tree import ROOT, Branch, Passage, Tree, children, is_unknown
from ramify.nodes.tree.cards import Look, cards
from ramify.nodes.tree.phrases import brief, figure, kind_of
from ramify.studio.drawing import phrases
from ramify.tools.atomic_file import write_whole
from ramify.tools.pages import draw, draw_page, part, style
from ramify.tools.quoting import one_line

BUTTONS = (
    ("Unfold all", "open", "below"),
    ("Fold all", "shut", "below"),
    ("Show passages", "open", "evidence"),
    ("Hide passages", "shut", "evidence"),
)
_BEHIND = re.compile(r"\[(\d{1,3})\](?=(?:\[\d{1,3}\])*$)", re.MULTILINE)
"""A number at the end of a line of an answer."""
WIDTH, HEIGHT, GAP, LEVEL, MARGIN = 168, 66, 14, 96, 4
CELLS, BOLD = 23, 19
"""How many characters fit into a line of a box, and of an answer behind its arrow, also in the wide letters of DejaVu Sans."""
LINES = 2
"""Lines for a question; one more where there is no answer."""
PADDING, FIRST, STEP = 8, 15, 15


def page(result: Result) -> str:
    """Give the whole page of a result."""
    tree = branches_html(result.tree, Look(result.passages))
    return draw_page("ask.html", ["fold.js"], result=result, answer=answer_html(result), tree=tree, buttons=BUTTONS, say=phrases)


def write_page(result: Result, path: Path) -> None:
    """Write the page of a result; InputError where it cannot be written."""
    write_whole(page(result), path)


def answer_html(result: Result, prefix: str = "") -> Markup:
    """Give the answer, how sure it is, what there is to say about it, and the passages that it rests on, or that come closest.

    A number at the end of a line, behind what it is the source of, leads there; one that does not stand in the answer comes behind it.
    """
    cited = [number for number, citation in enumerate(result.citations, 1) if citation.cited]
    pieces: list[tuple[str, int | None]] = []
    end = 0
    for found in _BEHIND.finditer(result.answer):
        if int(found[1]) in cited:
            pieces += [(result.answer[end : found.start()], None), ("", int(found[1]))]
            end = found.end()
    behind = [number for number in cited if f"[{number}]" not in result.answer]
    return draw(
        "answer.html",
        result=result,
        pieces=[*pieces, (result.answer[end:], None)],
        behind=behind,
        prefix=prefix,
        is_unknown=is_unknown,
        not_cited=NOT_CITED,
        say=phrases,
    )


def tree_html(tree: Tree, passages: Mapping[str, Passage], prefix: str = "") -> Markup:
    """Give the tree as a fragment that brings its own style; where several are on one page, each needs its own prefix."""
    return part("turn.html", "box", part("turn.html", "styled", style(), branches_html(tree, Look(passages, prefix))))


def branches_html(tree: Tree, look: Look) -> Markup:
    """Give the map and the cards, for a page that has the style already; nothing before the root is planted."""
    return cards(tree, look, tree_map(tree, look.state) if ROOT in tree else None)


class Line(NamedTuple):
    """A line of text in a box."""

    text: str
    kind: str
    x: str
    y: str


class Box(NamedTuple):
    """A branch in the drawing, with what is told where one points at it."""

    branch: Branch
    left: str
    top: str
    told: str
    lines: list[Line]


class Edge(NamedTuple):
    """The line from a branch to the one below."""

    line: str
    status: str


class Map(NamedTuple):
    """The drawing: its size, and what is in it."""

    width: str
    height: str
    boxes: list[Box]
    edges: list[Edge]
    box: tuple[int, int] = (WIDTH, HEIGHT)

    @property
    def view(self) -> str:
        """Give the part of the plane that is shown."""
        return f"{-MARGIN} {-MARGIN} {self.width} {self.height}"


def tree_map(tree: Tree, state: Callable[[Branch], str]) -> Map | None:
    """Lay a tree out; one branch alone needs no map. What is wider than the page is moved sideways, and not made small."""
    if len(tree) < 2:
        return None
    middles: dict[str, float] = {}
    width = _place(tree, ROOT, 0.0, middles)
    height = max(path.count(".") for path in middles) * LEVEL + HEIGHT
    boxes = [_box(branch, middles[branch.path], state(branch)) for branch in tree.values() if branch.path in middles]
    edges = [_edge(branch, middles[branch.parent], middles[branch.path]) for branch in tree.values() if branch.parent in middles]
    return Map(f"{width + 2 * MARGIN:g}", f"{height + 2 * MARGIN:g}", boxes, edges)


def _place(tree: Tree, path: str, left: float, middles: dict[str, float]) -> float:
    """Place a branch in the middle above its children, from `left` on; give the width that all of it takes."""
    below = children(tree, path)
    width = 0.0
    for child in below:
        width += _place(tree, child.path, left + width, middles) + GAP
    width = max(width - GAP, WIDTH)
    ends = [middles[child.path] for child in (below[:1] + below[-1:])]
    middles[path] = sum(ends) / len(ends) if ends else left + WIDTH / 2
    return width


def _edge(branch: Branch, above: float, x: float) -> Edge:
    bottom = branch.depth * LEVEL
    top = bottom - LEVEL + HEIGHT
    middle = (top + bottom) / 2
    return Edge(f"M{above:g} {top:g} C{above:g} {middle:g} {x:g} {middle:g} {x:g} {bottom:g}", branch.status)


def _box(branch: Branch, x: float, state: str) -> Box:
    question, answer = one_line(kind_of(branch)), one_line(branch.answer or "")
    told = "\n".join(filter(None, [f"{branch.path} {state}", question, f"→ {brief(answer)}" if answer else ""]))
    score = f" · {figure(branch.score)}" if branch.kind == "batch" and branch.score is not None else ""
    lines = [(f"{branch.path} {state}{score}", "label"), *((line, "wording") for line in lines_of(question, LINES + (not answer)))]
    lines += [(f"→ {lines_of(answer, 1, BOLD)[0]}", "reply")] if answer else []
    left, top = x - WIDTH / 2, branch.depth * LEVEL
    placed = [Line(text, kind, f"{left + PADDING:g}", f"{top + FIRST + place * STEP:g}") for place, (text, kind) in enumerate(lines)]
    return Box(branch, f"{left:g}", f"{top:g}", told, placed)


def lines_of(text: str, most: int, room: int = CELLS) -> list[str]:
    """Break a text into lines that fit into a box, at words where there are any; what does not fit is cut off."""
    lines = [""]
    for word in text.split():
        for piece in [word] if cell_len(word) <= room else chop_cells(word, room):
            longer = f"{lines[-1]} {piece}".strip()
            if cell_len(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(piece)
    if len(lines) > most:
        last = lines[most - 1]
        lines = [*lines[: most - 1], (last if cell_len(last) < room else chop_cells(last, room - 1)[0]) + "…"]
    return lines
