"""Steps of a conversation around a strategy: read_input, contextualize, ask_back, append_answer."""

import asyncio
import re

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ramify.nodes.init_tree import validate_question
from ramify.nodes.settings import Settings
from ramify.nodes.state import (
    MARK,
    answer_id,
    answered_turns,
    clarifying_question,
    has_answered_turns,
    mark_as_read,
    pending_clarification,
    pending_message,
    persons_mentioned,
)
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import ROOT, is_unknown, to_row
from ramify.nodes.tree.citation import Citation, Sentence, without_marks
from ramify.nodes.tree.notes import check_advice, confidence_figure
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
from ramify.tools.quoting import one_line

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


@state_step
async def ask_back(context: Context[Settings]) -> Update:
    """Settle the question without a model call: the answer is Unknown, and the message asks for clarification."""
    root = context.tree[ROOT]
    return {"tree": {ROOT: root.with_status("leaf", note=root.with_note("not asked: the pronoun refers to no person mentioned before"))}}


MESSAGE_FIELDS = ("question", "answer", "text", "confidence", "explanation", "stopped_by", "notices", "model", "index")


@state_step
async def append_answer(context: Context[Settings]) -> Update:
    """Append a message with the answer and its sources; its metadata has confidence, citations, tree and usage as JSON values."""
    state = context.state
    values = {name: state[name] for name in MESSAGE_FIELDS}
    if asked_back := state.get("asked_back"):
        values["asked_back"] = asked_back
    citations = [Citation.model_validate(citation) for citation in state["citations"]]  # a state may be edited by hand
    values |= {
        "citations": [citation.model_dump() for citation in citations],
        "sentences": [Sentence.model_validate(sentence).model_dump() for sentence in state["sentences"]],
        "tree": [to_row(branch) for branch in state["tree"].values()],
        "usage": state["usage"].model_dump(),
    }
    shown = (state["answer"], state["text"], citations, state["index"], state["confidence"], state["explanation"])
    text = asked_back or format_message(*shown)
    return {"messages": [AIMessage(text, id=answer_id(state), additional_kwargs={MARK: values})]}


def format_message(answer: str, text: str, citations: list[Citation], index: str, confidence: float | None, explanation: str = "") -> str:
    """Return a message: the answer (for Unknown, with the reason), its text if that says more, the sources, and the confidence.

    Without a text, the numbers follow the answer, so that the message alone suffices for citing.
    """
    cited = [number for number, citation in enumerate(citations, 1) if citation.cited]
    marks = "" if text else "".join(f"[{number}]" for number in cited if f"[{number}]" not in answer)
    sources = [f"[{number}] {citation.where}{citation.mark}" for number, citation in enumerate(citations, 1)]
    short = "" if answer and answer in (text, without_marks(text)) else f"{answer} {marks}".rstrip()
    advice = f" ({check_advice(confidence)})" if check_advice(confidence) else ""
    certainty = "" if confidence is None else f"Confidence: {confidence_figure(confidence)} of 1{advice}"
    why = one_line(explanation) if is_unknown(answer) else ""
    return "\n\n".join(filter(None, [short, why, text, "\n".join(sources), certainty, f"Searched: {index}" if index else ""]))
