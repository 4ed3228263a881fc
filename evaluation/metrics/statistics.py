"""How sure a figure is, and whether two strategies differ; the same seed gives the same numbers."""

from collections.abc import Sequence

import numpy as np

from ramify.tools.errors import UsageError

_CELLS = 2_000_000
"""Numbers drawn at once: bounds the memory."""


def bootstrap_interval(values: Sequence[float], seed: int = 0, resamples: int = 2000, level: float = 0.95) -> tuple[float, float]:
    """Give the percentile bootstrap interval of a mean (Efron 1979): resample the questions, take the middle of the means."""
    _some(values)
    sample = np.asarray(values, dtype=np.float64)
    draw = np.random.default_rng(seed)
    means = [sample[draw.integers(0, len(sample), (rows, len(sample)))].mean(axis=1) for rows in _portions(resamples, len(sample))]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_test(a: Sequence[float], b: Sequence[float], seed: int = 0, resamples: int = 10_000) -> float:
    """Give the two-sided p of a difference between two strategies on the same questions (sign-flip permutation test, Fisher 1935).

    Were they equal, each question's difference could as well have the other sign. The observed one counts among the flips: p is never 0.
    """
    if len(a) != len(b):
        raise UsageError(f"{len(a)} scores cannot be paired with {len(b)}", "give both strategies' scores of the same questions")
    _some(a)
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    # Differences of one size are flipped together: how many stay positive is all that counts, and scores have few sizes.
    sizes, counts = np.unique(np.round(np.abs(difference[difference != 0]), 12), return_counts=True)
    observed = abs(difference.sum())
    draw = np.random.default_rng(seed)
    extreme = 0
    for rows in _portions(resamples, len(sizes)):
        sums = (2 * draw.binomial(counts, 0.5, (rows, len(sizes))) - counts) @ sizes
        extreme += int(np.count_nonzero(np.abs(sums) >= observed - 1e-9))
    return (1 + extreme) / (1 + resamples)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for the number of comparisons, keeping their order as given (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return [float(value) for value in adjusted]


def _portions(rows: int, width: int) -> list[int]:
    """Split rows into portions that fit in memory."""
    most = max(1, _CELLS // max(width, 1))
    return [min(most, rows - start) for start in range(0, rows, most)]


def _some(values: Sequence[float]) -> None:
    if not len(values):
        raise UsageError("there are no scores", "give at least one question's score")
