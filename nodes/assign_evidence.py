"""assign_evidence: assign the relevant passages to the branches that found them (Iterative RAG, step 3)."""

from ramify.nodes.settings import IterativeSettings
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import Branch


@state_step
async def assign_evidence(context: Context[IterativeSettings]) -> Update:
    """Make each searched branch a leaf with its relevant passages; one that found none is pruned."""
    relevant = set(context.state["search"].relevant)
    return {"tree": {branch.path: _settled(branch, relevant) for branch in context.tree.values() if branch.status == "open"}}


def _settled(branch: Branch, relevant: set[str]) -> Branch:
    kept = tuple(key for key in branch.evidence if key in relevant)
    if not kept:
        return branch.with_status("pruned", note=f"none of its {len(branch.evidence)} passages was found relevant")
    return branch.with_status("leaf", evidence=kept, note=f"{len(kept)} of {len(branch.evidence)} passages found relevant")
