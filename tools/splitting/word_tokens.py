"""Words as the writer sees them: where each stands in a text, and how words become a text again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HOLE: Final = "{1}"
"""Where the answer of the first question belongs in the second."""
_WORD = re.compile(r"\{1\}|['’]s\b|\d+(?:[.,]\d+)+|[^\W_]+(?:[-.'’_/][^\W_]+)*|[^\w\s]|_", re.UNICODE)
_CLOSING = frozenset("?,.;:!)]}%'’s")
_OPENING = frozenset("([{$#@")
_GENITIVE = ("'s", "’s")


@dataclass(frozen=True)
class Word:
    """A word of a text and where it stands there."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Give the word as it is compared: whatever its case."""
        return self.text.casefold()


def words(text: str) -> list[Word]:
    """Cut a text into words and signs."""
    return [Word(found[0], *found.span()) for found in _WORD.finditer(text)]


def written(pieces: Sequence[tuple[str, int]], source: str, places: Sequence[Word]) -> str:
    """Join words into a sentence; each comes with its number among the source's words, -1 where it is not from there.

    Neighbours of the source keep what stood between them; a sentence begins with a capital letter.
    """
    text = ""
    before = None
    for word, number in pieces:
        text += _gap(text, word, before, number, source, places) + word
        before = number
    return text[:1].upper() + text[1:]


def _gap(text: str, word: str, before: int | None, number: int, source: str, places: Sequence[Word]) -> str:
    if before is None:
        return ""
    if before >= 0 and number == before + 1:
        return " " if "\n" in (between := source[places[before].end : places[number].start]) else between
    if word in _GENITIVE or (len(word) == 1 and word in _CLOSING - {"s"}) or text[-1] in _OPENING:
        return ""
    return " "
