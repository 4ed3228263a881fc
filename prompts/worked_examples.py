"""Building blocks of worked examples: passages and findings about invented places and persons."""

from typing import Any

from pydantic import BaseModel

from ramify.prompts.prompt import Example, Finding, Quote

HOLLIN = "Where was the designer of Hollin Bridge born?"
FIRST_OPENED = "Which opened first, Hollin Bridge or Vane Bridge?"


def example(reply: BaseModel, thought: str = "", written: str = "", dependent: bool | None = None, **slots: Any) -> Example:
    """Return an example with its slots as keyword arguments."""
    return Example(slots, reply, thought, written, dependent)


def passage(title: str, text: str, source: str = "") -> Quote:
    """Return a passage."""
    return Quote(title=title, source=source or f"{title.split()[0].lower()}.txt", text=text)


def finding(path: str, question: str, answer: str, confidence: float | None) -> Finding:
    """Return a finding."""
    return Finding(
        path=path,
        kind="question",
        question=question,
        answer=answer,
        confidence=confidence,
        status="leaf",
        note="",
        sources=[],
        together="",
        above=[],
    )


VALLEY = passage(
    "Oskel valley",
    "Weavers from Tarnholm settled in the Oskel valley in 1788. A ferry crossed the river at Hollin, whose books were kept by Ada Lantz. The "
    "inn at its landing burned down in 1871 and was rebuilt with a market hall.",
    "valley.txt",
)
"""A distractor of ordinary length, which shares names with the questions and answers none."""
TROUT = passage("Oskel", "Trout live in it.")
"""A short distractor."""
OSKEL = passage(
    "Oskel",
    "The Oskel rises near Oskel Moor and runs past Vane to the sea. Trout live in it, and four bridges span it. The oldest was built of oak "
    "and burnt down in 1790.",
)
"""A distractor, which shares names with the questions and answers none."""
