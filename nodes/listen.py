"""listen: take up the question of a turn, from the messages or from the question itself."""

from langchain_core.messages import HumanMessage

from ramify.nodes.plant import checked
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.state.turns import heard, unheard
from ramify.nodes.step import Update, whole


@whole()
async def listen(state: State, settings: Settings) -> Update:
    """Take up the last message as the question; where it is no new one, the question that was given."""
    message = unheard(state.get("messages") or [])
    question = checked(state.get("question") if message is None else message.text)
    return {"question": question, "messages": [heard(message or HumanMessage(question))]}
