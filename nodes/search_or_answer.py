"""search_or_answer: think, then search or finish (ReAct, Yao et al. 2023, §2; the actions of Search-o1)."""

from ramify.nodes.next_question import next_link
from ramify.nodes.settings import ChainSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch
from ramify.prompts import SEARCH_OR_ANSWER


@branch_step()
async def search_or_answer(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Write the next search query, or answer from what the searches gave; nothing is answered before the first search."""
    return await next_link(branch, context, SEARCH_OR_ANSWER, "answer")
