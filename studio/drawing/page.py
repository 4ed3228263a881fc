"""An answer and its tree as HTML: one self-contained page that runs only its own few lines of script, or the parts of a notebook's turn."""

import re
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from ramify.graphs.result import Result
from ramify.nodes.state import NOT_CITED
from ramify.nodes.tree import ROOT, Passage, Tree, is_unknown
from ramify.nodes.tree.cards import Look, cards
from ramify.studio.drawing import phrases
from ramify.studio.drawing.tree_map import tree_map
from ramify.tools.atomic_file import write_whole
from ramify.tools.pages import draw, draw_page, part, style

BUTTONS = (
    ("Unfold all", "open", "below"),
    ("Fold all", "shut", "below"),
    ("Show passages", "open", "evidence"),
    ("Hide passages", "shut", "evidence"),
)
_BEHIND = re.compile(r"\[(\d{1,3})\](?=(?:\[\d{1,3}\])*$)", re.MULTILINE)
"""A number at the end of a line of an answer."""


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
