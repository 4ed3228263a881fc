"""Answers that take no reading at all: what every score has to be compared with.

They know the golds of the very set they answer, so they are the best that can be done without looking at a question, or at its type alone.
"""

from collections import Counter
from collections.abc import Sequence

from ramify.evaluation.metrics.answers import normal


def majority(golds: Sequence[str]) -> list[str]:
    """Answer every question with the most frequent gold of all."""
    return majority_by_type(golds, [""] * len(golds))


def majority_by_type(golds: Sequence[str], types: Sequence[str]) -> list[str]:
    """Answer every question with the most frequent gold of its type."""
    of_type: dict[str, list[str]] = {}
    for gold, kind in zip(golds, types, strict=True):
        of_type.setdefault(kind, []).append(gold)
    best = {kind: most_frequent(found) for kind, found in of_type.items()}
    return [best[kind] for kind in types]


def most_frequent(golds: Sequence[str]) -> str:
    """Give the most frequent answer in its most frequent spelling; of equally frequent ones the first in the alphabet."""
    meaning = _first_of(Counter(map(normal, golds)))
    return _first_of(Counter(gold for gold in golds if normal(gold) == meaning))


def _first_of(counts: "Counter[str]") -> str:
    return min(counts, key=lambda one: (-counts[one], one))
