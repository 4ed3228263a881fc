"""The turns of a conversation: what was asked, and what came of it, as messages."""

from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ramify.nodes.state import State
from ramify.nodes.tree import DROPPED, is_unknown
from ramify.prompts import Turn
from ramify.tools.english import LIKELY, asked_for, named_by, names_in, probabilities

MARK = "ramify"
"""Under this name a message carries what the toolkit knows of it: a question that it was heard, an answer its citations and tree."""
SURE = 0.6
"""An answer of this confidence may stand for what it answers: clearly rather right than wrong, also where a model is somewhat too sure."""


def answer_id(state: State) -> str:
    """Return the id of the message that says a question's answer: also of its parts, where they are streamed before it is whole."""
    return f"answer-{state['started']:.6f}"


def pending_message(messages: Iterable[BaseMessage]) -> HumanMessage | None:
    """Give the last message if it is a question that no turn has taken up yet."""
    last = next(reversed(list(messages)), None)
    return last if isinstance(last, HumanMessage) and MARK not in last.additional_kwargs else None


def heard(message: HumanMessage) -> HumanMessage:
    """Mark a question as taken up: a turn that then fails does not answer it again instead of the next one."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: {"heard": True}}})


def earlier(state: State) -> list[Turn]:
    """List the answered turns of a conversation: each question as it was understood, with its answer and whether that was sure."""
    return [
        Turn(asked=asked, answer=answer, sure=_sure(answer, told.get("confidence")))
        for asked, answer, told in _answered(state.get("messages") or [])
    ]


def left_open(messages: Iterable[BaseMessage]) -> str | None:
    """Return the question of the last turn where that one asked back whom it means; None where it did not."""
    last = next(reversed(list(_turns(messages))), None)
    return last[0] if last is not None and last[2].get("asked_back") else None


def persons(messages: Iterable[BaseMessage], turns: int) -> list[str]:
    """List the persons that the last turns told of, the latest first: by name where an answer was sure, else as described. Blocking.

    A person is who a question or sub-question with "who" asks for, and whom the embedded classifier takes for one.
    """
    found: list[str] = []
    for asked, answer, told in reversed(_answered(messages)[-turns:]):
        whole = {"question": asked, "answer": answer, "confidence": told.get("confidence")}
        tree = told.get("tree")
        rows = tree if isinstance(tree, list) else ()
        for row in (whole, *(row for row in rows if isinstance(row, dict) and row.get("status") not in DROPPED)):
            if (described := asked_for(str(row.get("question")))) is not None:
                sure = named_by(row["answer"]) if _sure(row.get("answer"), row.get("confidence")) else None
                found += filter(None, (sure, described))
        named = [*names_in(asked), *([answer] if _sure(answer, told.get("confidence")) else [])]
        found += [name for name, likely in zip(named, probabilities(named), strict=True) if likely >= LIKELY]
    return list(dict.fromkeys(found))


def asked_of(messages: Iterable[BaseMessage], turns: int) -> list[str]:
    """List the questions of the last turns, as they were understood."""
    return [asked for asked, _, _ in _answered(messages)[-turns:]]


def _answered(messages: Iterable[BaseMessage]) -> list[tuple[str, str, dict[str, Any]]]:
    """List the turns that did not ask back."""
    return [turn for turn in _turns(messages) if not turn[2].get("asked_back")]


def _sure(answer: object, confidence: object) -> bool:
    return isinstance(answer, str) and not is_unknown(answer) and isinstance(confidence, float | int) and confidence >= SURE


def _turns(messages: Iterable[BaseMessage]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each turn that was replied to: its question as it was understood, its answer, and what the toolkit knows of it."""
    asked = ""
    for message in messages:
        if isinstance(message, HumanMessage):
            asked = message.text
        elif isinstance(message, AIMessage) and asked:
            kept = message.additional_kwargs.get(MARK)
            told: dict[str, Any] = kept if isinstance(kept, dict) else {}
            yield str(told.get("question") or asked), str(told.get("answer") or message.text), told
