"""What the vectors of a group are like: its centre, and how similar its own leaves are to it."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix, unit_rows

_NEAREST = 0.9
"""Share of a group that its centre is the mean of: noise of 5 to 15 % must not drag it."""
_LEAST_DEVIATION = 0.02
_TINY = 1e-6
_FEW = 20
"""Leaves of a group below which its spread is that of all groups."""


class Profiles(NamedTuple):
    """Of each group: its centre, shape (groups, dimension); mean and deviation of its leaves' cosines to it; and the least usual one."""

    centres: Matrix
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    lows: NDArray[np.float64]

    def z(self, vectors: Matrix) -> NDArray[np.float64]:
        """Give how far each vector's cosine to each centre is above the group's mean, in its deviations; shape (vectors, groups)."""
        return np.asarray((vectors @ self.centres.T - self.means) / self.deviations, dtype=np.float64)

    def novelty(self, vectors: Matrix) -> NDArray[np.float64]:
        """Give how far each vector is above the least usual cosine of the group that suits it best; below 0 it belongs to none."""
        return np.asarray(((vectors @ self.centres.T - self.lows) / self.deviations).max(axis=1), dtype=np.float64)


def profiles(vectors: Matrix, members: Sequence[Sequence[int]], share: float = 0.05) -> Profiles:
    """Describe groups; `share` of a group's own cosines are below its least usual one.

    A leaf is compared with the mean of the others: in a group of five, its own vector is a good part of the centre.
    """
    centres = np.array([_centre(vectors[list(own)]) for own in members], dtype=np.float32)
    own = [_to_others(vectors[list(one)]) for one in members]
    known = [cosines for cosines in own if len(cosines)]
    pooled = np.concatenate(known) if known else np.array([0.5])
    spread = float(np.sqrt(np.mean(np.concatenate([(cosines - cosines.mean()) ** 2 for cosines in known])))) if known else 0.1
    means = np.array([cosines.mean() if len(cosines) else pooled.mean() for cosines in own])
    deviations = np.array([cosines.std() if len(cosines) >= _FEW else spread for cosines in own])
    deviations = np.maximum(deviations, _LEAST_DEVIATION)
    below = -NormalDist().inv_cdf(min(max(share, _TINY), 1 - _TINY))  # deviations below the mean of a normal distribution
    lows = np.array(
        [
            np.quantile(cosines, share) if len(cosines) >= _FEW else mean - below * deviation
            for cosines, mean, deviation in zip(own, means, deviations, strict=True)
        ]
    )
    return Profiles(centres, means, deviations, lows)


def _centre(own: Matrix) -> Matrix:
    """Give the normalised mean of the vectors nearest to the mean."""
    mean = unit_rows(own.mean(axis=0, keepdims=True), own.shape[1])[0]
    nearest = np.argsort(-(own @ mean), kind="stable")[: max(1, int(np.ceil(_NEAREST * len(own))))]
    centre: Matrix = unit_rows(own[np.sort(nearest)].mean(axis=0, keepdims=True), own.shape[1])[0]
    return centre


def _to_others(own: Matrix) -> NDArray[np.float64]:
    """Give the cosine of each vector to the mean of the others; nothing where there are none."""
    if len(own) < 2:
        return np.empty(0)
    others = own.sum(axis=0, dtype=np.float64) - own
    return np.asarray((own * others).sum(axis=1) / np.maximum(np.linalg.norm(others, axis=1), 1e-9), dtype=np.float64)
