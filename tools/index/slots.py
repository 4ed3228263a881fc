"""Where each passage lies among the vectors and words of a large index.

A passage keeps its slot while its text and label stay as they are. New ones come after all others, and what is gone leaves its slot empty
until so many are that all are numbered anew: so a few changes are added to the graph and the postings that are there.
"""

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
"""Passages that are searched, in order of id, counted from 0."""
Keys = NDArray[np.int64]
"""What passages are known by: two are alike where label and text are."""
GONE = -1
_MOST_GONE = 0.2
"""Part of the slots that may be empty: a search passes them, too."""
_FACTOR = np.int64(0x1E3779B97F4A7C15)


def distinct(keys: Keys) -> Keys:
    """Return keys of which no two are alike: a text that stands there again gets another, the same in any order."""
    order = np.argsort(keys, kind="stable")
    _, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    again = np.arange(len(keys)) - np.repeat(first, counts)
    told = keys.copy()
    told[order] += again * _FACTOR
    return told


class Slots:
    """The passage in each slot: its key, and its position or `GONE`."""

    def __init__(self, keys: Keys, positions: Positions) -> None:
        self.keys = keys
        self.positions = positions

    @classmethod
    def numbered(cls, keys: Keys) -> "Slots":
        """Return slots in order of id."""
        return cls(keys, np.arange(len(keys)))

    @classmethod
    def read(cls, path: Path) -> "Slots":
        """Read a file; ValueError where it is none."""
        held = np.load(path, allow_pickle=False)
        if held.dtype != np.int64 or held.ndim != 2 or len(held) != 2:
            raise ValueError(f"{path.name} holds {held.dtype} of shape {held.shape}")
        return cls(*held)

    def write(self, path: Path) -> None:
        """Write a file."""
        with path.open("wb") as file:
            np.save(file, np.stack([self.keys, self.positions]))

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Whether there is a passage in each slot."""
        return np.not_equal(self.positions, GONE)

    @cached_property
    def of(self) -> Positions:
        """The slot of each position."""
        found = np.flatnonzero(self.filled)
        return found[np.argsort(self.positions[found])]

    def updated(self, keys: Keys) -> "Slots":
        """Return the slots of other passages, their keys given in order of id: those that are there stay where they are."""
        held, here = self._shared(keys)
        new = np.setdiff1d(np.arange(len(keys)), here)
        positions = np.full(len(self), GONE)
        positions[held] = here
        return Slots(np.concatenate([self.keys, keys[new]]), np.concatenate([positions, new]))

    def moved_to(self, others: "Slots") -> Positions:
        """Return for each slot that of the same passage among others, `GONE` where either has none."""
        moved = np.full(len(self), GONE)
        held, there = self._shared(others.keys)
        both = self.filled[held] & others.filled[there]
        moved[held[both]] = there[both]
        return moved

    def _shared(self, keys: Keys) -> tuple[Positions, Positions]:
        """Return where the keys are that both have, in either."""
        _, held, there = np.intersect1d(self.keys, keys, assume_unique=True, return_indices=True)
        return held, there

    def crowded(self) -> bool:
        """Return whether so many slots are empty that the passages are to be numbered anew."""
        return bool(len(self) - np.count_nonzero(self.filled) > _MOST_GONE * len(self))
