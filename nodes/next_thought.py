"""next_thought: write the next sentence of a chain of thought, which is searched for (IRCoT, Trivedi et al. 2023, §3)."""

import re
from math import prod

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import IrcotSettings
from ramify.nodes.step import Context, branch_step, with_warning
from ramify.nodes.step.findings import rank_passages
from ramify.nodes.tree import ROOT, Branch, ancestors, normalized_key
from ramify.prompts import NEXT_THOUGHT
from ramify.tools.errors import ReplyError

_ANSWER = re.compile(r"\banswer is\b:?\s*(?P<answer>.+)", re.IGNORECASE)
"""The conclusion of a chain of thought."""


@branch_step()
async def next_thought(branch: Branch, context: Context[IrcotSettings]) -> list[Branch]:
    """Write the next sentence from all passages found so far; a concluding sentence gives the root its answer.

    An empty or repeated sentence ends the chain, because it would find nothing new.
    """
    chain = [*ancestors(context.tree, branch.path), branch]
    thoughts, passages = chain[1:], tuple(rank_passages(context.state, chain)[: context.settings.final_k])
    sentences = [thought.question for thought in thoughts]
    try:
        reply = await ask(NEXT_THOUGHT, passages, field="sentence", question=chain[0].question, sentences=sentences)
    except ReplyError as error:
        return [with_warning(error, branch.with_status("leaf"), "the chain of thought ends here")]
    divided = branch.with_status("split" if branch.path == ROOT else "inner")
    following = Branch(path=f"{branch.path}.0", question=reply.value.sentence.strip() or branch.question, confidence=reply.confidence)
    if normalized_key(following) in {normalized_key(link) for link in chain}:
        return [branch.with_status("leaf", note=branch.with_note("the chain of thought says nothing new"))]
    if (concluded := _ANSWER.search(following.question)) is None:
        return [divided, following]
    root = divided if branch.path == ROOT else chain[0]
    sure = prod(thought.confidence or 0.0 for thought in (*thoughts, following))
    answered = root.with_status(
        root.status, answer=concluded["answer"].strip(" ."), confidence=sure, confidence_source=reply.confidence_source
    )
    return [answered, *([] if branch.path == ROOT else [divided]), following.with_status("leaf")]
