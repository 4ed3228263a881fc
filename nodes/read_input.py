"""read_input: take up the question of a turn, from the messages or from the question itself, and see whom it may mean."""

import asyncio
import re

from langchain_core.messages import AnyMessage, HumanMessage

from ramify.nodes.contextualize import REMEMBERED
from ramify.nodes.init_tree import checked
from ramify.nodes.settings import Settings
from ramify.nodes.state import asked_of, heard, left_open, pending_message, persons
from ramify.nodes.step import Context, Update, state_step
from ramify.tools.english import find_names, mentions_person, person_asked_for, replace_pronouns, unresolved_pronoun

_ASKS = re.compile(
    r"(?:and|so|what|when|where|which|who|whom|whose|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|in|on|at|list|name|tell)\b",
    re.IGNORECASE,
)
_LONGEST = 8
"""Words of a reply that only says who is meant."""


@state_step
async def read_input(context: Context[Settings]) -> Update:
    """Take up the last message as the question; where it is no new one, the question that was given.

    A reply to a question asked back completes the question it was asked about. Where a pronoun stands for a person and none is known, the
    update has what is asked back.
    """
    state = context.state
    messages = state.get("messages") or []
    message = pending_message(messages)
    said = checked(state.get("question") if message is None else message.text)
    question, asked_back = await asyncio.to_thread(_understood, said, messages)
    return {"question": question, "messages": [heard(message or HumanMessage(said))], "asked_back": asked_back}


def _understood(said: str, messages: list[AnyMessage]) -> tuple[str, str]:
    """Return the question that is meant, and what is to be asked back, empty where nothing is."""
    question, before = said, left_open(messages)
    if before and not said.endswith("?") and len(said.split()) <= _LONGEST and not _ASKS.match(said):
        names = find_names(said)
        question = replace_pronouns(before, names[0] if len(names) == 1 else said.rstrip(" ."))
    meant = unresolved_pronoun(question)
    described = (asked for asked in asked_of(messages, REMEMBERED) if person_asked_for(asked) != "")  # "Who leads it?" tells of nobody
    if meant is None or persons(messages, REMEMBERED) or any(map(mentions_person, described)):
        return question, ""
    return question, f"Who is meant by {meant.lower()!r}? Please give a name, or ask again with it."
