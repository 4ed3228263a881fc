"""What the reader gives back."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """An answer, how sure the reader is, and where it stands: the passage's number from 1 (0 for none) and the sentence."""

    answer: str
    confidence: float
    passage: int
    sentence: str


NOTHING = Span("", 0.05, 0, "")
