"""ask_back: end a turn with a question to the user, where a pronoun stands for a person and the conversation has told of none."""

from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step import Update, whole
from ramify.nodes.tree import ROOT


def nobody_known(state: State, settings: Settings) -> bool:
    """Tell whether there is something to ask back."""
    return bool(state.get("asked_back"))


@whole(gives=("leaf",), when=nobody_known)
async def ask_back(state: State, settings: Settings) -> Update:
    """Settle the question without asking the model: the answer stays Unknown, and the message asks back."""
    root = state["tree"][ROOT]
    return {"tree": {ROOT: root.to("leaf", note=root.noted("not asked: nobody is known whom the pronoun can mean"))}}
