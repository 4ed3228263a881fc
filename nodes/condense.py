"""condense: reduce what a search found to what helps (the reason-in-documents step of Search-o1, Li et al. 2025, §3.4)."""

from ramify.nodes.answer import with_answer
from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import ChainSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.step.findings import to_finding
from ramify.nodes.tree import ROOT, Branch, ancestors
from ramify.prompts import CONDENSE


@branch_step()
async def condense(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Say in few sentences what the passages of a search give for the question, in the light of the searches before it."""
    before = [link for link in ancestors(context.tree, branch.path) if link.path != ROOT]
    history = [to_finding(link, {}, ()) for link in before]
    question = context.tree[ROOT].question
    reply = await ask(CONDENSE, context.passages(branch), question=question, query=branch.question, history=history)
    return [with_answer(branch, reply, "answered")]
