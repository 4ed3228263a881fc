"""expand: keep a fork, so that its sub-questions may be split further (ToR-RAG)."""

from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch


@branch_step()
async def expand(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Keep a fork, and return it with its answered halves."""
    return [branch.with_status("inner"), *(half for half in context.pair(branch) if half.status == "answered")]
