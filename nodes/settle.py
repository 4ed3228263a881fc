"""settle: hang what the filter kept on the branch that found it (Iterative RAG)."""

from ramify.nodes.filter import stops
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import IterativeState
from ramify.nodes.step import Update, whole
from ramify.nodes.tree import Branch


@whole(takes=("found", "open"), gives=("leaf", "pruned"), when=stops)
async def settle(state: IterativeState, settings: IterativeSettings) -> Update:
    """Make each searched branch a leaf with its relevant passages; one that found none is pruned."""
    relevant = set(state["search"].relevant)
    branches = [branch for branch in state["tree"].values() if branch.status in {"found", "open"}]
    return {"tree": {branch.path: _settled(branch, relevant) for branch in branches}}


def _settled(branch: Branch, relevant: set[str]) -> Branch:
    kept = tuple(key for key in branch.evidence if key in relevant)
    if not kept:
        return branch.to("pruned", note=f"none of its {len(branch.evidence)} passages was found relevant")
    return branch.to("leaf", evidence=kept, note=f"{len(kept)} of {len(branch.evidence)} passages found relevant")
