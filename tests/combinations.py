"""Products of several lists: all combinations, of which only a pairwise covering set is always run.

The others are marked `combination` and run where RAMIFY_COMBINATIONS is `all`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest

ALL = os.environ.get("RAMIFY_COMBINATIONS") == "all"


def value_pairs(values: Mapping[str, Any]) -> set[tuple[tuple[str, Any], ...]]:
    """Return the subsets of a combination with at most two values."""
    return {met for size in range(3) for met in combinations(sorted(values.items(), key=lambda one: one[0]), size)}


def choose_pairwise(combinations_of_values: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return few combinations that cover all pairs of values, chosen greedily."""
    uncovered = set[tuple[tuple[str, Any], ...]]().union(*map(value_pairs, combinations_of_values))
    chosen = []
    while uncovered:
        chosen.append(max(combinations_of_values, key=lambda values: len(value_pairs(values) & uncovered)))
        uncovered -= value_pairs(chosen[-1])
    return chosen


def parametrize_pairwise(**lists: Iterable[Any]) -> pytest.MarkDecorator:
    """Parametrize with the product of some lists; combinations that `choose_pairwise` leaves out are marked."""
    every = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    few = choose_pairwise(every)
    marked = [pytest.param(*values.values(), marks=() if values in few else pytest.mark.combination) for values in every]
    return pytest.mark.parametrize(tuple(lists), marked)
