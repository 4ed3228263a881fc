"""contextualize: make a follow-up self-contained, before it grows a tree."""

import asyncio

from langchain_core.messages import AnyMessage

from ramify.nodes.settings import Settings
from ramify.nodes.state import earlier, persons
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import ROOT
from ramify.prompts import CONTEXTUALIZE
from ramify.prompts.contextualize import LONGEST
from ramify.tools.english import (
    added_words,
    contains_name,
    content_stems,
    has_pronoun,
    likeliest_person,
    replace_pronouns,
    unresolved_pronoun,
)

REMEMBERED = 4
"""Turns that a follow-up may refer to."""
AS_IT_IS = "the follow-up could not be made self-contained, and was asked as it is"


@state_step
async def contextualize(context: Context[Settings]) -> Update:
    """Rewrite the question so that it needs no conversation; where the model cannot, it is asked as it is."""
    state = context.state
    question, turns = state["question"], earlier(state)[-REMEMBERED:]
    reply, update = await call_model(state, CONTEXTUALIZE, field="question", instead=AS_IT_IS, question=question, turns=turns)
    rewritten = reply.value.question if reply else ""
    if len(rewritten) == LONGEST and rewritten != question:  # half a question is another one
        return {**update, "notices": [f"{AS_IT_IS}: it would be longer than {LONGEST} characters"]}
    rewritten = await asyncio.to_thread(_with_persons, question, rewritten.strip(), state["messages"])
    if not rewritten or rewritten == question:
        return update
    root = context.tree[ROOT]
    note = root.noted(f"asked as {question!r}")
    return {**update, "question": rewritten, "tree": {ROOT: root.to(root.status, question=rewritten, note=note)}}


def _with_persons(question: str, rewritten: str, messages: list[AnyMessage]) -> str:
    """Return the rewritten question; a pronoun for a person that became a thing or was left is replaced by the last person told of.

    So it is where the rewritten question lacks words of the question. Where nobody was told of it is asked as it is.
    """
    if not rewritten or not has_pronoun(question):
        return rewritten
    known = persons(messages, REMEMBERED)
    words = added_words(question, rewritten)
    to_person = any(contains_name(rewritten, person) for person in known) or bool(words and likeliest_person([words]))
    kept = content_stems(question) <= content_stems(rewritten)
    if unresolved_pronoun(question) is None or not known:  # it says itself whom it means, or the model found one
        return rewritten if kept and (to_person or has_pronoun(rewritten)) else question
    return rewritten if kept and to_person else replace_pronouns(question, known[0])
