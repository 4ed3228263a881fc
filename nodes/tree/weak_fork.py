"""What becomes of a fork that does not hold: split again, or pruned for good (ToR-RAG §4 and §5)."""

from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Growth, grow
from ramify.nodes.tree import Status
from ramify.nodes.tree.conditions import may_retry
from ramify.nodes.tree.selection import Fork


def weaken(fork: Fork, settings: TorSettings, reason: str, weaker: str | None) -> Growth:
    """Prune the pair; its parent is split again while attempts are left, else it is a leaf (answered itself where it has no answer)."""
    pruned = [child.to("pruned", note=child.noted(reason)) for child in fork.pair]
    last: Status = "open" if fork.branch.answer is None else "leaf"
    parent = fork.branch.to("growing" if may_retry(fork.branch, settings) else last, weaker=weaker)
    return grow(parent, *pruned)
