"""An answer and its tree as HTML: a self-contained page, or the parts of a notebook's turn."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.cells import cell_len, chop_cells

from ramify.graphs.run import Result
from ramify.nodes.tree import ROOT, WORKING, Branch, Passage, Tree, branches_below, is_unknown
from ramify.nodes.tree.citation import NOT_CITED
from ramify.nodes.tree.notes import figure, shorten_note
from ramify.studio.drawing import phrases
from ramify.studio.drawing.phrases import kind_of, shorten_question
from ramify.tools.new_files import write_atomically
from ramify.tools.pages import read_packaged, render_macro, render_page, render_template, style_sheet
from ramify.tools.quoting import one_line

BUTTONS = (
    ("Unfold all", "open", "below"),
    ("Fold all", "shut", "below"),
    ("Show passages", "open", "evidence"),
    ("Hide passages", "shut", "evidence"),
)
_CITATION_NUMBER = re.compile(r"\[(\d{1,3})\]")
_TRAILING_CITATIONS = re.compile(r"(?<!\[\d\])(?<!\[\d\d\])(?<!\[\d{3}\])(?:\[\d{1,3}\])++$", re.MULTILINE)
"""The citation numbers at the end of a line of an answer."""
BOX_WIDTH, BOX_HEIGHT, BOX_GAP, LEVEL_HEIGHT, MARGIN = 168, 66, 14, 96, 4
BOX_LINE_CELLS, ANSWER_LINE_CELLS = 23, 19
"""Terminal cells per line of a box, and of an answer after its arrow; they fit also in the wide font DejaVu Sans."""
MAX_QUESTION_LINES = 2
"""Maximum number of lines of a question; one more without an answer."""


@dataclass(frozen=True)
class TreeView:
    """Values for drawing a tree: its passages, an id prefix, and running steps."""

    passages: Mapping[str, Passage] | None = field(default_factory=dict)
    """Passages by id; None if only their ids are shown."""
    prefix: str = ""
    """Prefix of every HTML id, so that several trees can be on one page."""
    busy: Mapping[str, str] = field(default_factory=dict)
    """What a running step does to a branch, by path."""

    def name(self, branch: Branch) -> str:
        """Return the id of a branch's card."""
        return f"{self.prefix}branch-{branch.path}"

    def tone(self, branch: Branch) -> str:
        """Return the CSS class of a branch's status."""
        return "working" if branch.path in self.busy or branch.status in WORKING else branch.status

    def state(self, branch: Branch) -> str:
        """Return what is being done to a branch, otherwise its status."""
        doing = self.busy.get(branch.path)
        return f"{doing} …" if doing else branch.status

    def found(self, branch: Branch) -> list[tuple[str, Passage | None]]:
        """List what was found for a branch, by id."""
        if self.passages is None:
            return [(id, None) for id in branch.evidence]
        return [(id, self.passages[id]) for id in branch.evidence if id in self.passages]


def result_page(result: Result) -> str:
    """Return the self-contained HTML page of a result."""
    tree = branches_html(result.tree, TreeView(result.passages))
    answer = answer_html(result)
    return render_page("ask.html", read_packaged("fold.js"), result=result, answer=answer, tree=tree, buttons=BUTTONS, phrases=phrases)


def write_page(result: Result, path: Path) -> None:
    """Write the page of a result; raise InputError if that fails."""
    write_atomically(result_page(result), path)


def answer_html(result: Result, prefix: str = "") -> Markup:
    """Return the answer with its text, confidence, notes and citations as HTML.

    Citation numbers at the end of a line become links; those missing in the answer are appended. `prefix` makes the ids unique on a page.
    """
    cited = [number for number, citation in enumerate(result.citations, 1) if citation.cited]
    pieces: list[tuple[str, int | None]] = []
    end = 0
    trailing = _TRAILING_CITATIONS.finditer(result.answer)
    for match in (number for run in trailing for number in _CITATION_NUMBER.finditer(result.answer, *run.span())):
        if int(match[1]) in cited:
            pieces += [(result.answer[end : match.start()], None), ("", int(match[1]))]
            end = match.end()
    text = phrases.text_lines(result)
    appended = [] if text else [number for number in cited if f"[{number}]" not in result.answer]
    return render_template(
        "answer.html",
        result=result,
        pieces=[*pieces, (result.answer[end:], None)],
        appended=appended,
        prefix=prefix,
        is_unknown=is_unknown,
        text=text,
        not_cited=NOT_CITED,
        phrases=phrases,
    )


def tree_html(tree: Tree, passages: Mapping[str, Passage], prefix: str = "") -> Markup:
    """Return the tree as a fragment with its style; several on one page need different prefixes."""
    return render_macro(
        "turn.html", "box", render_macro("turn.html", "styled", style_sheet(), branches_html(tree, TreeView(passages, prefix)))
    )


def branches_html(tree: Tree, look: TreeView, has_map: bool = True) -> Markup:
    """Return the map of a tree and a card for each branch, nested, without a style sheet; empty before there is a root."""
    if ROOT not in tree:
        return Markup()
    below = branches_below(tree)
    count: dict[str, int] = {}
    for path in reversed(tree):  # what is below before what is above
        count[path] = sum(1 + count[child.path] for child in below[path])
    return render_template(
        "tree.html",
        tree=tree,
        look=look,
        map=layout_tree(tree, look.state) if has_map else None,
        branches_below=below,
        count_below=count,
        folded=shorten_note,
        one_line=one_line,
        say=phrases,
    )


class Box(NamedTuple):
    """A branch in the map, with its tooltip."""

    branch: Branch
    left: float
    top: float
    tooltip: str
    lines: list[tuple[str, str]]
    """The text and the CSS class of each line."""


class TreeMap(NamedTuple):
    """The map of a tree: its size, its boxes, and the SVG path and status of each edge from a branch to a child."""

    width: str
    height: str
    boxes: list[Box]
    edges: list[tuple[str, str]]
    box: tuple[int, int] = (BOX_WIDTH, BOX_HEIGHT)

    @property
    def view_box(self) -> str:
        """Return the SVG viewBox."""
        return f"{-MARGIN} {-MARGIN} {self.width} {self.height}"


def layout_tree(tree: Tree, state: Callable[[Branch], str]) -> TreeMap | None:
    """Return the map of a tree, or None for a single branch. Wide maps scroll instead of shrinking."""
    if len(tree) < 2:
        return None
    centers: dict[str, float] = {}
    width = _place_subtree(branches_below(tree), ROOT, 0.0, centers)
    height = max(path.count(".") for path in centers) * LEVEL_HEIGHT + BOX_HEIGHT
    boxes = [_box(branch, centers[branch.path], state(branch)) for branch in tree.values() if branch.path in centers]
    edges = [_edge(branch, centers[branch.parent], centers[branch.path]) for branch in tree.values() if branch.parent in centers]
    return TreeMap(f"{width + 2 * MARGIN:g}", f"{height + 2 * MARGIN:g}", boxes, edges)


def _place_subtree(branches: Mapping[str, Sequence[Branch]], path: str, left: float, centers: dict[str, float]) -> float:
    """Center a branch above its children, starting at `left`; return the width of the subtree."""
    children = branches[path]
    width = 0.0
    for child in children:
        width += _place_subtree(branches, child.path, left + width, centers) + BOX_GAP
    width = max(width - BOX_GAP, BOX_WIDTH)
    outer = [centers[child.path] for child in (*children[:1], *children[-1:])]
    centers[path] = sum(outer) / len(outer) if outer else left + BOX_WIDTH / 2
    return width


def _edge(branch: Branch, parent_x: float, x: float) -> tuple[str, str]:
    bottom = branch.depth * LEVEL_HEIGHT
    top = bottom - LEVEL_HEIGHT + BOX_HEIGHT
    middle_y = (top + bottom) / 2
    return f"M{parent_x:g} {top:g} C{parent_x:g} {middle_y:g} {x:g} {middle_y:g} {x:g} {bottom:g}", branch.status


def _box(branch: Branch, x: float, state: str) -> Box:
    question, answer = one_line(kind_of(branch)), one_line(branch.answer or "")
    tooltip = "\n".join(filter(None, [f"{branch.path} {state}", question, f"→ {shorten_question(answer)}" if answer else ""]))
    score = f" · {figure(branch.score)}" if branch.kind == "batch" and branch.score is not None else ""
    lines = [
        (f"{branch.path} {state}{score}", "label"),
        *((line, "wording") for line in wrap_lines(question, MAX_QUESTION_LINES + (not answer))),
    ]
    lines += [(f"→ {wrap_lines(answer, 1, ANSWER_LINE_CELLS)[0]}", "reply")] if answer else []
    return Box(branch, x - BOX_WIDTH / 2, branch.depth * LEVEL_HEIGHT, tooltip, lines)


def wrap_lines(text: str, max_lines: int, width: int = BOX_LINE_CELLS) -> list[str]:
    """Wrap a text to at most `max_lines` lines of `width` cells; a longer text ends with an ellipsis."""
    lines = [""]
    for word in text.split():
        for piece in [word] if cell_len(word) <= width else chop_cells(word, width):
            candidate = f"{lines[-1]} {piece}".strip()
            if cell_len(candidate) <= width:
                lines[-1] = candidate
            else:
                lines.append(piece)
    if len(lines) > max_lines:
        last = lines[max_lines - 1]
        lines = [*lines[: max_lines - 1], (last if cell_len(last) < width else chop_cells(last, width - 1)[0]) + "…"]
    return lines
