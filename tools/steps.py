"""Numbers of steps and paragraphs in headings and titles, and passages in the order of their steps."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from ramify.tools.passage import Passage

T = TypeVar("T")
Step = tuple[str, int]
"""The number of a step or paragraph: its prefix and its last part."""
NaturalKey = list[tuple[int, str]]
"""A text as a sort key by which "p10" comes after "p9"."""
_WORD = r"(?:step|schritt|étape|paso|passo)\s+|단계\s*"
_STEP = re.compile(rf"(?P<word>{_WORD})?(?P<prefix>(?:[A-Z]?\d+[-.–])*)(?P<number>\d+)(?:단계)?[.:)]?(?:\s|$)", re.IGNORECASE)
_LETTER = re.compile(r"\(?([a-z])[.)]\s")


def parse_step(heading: str) -> Step | None:
    """Return the number at the beginning of a heading: "Step 3", "4-38.", "2.1 Scope", "a."; None if there is none."""
    if match := _STEP.match(heading):
        return match["prefix"].casefold(), int(match["number"])
    letter = _LETTER.match(heading)
    return ("", ord(letter[1])) if letter else None


def natural_key(text: str) -> NaturalKey:
    """Return a sort key of a text in which numbers are compared by their values."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def in_step_order(items: Iterable[T], passage_of: Callable[[T], Passage]) -> list[T]:
    """Return items with those of a procedure in the order of its steps, in the places that these have together; others keep theirs.

    A procedure is the passages of a document whose headings are "Step 1", "Step 2" …, below the same headings, or the records of a file
    that are titled so. Numbers without that word are those of sections, of which the most relevant comes first.
    """
    ordered = list(items)
    procedures: dict[tuple[str, ...], list[tuple[int, NaturalKey, int]]] = {}
    for place, item in enumerate(ordered):
        passage = passage_of(item)
        if (step := _step_of(passage)) is not None:
            procedure, number = step
            procedures.setdefault(procedure, []).append((number, natural_key(passage.id), place))
    before = list(ordered)
    for steps in procedures.values():
        for place, (_, _, origin) in zip([place for _, _, place in steps], sorted(steps), strict=True):
            ordered[place] = before[origin]
    return ordered


def _step_of(passage: Passage) -> tuple[tuple[str, ...], int] | None:
    """Return the procedure that a passage is a step of, and the number of the step; None for other passages."""
    above, _, heading = str(passage.metadata.get("heading") or "").rpartition(" > ")
    for text, place in ((heading, (passage.source, above)), (passage.title, (passage.source.partition("#")[0], ""))):
        if (match := _STEP.match(text)) and match["word"]:
            return (passage.collection, *place, match["prefix"].casefold()), int(match["number"])
    return None
