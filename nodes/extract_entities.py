"""extract_entities: name what to look up where a question cannot be split (PruneRAG's fine-grained retrieval)."""

from collections.abc import Sequence

from ramify.nodes.asking.ask import ask
from ramify.nodes.decompose import children_of
from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch, children
from ramify.nodes.tree.answers import normal
from ramify.prompts import ENTITIES


@branch_step()
async def extract_entities(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Open a branch for each of one or two entities, as proposed or as the model names them; without any the question is left as it is."""
    proposal = branch.proposal
    if proposal is None:
        reply = await ask(ENTITIES, context.passages(branch), question=branch.question)
        names: Sequence[str] = reply.value.entities
    else:
        names = proposal.entities
    branch = branch.to(branch.status, proposal=None, attempts=branch.attempts + 1)
    names = distinct(names)
    if not names:
        return [branch.to(branch.status, note=branch.noted("cannot be split, and names no entity to look up"))]
    return [branch.to("split"), *children_of(branch, children(context.tree, branch.path), names, "entity")]


def distinct(names: Sequence[str]) -> list[str]:
    """Keep the first two different names; a reference to another's answer is none."""
    return list(dict.fromkeys(name.strip() for name in names if name.strip() and "{" not in normal(name)))[:2]
