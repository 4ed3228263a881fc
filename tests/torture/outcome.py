"""Outcomes of questions: an answer, Unknown, one clear error, a stream that was left, or something broken."""

from typing import Literal, TypedDict

OutcomeKind = Literal["answer", "unknown", "error", "left", "broken"]
TRACEBACK = "Traceback (most recent call last)"
UNHANDLED_ERROR_MARKS = ("report it", "Errno", "Exception:")
"""Parts of the messages of unhandled errors."""


class Outcome(TypedDict):
    """The outcome of a question."""

    kind: OutcomeKind
    text: str
    stored: bool
    """Whether a conversation stores it as a turn."""


def make_outcome(kind: OutcomeKind, text: str, stored: bool = False) -> Outcome:
    """Return an outcome; its kind is "broken" if the text has a traceback, or the error is not one clear line."""
    line = text.strip()
    unclear = kind == "error" and (" — " not in line or "\n" in line or any(part in line for part in UNHANDLED_ERROR_MARKS))
    if unclear or TRACEBACK in text:
        return Outcome(kind="broken", text=line[-3000:], stored=stored)
    return Outcome(kind=kind, text=line[:300], stored=stored)
