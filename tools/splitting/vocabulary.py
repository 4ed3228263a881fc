"""What the writer may write beside the source's own words: how a question is split, marks, and a few hundred common words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, get_args

from ramify.tools.arithmetic.combinations import How
from ramify.tools.splitting.word_tokens import HOLE, Word

REWRITE: Final = "rewrite"
KINDS: Final[tuple[str, ...]] = (*get_args(How), REWRITE)
"""What the first thing written says: how the question is split, or that it is written anew."""
BEGIN, BETWEEN, END = "<begin>", "<between>", "<end>"


@dataclass(frozen=True)
class Vocabulary:
    """Kinds and marks, then words; a number beyond them is a word of the source."""

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


def vocabulary(words: Iterable[str]) -> Vocabulary:
    """Make a vocabulary of common words."""
    return Vocabulary(tuple(words))
