"""contextualize: make a follow-up self-contained before it is answered."""

import asyncio

from langchain_core.messages import AnyMessage

from ramify.nodes.settings import Settings
from ramify.nodes.state import answered_turns, clarifying_question, persons_mentioned
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import ROOT
from ramify.prompts import CONTEXTUALIZE
from ramify.prompts.contextualize import MAX_REWRITTEN_CHARS
from ramify.tools.anaphora import is_complete, only_extends
from ramify.tools.english import (
    added_words,
    are_persons,
    content_stems,
    descriptions,
    find_names,
    has_pronoun,
    replace_pronouns,
    unresolved_pronoun,
)
from ramify.tools.languages import is_english_question
from ramify.tools.names import contains_name

MAX_TURNS = 4
"""Maximum number of turns that a follow-up may refer to."""
NOT_REWRITTEN = "the follow-up could not be made self-contained, and was asked unchanged"


@state_step
async def contextualize(context: Context[Settings]) -> Update:
    """Rewrite the question so that it needs no conversation; if the model fails, it is asked unchanged.

    If its pronoun refers to a person and nobody was mentioned, the update has a clarifying question.
    """
    state = context.state
    question, turns = state["question"], answered_turns(state)[-MAX_TURNS:]
    reply, update = await call_model(state, CONTEXTUALIZE, field="question", fallback=NOT_REWRITTEN, question=question, turns=turns)
    rewritten = reply.value.question if reply else ""
    if len(rewritten) == MAX_REWRITTEN_CHARS and rewritten != question:  # half a question is another one
        return {**update, "notices": [f"{NOT_REWRITTEN}: it would be longer than {MAX_REWRITTEN_CHARS} characters"]}
    rewritten, asked_back = await asyncio.to_thread(_resolve_person, question, rewritten.strip() or question, state["messages"])
    update = {**update, "asked_back": asked_back}
    if rewritten == question:
        return update
    root = context.tree[ROOT]
    note = root.with_note(f"asked as {question!r}")
    return {**update, "question": rewritten, "tree": {ROOT: root.with_status(root.status, question=rewritten, note=note)}}


def _resolve_person(question: str, rewritten: str, messages: list[AnyMessage]) -> tuple[str, str]:
    """Return the rewritten question, and a clarifying question if its pronoun refers to a person and nobody was mentioned.

    A pronoun for a person that was rewritten as a thing, or left, is replaced by the last person, also if the rewritten question lacks
    words of the question. A rewritten question that lacks a name of the question, or inserts words into a complete one, is another one:
    the question stays unchanged.
    """
    if is_english_question(question) and is_complete(question) and not only_extends(question, rewritten):
        rewritten = question
    if not has_pronoun(question):
        return (rewritten if all(contains_name(rewritten, name) for name in find_names(question)) else question), ""
    known = persons_mentioned(messages)
    added = [added_words(question, rewritten), *find_names(rewritten), *descriptions(rewritten)]
    to_person = any(contains_name(rewritten, person) for person in known) or any(
        is_person for phrase, is_person in zip(added, are_persons(added), strict=True) if not contains_name(question, phrase)
    )
    kept = content_stems(question) <= content_stems(rewritten)
    pronoun = unresolved_pronoun(question)
    if pronoun is None:  # it says itself whom it means
        return (rewritten if kept and (to_person or has_pronoun(rewritten)) else question), ""
    if to_person and (kept or not known):
        return rewritten, ""
    return (replace_pronouns(question, known[0]), "") if known else (question, clarifying_question(pronoun))
