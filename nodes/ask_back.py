"""ask_back: end a turn with a question to the user, where a pronoun stands for a person and the conversation has told of none."""

from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import ROOT


@state_step
async def ask_back(context: Context[Settings]) -> Update:
    """Settle the question without asking the model: the answer stays Unknown, and the message asks back."""
    root = context.tree[ROOT]
    return {"tree": {ROOT: root.with_status("leaf", note=root.with_note("not asked: nobody is known whom the pronoun can mean"))}}
