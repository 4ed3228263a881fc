"""What came of a question: an answer, Unknown, one clear error, or a stream that was left; and what is wrong with it."""

from typing import Literal, TypedDict

Kind = Literal["answer", "unknown", "error", "left", "broken"]
TRACEBACK = "Traceback (most recent call last)"
UNFORESEEN = ("report it", "Errno", "Exception:")
"""Parts of an error that nobody wrote a message for."""


class Outcome(TypedDict):
    """What came of a question."""

    kind: Kind
    text: str
    kept: bool
    """Whether a conversation has it as a turn."""


def said(kind: Kind, text: str, kept: bool = False) -> Outcome:
    """Return an outcome; broken where a traceback is in it, or an error is not one clear line."""
    line = text.strip()
    unclear = kind == "error" and (" — " not in line or "\n" in line or any(part in line for part in UNFORESEEN))
    if unclear or TRACEBACK in text:
        return Outcome(kind="broken", text=line[-3000:], kept=kept)
    return Outcome(kind=kind, text=line[:300], kept=kept)
