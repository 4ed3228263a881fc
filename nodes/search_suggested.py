"""search_suggested: add the query that the last round suggested to those that are searched (Iterative RAG, step 3)."""

from ramify.nodes.settings import IterativeSettings
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import ROOT, new_children


@state_step
async def search_suggested(context: Context[IterativeSettings]) -> Update:
    """Add a branch for the suggested query, and reset the count of poor rounds."""
    search = context.state["search"]
    grown = new_children(context.tree, ROOT, [search.suggested])
    return {"tree": {branch.path: branch for branch in grown}, "search": search.model_copy(update={"suggested": "", "relevances": ()})}
