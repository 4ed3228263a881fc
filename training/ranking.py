"""How well relevance tells passages that bear on a question from those that do not."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from training.example import Example


class Told(NamedTuple):
    """How relevant a passage is said to be, and whether it bears on the question."""

    relevance: float
    bears: bool


def by_source(read: Iterable[tuple[Example, float]]) -> dict[str, list[Told]]:
    """Bring together, for each source, the passages that bear on a question and those that look as if."""
    found: dict[str, list[Told]] = defaultdict(list)
    for example, relevance in read:
        if example.bears is not None:
            found[example.source.removesuffix("_other")].append(Told(relevance, example.bears))
    return found


def right(some: Sequence[Told]) -> float:
    """Give the share that is right where relevance from a half on is taken for a yes."""
    return sum((told.relevance >= 0.5) == told.bears for told in some) / len(some)


def auc(some: Sequence[Told]) -> float | None:
    """Give the share of pairs of a passage that bears and one that does not in which the first is said to be more relevant (ROC AUC)."""
    bearing, others = (np.sort([told.relevance for told in some if told.bears == bears]) for bears in (True, False))
    if not len(bearing) or not len(others):
        return None
    below = (np.searchsorted(others, bearing, side) for side in ("left", "right"))  # equal ones count half
    return float(sum(found.mean() for found in below)) / (2 * len(others))
