"""Counting tokens: a window is guarded by the model's own count or a careful estimate, a passage is measured as the index measures it."""

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from langchain_core.language_models import BaseChatModel

from ramify.tools.models.server_questions import tokenizer_of

Count = Callable[[str], int]

WORDS = re.compile(r"\S+")
LETTERS = re.compile(r"[^\S\r\n]?[^\W\d_]+")
PIECES = re.compile(r"\d{1,3}|\s*[\r\n]+|\s+|[^\w\s]+|_+")
BYTES_PER_TOKEN = 3
"""Of ordinary English a LLaMA 3 token covers more than four bytes, of Korean about four and a half."""
LONGEST_WORD = 64
"""The encoder's tokenizer takes a word that is much longer, and one in letters that it does not know, for a single token."""
ORDINARY = 0.1
"""Share of such words in a text that the encoder can still count."""


def counter(chat: BaseChatModel, otherwise: Count | None = None) -> Count:
    """Choose how to count a model's tokens, `otherwise` where nobody tells. The count may ask the model's server: call it outside the loop.

    Nothing is fetched from a hub, and LangChain's own count (another model's tokenizer, downloaded) is never used.
    """
    if chat.custom_get_token_ids is not None:
        own = chat.custom_get_token_ids
        return lru_cache(maxsize=4096)(lambda text: len(own(text)))
    tokenizer = tokenizer_of(chat)
    if tokenizer is None:
        return otherwise or estimate

    @lru_cache(maxsize=4096)
    def count(text: str) -> int:
        told = tokenizer.count(text)
        # A server that stopped answering is reported by the call that follows; until then the estimate errs on the safe side.
        return estimate(text) if told is None else told

    return count


@lru_cache(maxsize=4096)
def estimate(text: str) -> int:
    """Count no less than a LLaMA-3-like tokenizer would on ordinary text: words by their bytes, digits and signs by pieces.

    About two thirds too much on English prose: good to guard a window, too much to cut a passage by.
    """
    words = sum(max(1.0, len(word.encode()) / BYTES_PER_TOKEN) for word in LETTERS.findall(text))
    between = (piece for part in LETTERS.split(text) for piece in PIECES.findall(part))
    return math.ceil(words) + sum(math.ceil(len(piece.encode()) / BYTES_PER_TOKEN) for piece in between)


@lru_cache(maxsize=4096)
def by_encoder(text: str) -> int | None:
    """Count ordinary text by the embedded encoder's tokenizer, and the white space it passes over; None for text in another script.

    Single words that it does not know are estimated.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.sentence_encoder import MINILM

    unknown = " ".join(word for word in WORDS.findall(text) if not _known(word))
    estimated = estimate(unknown)
    if estimated > ORDINARY * estimate(text):
        return None
    space = sum(math.ceil(len(piece) / BYTES_PER_TOKEN) for part in LETTERS.split(text) for piece in re.findall(r"\s+", part))
    known = WORDS.sub(lambda word: word[0] if _known(word[0]) else " ", text)
    return load_encoder(MINILM).count_tokens(known) + estimated + space


def _known(word: str) -> bool:
    return word.isascii() and len(word) <= LONGEST_WORD


@lru_cache(maxsize=4096)
def passage_length(text: str) -> int:
    """Count the tokens of a passage with the embedded encoder's tokenizer, as an index does: no passage that fitted there is cut later.

    Whichever model reads it: other vocabularies count some passages longer, and would cut the end of what the index holds.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.sentence_encoder import MINILM

    return load_encoder(MINILM).count_tokens(text)


def cut(text: str, tokens: int, count: Count) -> str:
    """Trim a text to at most so many tokens, at the end of a word where a word fits."""
    if count(text) <= tokens:
        return text
    ends = [match.end() for match in WORDS.finditer(text)]
    fitting = _prefix(text, ends, tokens, count)
    return fitting or _prefix(text, range(1, (ends or [0])[0] + 1), tokens, count)


def _prefix(text: str, ends: "list[int] | range", tokens: int, count: Count) -> str:
    """Find the longest prefix that fits; a tokenizer may count a longer text lower, hence the steps back."""
    last = bisect_right(ends, tokens, key=lambda end: count(text[:end]))
    while last and count(text[: ends[last - 1]]) > tokens:
        last -= 1
    return text[: ends[last - 1]] if last else ""
