"""From a question and a passage to what the network reads: word pieces of both, and where each piece stands in the passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

from ramify.tools.embeddings.sentence_encoder import checked_minilm

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

LONGEST = 512
"""Positions of the encoder; a longer passage is cut."""


class Quote(TypedDict):
    """A passage as a prompt hands it over."""

    title: str
    source: str
    text: str


@dataclass(frozen=True)
class Pair:
    """A question and a passage as word pieces: the passage's begin at `first`; where each of those stands in the passage."""

    ids: list[int]
    first: int
    offsets: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ids)


def in_context(title: str | None, text: str) -> str:
    """Write a passage as the reader reads it: with its title, which may be the answer."""
    return f"{title}: {text}" if title else text


def pairs(questions: Sequence[str], contexts: Sequence[str]) -> list[Pair]:
    """Cut questions and their contexts into word pieces."""
    together = [(question, context) for question, context in zip(questions, contexts, strict=True)]
    return [_pair(encoding) for encoding in _tokenizer().encode_batch(together)]


def _pair(encoding: "Encoding") -> Pair:
    first = encoding.type_ids.index(1)
    return Pair(encoding.ids, first, encoding.offsets[first:-1])


@lru_cache(maxsize=1)
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(checked_minilm() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST, strategy="longest_first")  # a question of rare letters can be longer than a passage
    return tokenizer
