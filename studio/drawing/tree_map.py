"""Where the boxes of a tree's small drawing stand, and what is written in them: a box a branch, with its question and its answer."""

from collections.abc import Callable
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from ramify.nodes.tree import ROOT, Branch, Tree, children
from ramify.nodes.tree.phrases import brief, figure, kind_of
from ramify.tools.quoting import one_line

WIDTH, HEIGHT, GAP, LEVEL, MARGIN = 168, 66, 14, 96, 4
CELLS, BOLD = 23, 19
"""How many characters fit into a line of a box, and of an answer behind its arrow, also in the wide letters of DejaVu Sans."""
LINES = 2
"""Lines for a question; one more where there is no answer."""
PADDING, FIRST, STEP = 8, 15, 15


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
    lines = [(f"{branch.path} {state}{score}", "label"), *((line, "normalized_key") for line in lines_of(question, LINES + (not answer)))]
    lines += [(f"→ {lines_of(answer, 1, BOLD)[0]}", "reply")] if answer else []
    left, top = x - WIDTH / 2, branch.depth * LEVEL
    placed = [Line(text, kind, f"{left + PADDING:g}", f"{top + FIRST + place * STEP:g}") for place, (text, kind) in enumerate(lines)]
    return Box(branch, f"{left:g}", f"{top:g}", told, placed)


def lines_of(text: str, most: int, room: int = CELLS) -> list[str]:
    """Break a text into lines that fit into a box, at words where there are any; what does not fit is cut off."""
    lines = [""]
    for word in text.split():
        for part in [word] if cell_len(word) <= room else chop_cells(word, room):
            longer = f"{lines[-1]} {part}".strip()
            if cell_len(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(part)
    if len(lines) > most:
        last = lines[most - 1]
        lines = [*lines[: most - 1], (last if cell_len(last) < room else chop_cells(last, room - 1)[0]) + "…"]
    return lines
