"""The writer's words: as they stand in a text, as numbers of what it may write, and joined to a text again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, get_args

from ramify.tools.arithmetic.combine import How

HOLE: Final = "{1}"
"""Where the answer of the first question belongs in the second."""
_WORD = re.compile(r"\{1\}|['’]s\b|\d+(?:[.,]\d+)+|[^\W_]+(?:[-.'’_/][^\W_]+)*|[^\w\s]|_", re.UNICODE)
_CLOSING = frozenset("?,.;:!)]}%'’s")
_OPENING = frozenset("([{$#@")
_GENITIVE = ("'s", "’s")
REWRITE: Final = "rewrite"
KINDS: Final[tuple[str, ...]] = (*get_args(How), REWRITE)
"""What the first thing written says: how the question is split, or that it is written anew."""
BEGIN, BETWEEN, END = "<begin>", "<between>", "<end>"


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


@dataclass(frozen=True)
class Vocabulary:
    """Kinds and marks, then common words; a number beyond them is a word of the source."""

    words: tuple[str, ...]

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """List what the numbers stand for."""
        return (*(f"<{kind}>" for kind in KINDS), BEGIN, BETWEEN, END, HOLE, *self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Give the number of each token."""
        return {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def kind(self, name: str) -> int:
        """Give the number of a kind."""
        return self.numbers[f"<{name}>"]

    def sayings(self, word: str, source: Sequence[Word]) -> list[int]:
        """Give every number that writes a word: the source's words of this form, and the vocabulary's."""
        key = word.casefold()
        copies = [len(self) + number for number, place in enumerate(source) if place.key == key]
        return [*copies, self.numbers[key]] if key in self.numbers else copies
