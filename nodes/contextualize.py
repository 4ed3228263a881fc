"""contextualize: make a follow-up self-contained before it is answered."""

import asyncio

from langchain_core.messages import AnyMessage

from ramify.nodes.settings import Settings
from ramify.nodes.state import answered_turns, persons_mentioned
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import ROOT
from ramify.prompts import CONTEXTUALIZE
from ramify.prompts.contextualize import MAX_REWRITTEN_CHARS
from ramify.tools.english import (
    added_words,
    content_stems,
    has_pronoun,
    likeliest_person,
    replace_pronouns,
    unresolved_pronoun,
)
from ramify.tools.names import contains_name

MAX_TURNS = 4
"""Maximum number of turns that a follow-up may refer to."""
NOT_REWRITTEN = "the follow-up could not be made self-contained, and was asked unchanged"


@state_step
async def contextualize(context: Context[Settings]) -> Update:
    """Rewrite the question so that it needs no conversation; if the model fails, it is asked unchanged."""
    state = context.state
    question, turns = state["question"], answered_turns(state)[-MAX_TURNS:]
    reply, update = await call_model(state, CONTEXTUALIZE, field="question", fallback=NOT_REWRITTEN, question=question, turns=turns)
    rewritten = reply.value.question if reply else ""
    if len(rewritten) == MAX_REWRITTEN_CHARS and rewritten != question:  # half a question is another one
        return {**update, "notices": [f"{NOT_REWRITTEN}: it would be longer than {MAX_REWRITTEN_CHARS} characters"]}
    rewritten = await asyncio.to_thread(_replace_pronoun, question, rewritten.strip(), state["messages"])
    if not rewritten or rewritten == question:
        return update
    root = context.tree[ROOT]
    note = root.with_note(f"asked as {question!r}")
    return {**update, "question": rewritten, "tree": {ROOT: root.with_status(root.status, question=rewritten, note=note)}}


def _replace_pronoun(question: str, rewritten: str, messages: list[AnyMessage]) -> str:
    """Return the rewritten question; a pronoun for a person that was rewritten as a thing or left is replaced by the last person.

    The same if the rewritten question lacks words of the question. If no person was mentioned, the question stays unchanged.
    """
    if not rewritten or not has_pronoun(question):
        return rewritten
    known = persons_mentioned(messages, MAX_TURNS)
    words = added_words(question, rewritten)
    to_person = any(contains_name(rewritten, person) for person in known) or bool(words and likeliest_person([words]))
    kept = content_stems(question) <= content_stems(rewritten)
    if unresolved_pronoun(question) is None or not known:  # it says itself whom it means, or the model found one
        return rewritten if kept and (to_person or has_pronoun(rewritten)) else question
    return rewritten if kept and to_person else replace_pronouns(question, known[0])
