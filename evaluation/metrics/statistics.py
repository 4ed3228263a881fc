"""Confidence intervals, paired tests and calibration; the same seed gives the same numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ramify.tools.errors import UsageError

_CELLS = 2_000_000
"""Numbers drawn at once: bounds the memory."""


def bootstrap_interval(values: Sequence[float], seed: int = 0, resamples: int = 2000, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean (Efron 1979): resample the questions, take the middle of the means."""
    _some(values)
    sample = np.asarray(values, dtype=np.float64)
    draw = np.random.default_rng(seed)
    means = [sample[draw.integers(0, len(sample), (rows, len(sample)))].mean(axis=1) for rows in _portions(resamples, len(sample))]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_test(a: Sequence[float], b: Sequence[float], seed: int = 0, resamples: int = 10_000) -> float:
    """Return the two-sided p of a difference between two strategies on the same questions (sign-flip permutation test, Fisher 1935).

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
    """Return the p values corrected for the number of comparisons, in the given order (Holm 1979)."""
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


class Bin(NamedTuple):
    """The answers whose confidence lies above `low` and up to `high` (0 lies in the first): how sure, how often right, how many."""

    low: float
    high: float
    confidence: float
    right: float
    size: int


class RiskCoverage(NamedTuple):
    """The share of wrong answers when only the surest are given, for each share that can be; `area` below that curve is better small."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float


def reliability(confidences: Sequence[float], right: Sequence[float], bins: int = 10) -> list[Bin]:
    """Return the non-empty bins of equal width (reliability diagram, DeGroot & Fienberg 1983)."""
    sure, hit = _checked(confidences, right)
    edges = np.linspace(0, 1, bins + 1)
    places = np.searchsorted(edges[1:-1], sure, side="left")
    found = [(number, places == number) for number in np.unique(places)]
    return [
        Bin(float(edges[number]), float(edges[number + 1]), float(sure[inside].mean()), float(hit[inside].mean()), int(inside.sum()))
        for number, inside in found
    ]


def expected_calibration_error(confidences: Sequence[float], right: Sequence[float], bins: int = 10) -> float:
    """Return the distance of confidence from being right, bin by bin, weighted by size (ECE, Naeini et al. 2015; Guo et al. 2017)."""
    found = reliability(confidences, right, bins)
    return sum(one.size * abs(one.confidence - one.right) for one in found) / len(confidences)


def risk_coverage(confidences: Sequence[float], right: Sequence[float]) -> RiskCoverage:
    """Return the risk at every coverage (El-Yaniv & Wiener 2010) and the area below (Geifman & El-Yaniv 2017).

    Answers of equal confidence are given together: their order says nothing.
    """
    sure, hit = _checked(confidences, right)
    order = np.argsort(-sure, kind="stable")
    last = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True))
    given = last + 1
    risk = np.cumsum(1 - hit[order])[last] / given
    coverage = given / len(sure)
    area = float(np.sum(risk * np.diff(coverage, prepend=0)))
    return RiskCoverage(tuple(map(float, coverage)), tuple(map(float, risk)), area)


def _checked(confidences: Sequence[float], right: Sequence[float]) -> tuple["np.ndarray[tuple[int], np.dtype[np.float64]]", ...]:
    if len(confidences) != len(right) or not len(confidences):
        raise UsageError(f"{len(confidences)} confidences for {len(right)} answers", "give one for each answer, and at least one answer")
    if outside := [value for value in confidences if not 0 <= value <= 1]:
        raise UsageError(f"a confidence of {outside[0]!r}", "give confidences from 0 to 1")
    return np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)
