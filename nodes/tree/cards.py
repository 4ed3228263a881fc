"""A tree as a part of a page: a card a branch, nested as the branches are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from ramify.nodes.tree import ROOT, WORKING, Branch, Passage, Tree, branches_below, phrases
from ramify.nodes.tree.notes import folded
from ramify.tools.pages import render_template
from ramify.tools.quoting import one_line


@dataclass(frozen=True)
class Look:
    """What the drawing of a tree needs beside the tree."""

    passages: Mapping[str, Passage] | None = field(default_factory=dict)
    """Those that are shown, by id; None where the ids are all there is to show."""
    prefix: str = ""
    """Put before every id, so that several trees can be on one page."""
    busy: Mapping[str, str] = field(default_factory=dict)
    """What is being done to a branch, by path, while it grows."""

    def name(self, branch: Branch) -> str:
        """Give the id of a branch's card."""
        return f"{self.prefix}branch-{branch.path}"

    def tone(self, branch: Branch) -> str:
        """Name the group of statuses that share a colour."""
        return "working" if branch.path in self.busy or branch.status in WORKING else branch.status

    def state(self, branch: Branch) -> str:
        """Say what a branch is at, else what came of it."""
        doing = self.busy.get(branch.path)
        return f"{doing} …" if doing else branch.status

    def found(self, branch: Branch) -> list[tuple[str, Passage | None]]:
        """List what was found for a branch, by id."""
        if self.passages is None:
            return [(id, None) for id in branch.evidence]
        return [(id, self.passages[id]) for id in branch.evidence if id in self.passages]


def cards(tree: Tree, look: Look, map: Any = None) -> Markup:
    """Draw a tree below its map, if one is given; nothing before the root is planted."""
    if ROOT not in tree:
        return Markup()
    below = branches_below(tree)
    count: dict[str, int] = {}
    for path in reversed(tree):  # what is below before what is above
        count[path] = sum(1 + count[child.path] for child in below[path])
    given = {"branches_below": below, "count_below": count, "folded": folded, "one_line": one_line, "say": phrases}
    return render_template("tree.html", tree=tree, look=look, map=map, **given)
