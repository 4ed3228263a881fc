"""A tree as HTML: one card per branch, nested like the branches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from ramify.nodes.tree import ROOT, WORKING, Branch, Passage, Tree, branches_below, phrases
from ramify.nodes.tree.notes import shorten_note
from ramify.tools.pages import render_template
from ramify.tools.quoting import one_line


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


def cards(tree: Tree, look: TreeView, map: Any = None) -> Markup:
    """Return the HTML of a tree below its map, if one is given; empty if there is no root yet."""
    if ROOT not in tree:
        return Markup()
    below = branches_below(tree)
    count: dict[str, int] = {}
    for path in reversed(tree):  # what is below before what is above
        count[path] = sum(1 + count[child.path] for child in below[path])
    given = {"branches_below": below, "count_below": count, "folded": shorten_note, "one_line": one_line, "say": phrases}
    return render_template("tree.html", tree=tree, look=look, map=map, **given)
