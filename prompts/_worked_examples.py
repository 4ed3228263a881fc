"""Worked examples in short: passages and findings of a small world of our own, which no document tells of."""

from typing import Any

from ramify.prompts.prompt import Example, Finding, Quote

HOLLIN = "Where was the designer of Hollin Bridge born?"
FIRST_OPENED = "Which opened first, Hollin Bridge or Vane Bridge?"


def example(reply: dict[str, Any], dependent: bool | None = None, **given: Any) -> Example:
    """Put an example together."""
    return Example(given, reply, dependent)


def passage(title: str, text: str, source: str = "") -> Quote:
    """Make a passage."""
    return Quote(title=title, source=source or f"{title.split()[0].lower()}.txt", text=text)


def finding(path: str, question: str, answer: str, confidence: float) -> Finding:
    """Make a finding."""
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
"""A passage of ordinary length, which shares names with the questions and answers none of them."""
OSKEL = passage(
    "Oskel",
    "The Oskel rises near Oskel Moor and runs past Vane to the sea. Trout live in it, and four bridges span it. The oldest was built of oak "
    "and burnt down in 1790.",
)
"""A distractor: it shares names with what is asked, and answers nothing."""
