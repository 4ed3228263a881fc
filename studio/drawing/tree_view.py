"""How a tree is looked at: beside which passages, while what is done, and under which names on the page."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ramify.nodes.tree import WORKING, Branch, Passage


@dataclass(frozen=True)
class Look:
    """What the drawing of a tree needs beside the tree."""

    passages: Mapping[str, Passage] = field(default_factory=dict)
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
