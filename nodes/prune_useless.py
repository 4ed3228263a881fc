"""prune (useless): drop the batches that say nothing about the question: those of score 0 (GraphRAG §2)."""

from ramify.nodes.settings import GlobalSettings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.tree import Branch
from ramify.nodes.tree.selection import alone

USELESS = "score 0: nothing in it helps"


@each(alone("judged"), gives=("leaf", "pruned"), name="prune")
def prune_useless(branch: Branch, settings: GlobalSettings) -> Growth:
    """Keep a batch that helps, prune one that does not."""
    return grow(branch.to("leaf") if branch.score else branch.to("pruned", note=branch.noted(USELESS)))
