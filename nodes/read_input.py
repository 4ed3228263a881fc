"""read_input: read the question of a turn, from the messages or the input, and complete one that was asked back."""

import asyncio
import re

from langchain_core.messages import AnyMessage, HumanMessage

from ramify.nodes.init_tree import validate_question
from ramify.nodes.settings import Settings
from ramify.nodes.state import clarifying_question, has_answered_turns, mark_as_read, pending_clarification, pending_message
from ramify.nodes.step import Context, Update, state_step
from ramify.tools.english import find_names, replace_pronouns, unresolved_pronoun

_QUESTION_START = re.compile(
    r"(?:and|so|what|when|where|which|who|whom|whose|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|in|on|at|list|name|tell)\b",
    re.IGNORECASE,
)
_MAX_NAME_WORDS = 8
"""Maximum number of words of a reply that only names a person."""


@state_step
async def read_input(context: Context[Settings]) -> Update:
    """Read the last message as the question; if it is not new, the question of the input.

    A reply to a clarifying question completes the original question. If a pronoun refers to a person in the first question, the
    update has a clarifying question; in a later one, `contextualize` asks the model first.
    """
    state = context.state
    messages = state.get("messages") or []
    message = pending_message(messages)
    said = validate_question(state.get("question") if message is None else message.text)
    question, asked_back = await asyncio.to_thread(_resolve_question, said, messages)
    return {"question": question, "messages": [mark_as_read(message or HumanMessage(said))], "asked_back": asked_back}


def _resolve_question(said: str, messages: list[AnyMessage]) -> tuple[str, str]:
    """Return the completed question, and a clarifying question if a pronoun can mean nobody because nothing was said before."""
    question, before = said, pending_clarification(messages)
    if before and not said.endswith("?") and len(said.split()) <= _MAX_NAME_WORDS and not _QUESTION_START.match(said):
        names = find_names(said)
        question = replace_pronouns(before, names[0] if len(names) == 1 else said.rstrip(" ."))
    pronoun = None if has_answered_turns(messages) else unresolved_pronoun(question)
    return question, clarifying_question(pronoun) if pronoun else ""
