"""What is left of a conversation that is cut off: a question that no step has read, and an answer that the list of them lacks."""

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from ramify.graphs.run import Result, Watch
from ramify.graphs.wiring import START
from ramify.nodes.read_input import read_input
from ramify.nodes.state.turns import MARK
from ramify.tools.errors import RamifyError


async def not_taken_up(saver: BaseCheckpointSaver[Any], held: StateSnapshot) -> list[AnyMessage]:
    """Return the messages of a question that was given, and that no step has read yet; none where there is none."""
    steps = {task.name for task in held.tasks}
    if START in steps and (kept := await saver.aget_tuple(held.config)):
        return list(kept.checkpoint["channel_values"][START]["messages"])
    return list(held.values["messages"]) if read_input.name in steps else []


def answered_turns(messages: list[AnyMessage]) -> int:
    """Count the turns that were answered, without those that only asked back."""
    return sum(isinstance(message, AIMessage) and not (message.additional_kwargs.get(MARK) or {}).get("asked_back") for message in messages)


def unlisted(result: Result, state: dict[str, Any], error: RamifyError, watch: Watch | None) -> tuple[Result, dict[str, Any]]:
    """Return an answer that is kept with the notice that the list of conversations lacks it until the next turn."""
    notices = [*result.notices, f"the answer is kept, but the list of conversations counts it only with the next: {error}"]
    if watch is not None:
        watch("values", {**state, "notices": notices})
    return result.model_copy(update={"notices": notices}), state
