"""Whether two answers name the same: by their words, and where those tell nothing, by the packaged encoder."""

from statistics import fmean

from ramify.tools.arithmetic.dates_and_numbers import in_order, larger, quantity, when
from ramify.tools.embeddings.similarity import similarity
from ramify.tools.folded_text import fold

_SAME, _APART = 0.815, 0.795
"""What tells a land with its people (American, United States) from neighbours (French, German): right for 122 of 127 pairs."""
_PHRASES = ("The country is {}.", "a person from {}")
"""In these a land and its people come closest, and other lands fall away most."""


def same(one: str, other: str) -> bool | None:
    """Tell whether two answers name the same thing; None where that cannot be told."""
    if not fold(one) or not fold(other):
        return None
    if fold(one) == fold(other):
        return True
    if (reckoned := _reckoned(one, other)) is not None:
        return reckoned
    if (worded := _worded(one, other)) is not None:
        return worded
    return _alike(one, other)


def _reckoned(one: str, other: str) -> bool | None:
    """Compare dates and bare numbers by what they say; None for anything else."""
    dates, numbers = (when(one), when(other)), (quantity(one), quantity(other))
    if dates[0] and dates[1]:
        order = in_order(dates[0], dates[1])
        return not order  # as far as both are told, they are the same
    if numbers[0] and numbers[1] and one.strip()[0].isdigit() and other.strip()[0].isdigit():
        difference = larger(numbers[0], numbers[1])
        return None if difference is None else abs(difference) < 1e-9
    return None


def _worded(one: str, other: str) -> bool | None:
    """Compare words: the same where one name holds all of the other; different where each of two long ones has a word of its own."""
    first, second = (set(fold(name).split()) for name in (one, other))
    if first <= second or second <= first:
        return True
    if first & second and len(first) > 1 and len(second) > 1:
        return False
    return None


def _alike(one: str, other: str) -> bool | None:
    """Compare meanings; of a place with what it lies in, each part."""
    parts = [[part.strip() for part in name.split(",") if part.strip()] for name in (one, other)]
    if len(parts[0]) > 1 and len(parts[1]) > 1:
        parts = [[one], [other]]
    nearest = max(
        fmean(similarity(phrase.format(first), phrase.format(second)) for phrase in _PHRASES) for first in parts[0] for second in parts[1]
    )
    if nearest >= _SAME:
        return True
    return False if nearest < _APART else None
