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


def finding(path: str, question: str, answer: str, confidence: float, source: str = "", status: str = "leaf") -> Finding:
    """Make a finding."""
    sources = [source] if source else []
    return Finding(
        path=path,
        kind="question",
        question=question,
        answer=answer,
        confidence=confidence,
        status=status,
        sources=sources,
        together="",
        above=[],
    )


SPANS = passage("Hollin Bridge", "Hollin Bridge spans the river Oskel.")
