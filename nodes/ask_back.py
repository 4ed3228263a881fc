"""ask_back: end a turn with a question to the user, if a pronoun refers to a person and the conversation has mentioned none."""

from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import ROOT


@state_step
async def ask_back(context: Context[Settings]) -> Update:
    """Settle the question without a model call: the answer is Unknown, and the message asks for clarification."""
    root = context.tree[ROOT]
    return {"tree": {ROOT: root.with_status("leaf", note=root.with_note("not asked: the pronoun refers to no person mentioned before"))}}
