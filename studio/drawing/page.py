"""An answer and its tree as HTML: a self-contained page, or the parts of a notebook's turn."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.cells import cell_len, chop_cells

from ramify.graphs.run import Result
from ramify.nodes.tree import ROOT, Branch, Passage, Tree, branches_below, is_unknown
from ramify.nodes.tree.cards import Look, cards
from ramify.nodes.tree.citation import NOT_CITED
from ramify.nodes.tree.phrases import brief, figure, kind_of
from ramify.studio.drawing import phrases
from ramify.tools.new_files import write_atomically
from ramify.tools.pages import render_macro, render_page, render_template, style_sheet
from ramify.tools.quoting import one_line

BUTTONS = (
    ("Unfold all", "open", "below"),
    ("Fold all", "shut", "below"),
    ("Show passages", "open", "evidence"),
    ("Hide passages", "shut", "evidence"),
)
_BEHIND = re.compile(r"\[(\d{1,3})\](?=(?:\[\d{1,3}\])*$)", re.MULTILINE)
"""A citation number at the end of a line of an answer."""
WIDTH, HEIGHT, GAP, LEVEL, MARGIN = 168, 66, 14, 96, 4
CELLS, BOLD = 23, 19
"""Characters per line of a box, and of an answer after its arrow, also in the wide DejaVu Sans."""
LINES = 2
"""Lines for a question; one more without an answer."""


def page(result: Result) -> str:
    """Return the page of a result."""
    tree = branches_html(result.tree, Look(result.passages))
    return render_page("ask.html", ["fold.js"], result=result, answer=answer_html(result), tree=tree, buttons=BUTTONS, say=phrases)


def write_page(result: Result, path: Path) -> None:
    """Write the page of a result; raise InputError if that fails."""
    write_atomically(page(result), path)


def answer_html(result: Result, prefix: str = "") -> Markup:
    """Return the answer with its text, confidence, remarks, and cited passages.

    Citation numbers at the end of a line become links; those missing in the answer are appended.
    """
    cited = [number for number, citation in enumerate(result.citations, 1) if citation.cited]
    pieces: list[tuple[str, int | None]] = []
    end = 0
    for found in _BEHIND.finditer(result.answer):
        if int(found[1]) in cited:
            pieces += [(result.answer[end : found.start()], None), ("", int(found[1]))]
            end = found.end()
    text = phrases.full_text(result)
    behind = [] if text else [number for number in cited if f"[{number}]" not in result.answer]
    return render_template(
        "answer.html",
        result=result,
        pieces=[*pieces, (result.answer[end:], None)],
        behind=behind,
        prefix=prefix,
        is_unknown=is_unknown,
        text=text,
        not_cited=NOT_CITED,
        say=phrases,
    )


def tree_html(tree: Tree, passages: Mapping[str, Passage], prefix: str = "") -> Markup:
    """Return the tree as a fragment with its style; several on one page need different prefixes."""
    return render_macro("turn.html", "box", render_macro("turn.html", "styled", style_sheet(), branches_html(tree, Look(passages, prefix))))


def branches_html(tree: Tree, look: Look) -> Markup:
    """Return the map and the cards, without style."""
    return cards(tree, look, tree_map(tree, look.state) if ROOT in tree else None)


class Box(NamedTuple):
    """A branch in the map, with its tooltip."""

    branch: Branch
    left: float
    top: float
    told: str
    lines: list[tuple[str, str]]
    """The text and the kind of each."""


class Map(NamedTuple):
    """The map of a tree: its size, its boxes, and the line and status of each edge from a branch to a child."""

    width: str
    height: str
    boxes: list[Box]
    edges: list[tuple[str, str]]
    box: tuple[int, int] = (WIDTH, HEIGHT)

    @property
    def view(self) -> str:
        """Return the SVG viewBox."""
        return f"{-MARGIN} {-MARGIN} {self.width} {self.height}"


def tree_map(tree: Tree, state: Callable[[Branch], str]) -> Map | None:
    """Return the layout of a tree, or None for a single branch. Wide maps scroll instead of shrinking."""
    if len(tree) < 2:
        return None
    middles: dict[str, float] = {}
    width = _place(branches_below(tree), ROOT, 0.0, middles)
    height = max(path.count(".") for path in middles) * LEVEL + HEIGHT
    boxes = [_box(branch, middles[branch.path], state(branch)) for branch in tree.values() if branch.path in middles]
    edges = [_edge(branch, middles[branch.parent], middles[branch.path]) for branch in tree.values() if branch.parent in middles]
    return Map(f"{width + 2 * MARGIN:g}", f"{height + 2 * MARGIN:g}", boxes, edges)


def _place(branches: Mapping[str, Sequence[Branch]], path: str, left: float, middles: dict[str, float]) -> float:
    """Center a branch above its children, starting at `left`; return the width of the subtree."""
    below = branches[path]
    width = 0.0
    for child in below:
        width += _place(branches, child.path, left + width, middles) + GAP
    width = max(width - GAP, WIDTH)
    ends = [middles[child.path] for child in (*below[:1], *below[-1:])]
    middles[path] = sum(ends) / len(ends) if ends else left + WIDTH / 2
    return width


def _edge(branch: Branch, above: float, x: float) -> tuple[str, str]:
    bottom = branch.depth * LEVEL
    top = bottom - LEVEL + HEIGHT
    middle = (top + bottom) / 2
    return f"M{above:g} {top:g} C{above:g} {middle:g} {x:g} {middle:g} {x:g} {bottom:g}", branch.status


def _box(branch: Branch, x: float, state: str) -> Box:
    question, answer = one_line(kind_of(branch)), one_line(branch.answer or "")
    told = "\n".join(filter(None, [f"{branch.path} {state}", question, f"→ {brief(answer)}" if answer else ""]))
    score = f" · {figure(branch.score)}" if branch.kind == "batch" and branch.score is not None else ""
    lines = [(f"{branch.path} {state}{score}", "label"), *((line, "wording") for line in lines_of(question, LINES + (not answer)))]
    lines += [(f"→ {lines_of(answer, 1, BOLD)[0]}", "reply")] if answer else []
    return Box(branch, x - WIDTH / 2, branch.depth * LEVEL, told, lines)


def lines_of(text: str, most: int, room: int = CELLS) -> list[str]:
    """Wrap a text to at most `most` lines of a box, cutting off the rest."""
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
