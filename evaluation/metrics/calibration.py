"""Compare confidence with being right."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ramify.tools.errors import UsageError


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
    """Sort answers into bins of equal width, leaving out empty ones (reliability diagram, DeGroot & Fienberg 1983)."""
    sure, hit = _checked(confidences, right)
    edges = np.linspace(0, 1, bins + 1)
    places = np.searchsorted(edges[1:-1], sure, side="left")
    found = [(number, places == number) for number in np.unique(places)]
    return [
        Bin(float(edges[number]), float(edges[number + 1]), float(sure[inside].mean()), float(hit[inside].mean()), int(inside.sum()))
        for number, inside in found
    ]


def expected_calibration_error(confidences: Sequence[float], right: Sequence[float], bins: int = 10) -> float:
    """Give the distance of confidence from being right, bin by bin, weighted by size (ECE, Naeini et al. 2015; Guo et al. 2017)."""
    found = reliability(confidences, right, bins)
    return sum(one.size * abs(one.confidence - one.right) for one in found) / len(confidences)


def risk_coverage(confidences: Sequence[float], right: Sequence[float]) -> RiskCoverage:
    """Give the risk at every coverage (El-Yaniv & Wiener 2010) and the area below (Geifman & El-Yaniv 2017).

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
