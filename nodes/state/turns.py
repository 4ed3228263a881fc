"""The turns of a conversation: what was asked, and what came of it, as messages."""

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ramify.nodes.state import State
from ramify.nodes.tree import is_unknown
from ramify.prompts import Turn

MARK = "ramify"
"""Under this name a message carries what the toolkit knows of it: a question that it was heard, an answer its citations and tree."""
SURE = 0.6
"""An answer of this confidence may stand for what it answers: clearly rather right than wrong, also where a model is somewhat too sure."""


def unheard(messages: Iterable[BaseMessage]) -> HumanMessage | None:
    """Give the last message if it is a question that no turn has taken up yet."""
    last = next(reversed(list(messages)), None)
    return last if isinstance(last, HumanMessage) and MARK not in last.additional_kwargs else None


def heard(message: HumanMessage) -> HumanMessage:
    """Mark a question as taken up: a turn that then fails does not answer it again instead of the next one."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: {"heard": True}}})


def earlier(state: State) -> list[Turn]:
    """List the answered turns of a conversation: each question as it was understood, with its answer and whether that was sure."""
    turns: list[Turn] = []
    asked = ""
    for message in state.get("messages") or []:
        if isinstance(message, HumanMessage):
            asked = message.text
        elif isinstance(message, AIMessage) and asked:
            told: dict[str, Any] = message.additional_kwargs.get(MARK) or {}
            answer = str(told.get("answer") or message.text)
            sure = not is_unknown(answer) and float(told.get("confidence") or 0) >= SURE
            turns.append(Turn(asked=str(told.get("question") or asked), answer=answer, sure=sure))
    return turns
