"""A text as the set of its word sequences, hashed, and a sample of them that any two texts can be compared by.

The sample is a FracMinHash: the hashes below a fixed limit. Unlike MinHash signatures, which estimate how alike two texts are as wholes, it
tells how much of one text stands in another of any length, and so finds what is cut at other places.
"""

import hashlib
import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
"""Hashes of word sequences, each once, in order."""

_WORD = re.compile(r"[^\W_]+")
_ITEM = re.compile(r"^[ \t]*[<(\[]?\d{1,2}[>.)\]](?=\s)|<\d{1,2}>[ \t]*$", re.MULTILINE)
"""A number that a web page does not have in its text: "3. ", "(3) ", and a reference to such an item at the end of a line, "<3>"."""
_MACRO = re.compile(r"\b\w+:(:?)([^\s:\[\]]*)\[([^\]\n]*)\]")
"""A macro of AsciiDoc, in which manuals are written as text: a page shows where it leads, and nothing of one with two colons."""
_LENGTH = 5
_SAMPLED = 4
"""One in so many is in the sample."""
_LIMIT = np.uint64(2**64 // _SAMPLED)
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def words_of(text: str) -> list[str]:
    """Return the words that texts are compared by: letters and digits, without case, the numbers of list items and macros."""
    plain = _MACRO.sub(lambda macro: " " if macro[1] else f"{macro[2]} {macro[3]}", text.casefold())
    return _WORD.findall(_ITEM.sub(" ", plain))


def shingles(words: list[str]) -> Hashes:
    """Return the hashes of all sequences of five words; of a shorter text, of the whole."""
    hashes = np.fromiter((_word_hash(word) for word in words), dtype=np.uint64, count=len(words))
    length = min(_LENGTH, len(words))
    if not length:
        return hashes
    combined = np.zeros(len(words) - length + 1, dtype=np.uint64)
    for place in range(length):
        combined = combined * _FACTOR + hashes[place : len(words) - length + 1 + place]
    combined ^= combined >> np.uint64(31)
    combined *= _MIX
    combined ^= combined >> np.uint64(27)
    return np.unique(combined)


def sampled(hashes: Hashes) -> Hashes:
    """Return the sample of some hashes."""
    return hashes[: np.searchsorted(hashes, _LIMIT)]


@lru_cache(maxsize=1 << 18)
def _word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")
