"""extract_entities: find the names to look up for a question that cannot be split (PruneRAG's fine-grained retrieval)."""

from collections.abc import Sequence

from ramify.nodes.asking.ask import ask
from ramify.nodes.decompose import make_children
from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch, children
from ramify.nodes.tree.answers import normalize_references
from ramify.prompts import ENTITIES


@branch_step()
async def extract_entities(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Open a branch for one or two entities, proposed before or extracted by the model; without any the question stays unchanged."""
    proposal = branch.proposal
    if proposal is None:
        reply = await ask(ENTITIES, context.passages(branch), question=branch.question)
        names: Sequence[str] = reply.value.entities
    else:
        names = proposal.entities
    branch = branch.with_status(branch.status, proposal=None, attempts=branch.attempts + 1)
    names = distinct_names(names)
    if not names:
        return [branch.with_status(branch.status, note=branch.with_note("cannot be split, and names no entity to look up"))]
    return [branch.with_status("split"), *make_children(branch, children(context.tree, branch.path), names, "entity")]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return the first two distinct names, without references to answers."""
    return list(dict.fromkeys(name.strip() for name in names if name.strip() and "{" not in normalize_references(name)))[:2]
