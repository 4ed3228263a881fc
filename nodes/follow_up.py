"""follow_up: ask the follow-up question that is needed, or give the final answer (Self-Ask, Press et al. 2023, figure 3)."""

from ramify.nodes.next_question import next_link
from ramify.nodes.settings import ChainSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch
from ramify.prompts import FOLLOW_UP


@branch_step()
async def follow_up(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Ask a follow-up question, or answer from the intermediate answers; if none is needed at first, ask the question itself."""
    return await next_link(branch, context, FOLLOW_UP, "answer")
