"""What a line says of itself as a number, and what is measured on a group of lines: a title, what it means, and how it is estimated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ramify.evaluation.metrics.calibration import expected_calibration_error
from ramify.evaluation.metrics.forgetting import efr
from ramify.evaluation.metrics.statistics import bootstrap_interval
from ramify.evaluation.results.run import Line

Value = Callable[[Line], float | None]
"""A number that a line says of itself; none where it says nothing."""


def values_of(lines: Sequence[Line], value: Value) -> list[float]:
    """List the values of those lines that have one."""
    return [told for line in lines if (told := value(line)) is not None]


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
    return float(bool(line.row.get("gold_retrieved"))) if line.row.get("retrieval") else None


def spent(*names: str) -> Value:
    """Read what a question cost, as a sum of parts; a failed line has no cost."""

    def value(line: Line) -> float | None:
        usage = line.row.get("usage")
        return sum(float(usage.get(name) or 0) for name in names) if usage else None

    return value


def forgotten(line: Line) -> float | None:
    """Tell whether all gold was retrieved and the answer is wrong all the same; none where not all gold was retrieved."""
    return float(not line.right) if line.row.get("gold_retrieved") and line.scored else None


def abstained_rightly(line: Line) -> float | None:
    """Tell of an abstention whether the question has no answer."""
    return float(bool(line.row.get("unanswerable"))) if line.row.get("abstained") and not line.failed else None


def unanswerable_seen(line: Line) -> float | None:
    """Tell of a question without an answer whether the strategy abstained."""
    return float(bool(line.row.get("abstained"))) if line.row.get("unanswerable") else None


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


@dataclass(frozen=True)
class Measure:
    """A column of a table."""

    title: str
    meaning: str
    of: Callable[[Sequence[Line]], Estimate | None]
    shown: Callable[[float], str]
    better: int = 1
    """1 where more is better, -1 where less is, 0 where neither."""


def percent(value: float) -> str:
    """Write a share from 0 to 1 as a percentage."""
    return f"{100 * value:.1f}"


def plain(value: float) -> str:
    """Write a count or a duration, finer where it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def mean_of(value: Value) -> Callable[[Sequence[Line]], Estimate | None]:
    """Estimate by the mean, with its bootstrap interval."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        values = values_of(lines, value)
        if not values:
            return None
        low, high = interval_of(tuple(values))
        return Estimate(float(np.mean(values)), len(values), low, high)

    return estimate


@lru_cache(maxsize=4096)
def interval_of(values: tuple[float, ...]) -> tuple[float, float]:
    """Give the bootstrap interval of a mean, once for a figure that stands in several places."""
    return bootstrap_interval(values)


def quantile_of(value: Value, share: float) -> Callable[[Sequence[Line]], Estimate | None]:
    """Estimate by a quantile."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        values = values_of(lines, value)
        return Estimate(float(np.quantile(values, share)), len(values)) if values else None

    return estimate


def forgetting(lines: Sequence[Line]) -> Estimate | None:
    """Estimate how often evidence was found and then not used."""
    told = mean_of(forgotten)(lines)
    rate = efr((bool(line.row.get("gold_retrieved")), line.row.get("em") or 0.0) for line in lines)
    return replace(told, value=rate) if told and rate is not None else None


def abstention(
    metric: Callable[[Sequence[bool], Sequence[bool]], float | None], value: Value
) -> Callable[[Sequence[Line]], Estimate | None]:
    """Estimate a measure of abstaining, of data in which there is something to abstain from."""

    def estimate(lines: Sequence[Line]) -> Estimate | None:
        given = [line for line in lines if not line.failed]
        unanswerable = [bool(line.row.get("unanswerable")) for line in given]
        share, told = metric([bool(line.row.get("abstained")) for line in given], unanswerable), mean_of(value)(given)
        return replace(told, value=share) if told and share is not None and any(unanswerable) else None

    return estimate


def calibration_error(lines: Sequence[Line]) -> Estimate | None:
    """Estimate how far confidence is from being right."""
    confidences, right = confident(lines)
    return Estimate(float(expected_calibration_error(confidences, right)), len(right)) if right else None
