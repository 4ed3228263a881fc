"""What a line says of itself as a number, and what is measured on a group of lines: a title, what it means, and how it is estimated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ramify.evaluation.metrics.statistics import bootstrap_interval
from ramify.evaluation.results.run import Line

Value = Callable[[Line], float | None]
"""A number that a line says of itself; none where it says nothing."""


def score(name: str) -> Value:
    """Read a score of the answer; a failed line scores nothing, and where no gold answer is known, no line does."""
    return lambda line: 0.0 if line.failed and line.scored else _number(line.row.get(name))


def found(name: str) -> Value:
    """Read a score of what was retrieved; a failed line with gold documents scores nothing, one without gold is not counted."""

    def value(line: Line) -> float | None:
        if line.failed:
            return 0.0 if line.row.get("gold_documents") else None
        if line.searched and name == "supporting_f1":
            return None  # nothing was asked, so nothing was cited
        return _number((line.row.get("retrieval") or {}).get(name))

    return value


def all_found(line: Line) -> float | None:
    """Tell whether all gold was found and, of a strategy, shown to the model; none where it is not known what there is to find."""
    if line.failed:
        return 0.0 if line.row.get("gold_documents") else None
    return float(bool(line.row.get("gold_retrieved"))) if line.ranked else None


def spent(name: str) -> Value:
    """Read what a question cost; a failed line has no cost."""

    def value(line: Line) -> float | None:
        usage = line.row.get("usage")
        return float(usage.get(name) or 0) if usage else None

    return value


def confident(lines: Sequence[Line]) -> tuple[list[float], list[bool]]:
    """List confidences and whether the answers are right, of the lines that have an answer."""
    sure = [line for line in lines if not line.failed and line.scored and _number(line.row.get("confidence")) is not None]
    return [float(line.row["confidence"]) for line in sure], [line.right for line in sure]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, where it has one, and on how many lines it rests."""

    value: float
    count: int
    low: float | None = None
    high: float | None = None


Estimator = Callable[[Sequence[Line]], Estimate | None]


def percent(value: float) -> str:
    """Write a share from 0 to 1 as a percentage."""
    return f"{100 * value:.1f}"


def plain(value: float) -> str:
    """Write a count or a duration, finer where it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


@dataclass(frozen=True)
class Measure:
    """A column of a table."""

    title: str
    meaning: str
    of: Estimator
    shown: Callable[[float], str] = percent
    better: int = 1
    """1 where more is better, -1 where less is, 0 where neither."""


def mean_of(value: Value) -> Estimator:
    """Estimate by the mean of those lines that have a value, with its bootstrap interval."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        values = [told for line in lines if (told := value(line)) is not None]
        return mean(values) if values else None

    return estimate


def mean(values: Sequence[float]) -> Estimate:
    """Give the mean of some values, with its bootstrap interval."""
    low, high = _interval_of(tuple(values))
    return Estimate(float(np.mean(values)), len(values), low, high)


@lru_cache(maxsize=4096)
def _interval_of(values: tuple[float, ...]) -> tuple[float, float]:
    """Once for a figure that stands in several places."""
    return bootstrap_interval(values)


def quantile_of(value: Value, share: float) -> Estimator:
    """Estimate by a quantile."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        values = [told for line in lines if (told := value(line)) is not None]
        return Estimate(float(np.quantile(values, share)), len(values)) if values else None

    return estimate


def by_metric(metric: Callable[[Sequence[Line]], float | None], each: Value) -> Estimator:
    """Estimate by a metric of all lines; its interval is that of the mean of what each of them adds."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        told, value = mean_of(each)(lines), metric(lines)
        return replace(told, value=value) if told and value is not None else None

    return estimate
