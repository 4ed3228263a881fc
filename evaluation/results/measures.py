"""The measures of a group of lines, which are the columns of the tables: title, meaning, and how each is estimated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ramify.evaluation.metrics.statistics import bootstrap_interval, expected_calibration_error
from ramify.evaluation.results import ResultLine

LineValue = Callable[[ResultLine], float | None]
"""A number of a line; None if it has none."""


def answer_score(name: str) -> LineValue:
    """Return a function that reads an answer score; a failed line scores 0, a line without a gold answer None."""
    return lambda line: 0.0 if line.failed and line.scored else _number(line.row.get(name))


def retrieval_score(name: str) -> LineValue:
    """Return a function that reads a retrieval score; a failed line scores 0 if it has gold documents, else None."""

    def value(line: ResultLine) -> float | None:
        if line.failed:
            return 0.0 if line.row.get("gold_documents") else None
        if line.searched and name == "supporting_f1":
            return None  # nothing was asked, so nothing was cited
        return _number((line.row.get("retrieval") or {}).get(name))

    return value


def all_found(line: ResultLine) -> float | None:
    """Return whether all gold was found and, for a strategy, shown to the model; None if the gold is unknown."""
    if line.failed:
        return 0.0 if line.row.get("gold_documents") else None
    return float(bool(line.row.get("gold_retrieved"))) if line.ranked else None


def spent(name: str) -> LineValue:
    """Return a function that reads a cost; None for a line without usage."""

    def value(line: ResultLine) -> float | None:
        usage = line.row.get("usage")
        return float(usage.get(name) or 0) if usage else None

    return value


def confident(lines: Sequence[ResultLine]) -> tuple[list[float], list[bool]]:
    """Return the confidences and the correctness of the lines that have an answer."""
    sure = [line for line in lines if not line.failed and line.scored and _number(line.row.get("confidence")) is not None]
    return [float(line.row["confidence"]) for line in sure], [line.right for line in sure]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, if it has one, and the number of lines."""

    value: float
    count: int
    low: float | None = None
    high: float | None = None


Estimator = Callable[[Sequence[ResultLine]], Estimate | None]


def percent(value: float) -> str:
    """Format a share from 0 to 1 as a percentage."""
    return f"{100 * value:.1f}"


def plain(value: float) -> str:
    """Format a count or a duration, with more digits if it is small."""
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


def mean_of(value: LineValue) -> Estimator:
    """Return an estimator: the mean over the lines that have a value, with its bootstrap interval."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = [told for line in lines if (told := value(line)) is not None]
        return mean(values) if values else None

    return estimate


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean of some values with its bootstrap interval."""
    low, high = _interval_of(tuple(values))
    return Estimate(float(np.mean(values)), len(values), low, high)


@lru_cache(maxsize=4096)
def _interval_of(values: tuple[float, ...]) -> tuple[float, float]:
    """Cache the interval: the same figure is reported in several places."""
    return bootstrap_interval(values)


def quantile_of(value: LineValue, share: float) -> Estimator:
    """Return an estimator: a quantile over the lines that have a value."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = [told for line in lines if (told := value(line)) is not None]
        return Estimate(float(np.quantile(values, share)), len(values)) if values else None

    return estimate


def forgotten(gold: str) -> LineValue:
    """Return a function: whether the answer is wrong; None unless the line's `gold` is true and it has a gold answer."""
    return lambda line: float(not line.right) if line.row.get(gold) and line.scored else None


def abstention(share_of: str, among: str) -> Estimator:
    """Return an estimator: the share of `share_of` among the lines with `among`; None without unanswerable questions."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        rows = [line.row for line in lines if not line.failed]
        values = [float(bool(row.get(share_of))) for row in rows if row.get(among)]
        return mean(values) if values and any(row.get("unanswerable") for row in rows) else None

    return estimate


def _calibration_error(lines: Sequence[ResultLine]) -> Estimate | None:
    """Return the expected calibration error."""
    confidences, right = confident(lines)
    return Estimate(float(expected_calibration_error(confidences, right)), len(right)) if right else None


EM = Measure("EM", "exact match: the answer is a gold answer or alias after SQuAD's normalisation", mean_of(answer_score("em")))
F1 = Measure("F1", "token F1 against the best of the gold answers", mean_of(answer_score("f1")))
CONTAINED = Measure("contains", "a gold answer is contained in the answer", mean_of(answer_score("containment")))
_OFFICIAL = "the released MultiHop-RAG scorer: any whitespace-separated word shared with the gold answer"
OFFICIAL = Measure("official", _OFFICIAL, mean_of(answer_score("official")))
_FORGETTING = "evidence forgetting rate: of the questions whose gold passages were all shown to the model, those answered wrongly"
FORGETTING = Measure("EFR", _FORGETTING, mean_of(forgotten("gold_retrieved")), better=-1)
_FOUND = "evidence forgetting rate over what was retrieved, shown to the model or not: the paper's"
FORGETTING_FOUND = Measure("EFR found", _FOUND, mean_of(forgotten("gold_found")), better=-1)
_CALIBRATION = "expected calibration error: the mean distance between confidence and the share of right answers, over 10 bins"
CALIBRATION = Measure("ECE", _CALIBRATION, _calibration_error, better=-1)
_PRECISION = "precision of abstaining: of the questions answered Unknown, those without an answer in the data"
_RECALL = "recall of abstaining: of the questions without an answer in the data, those answered Unknown"
_JUDGED = (
    FORGETTING,
    FORGETTING_FOUND,
    Measure("Unknown", "questions answered Unknown, correctly or not", mean_of(answer_score("abstained")), better=0),
    Measure("abst. P", _PRECISION, abstention("unanswerable", "abstained")),
    Measure("abst. R", _RECALL, abstention("abstained", "unanswerable")),
    CALIBRATION,
)
ANSWERS = (EM, F1, CONTAINED, *_JUDGED)
ANSWERS_BY_FACTS = (EM, F1, CONTAINED, OFFICIAL, *_JUDGED)


def _found(title: str, meaning: str, name: str = "", better: int = 1) -> Measure:
    return Measure(title, meaning, mean_of(retrieval_score(name or title)), better=better)


R10 = _found("recall@10", "share of the gold passages among the first 10")
HITS1 = _found("hits@1", "a gold passage is the first")
HITS4 = _found("hits@4", "any gold passage is among the first 4")
HITS10 = _found("hits@10", "any gold passage is among the first 10")
P5 = _found("P@5", "share of the first 5 places that gold passages take", "precision@5")
MRR10 = _found("MRR@10", "mean reciprocal rank of the first gold passage, within 10", "mrr@10")
WRONG = _found("wrong@5", "share of the first 5 places that passages of other groups than the gold's take", "wrong_group@5", -1)
RETRIEVAL = (
    _found("recall@5", "share of the gold passages among the first 5"),
    R10,
    _found("all@5", "all gold passages are among the first 5", "all_gold@5"),
    _found("all@10", "all gold passages are among the first 10", "all_gold@10"),
    *(HITS1, HITS4, HITS10, P5, MRR10),
    _found("MAP@10", "mean average precision within 10, as usually defined", "map@10"),
    _found("MAP@10 off.", "MAP@10 as the released MultiHop-RAG script computes it", "map@10_official"),
    WRONG,
    _found("support F1", "F1 of the cited documents against the gold ones", "supporting_f1"),
)
GOLD = Measure("all gold", "all gold passages are among those found and, of a strategy, shown to the model", mean_of(all_found))


def _spent(title: str, meaning: str, name: str) -> Measure:
    return Measure(title, meaning, mean_of(spent(name)), plain, -1)


CALLS = _spent("calls", "model calls", "llm_calls")
SECONDS = _spent("s", "seconds of wall time on this machine", "wall_s")
COST = (
    CALLS,
    _spent("in a row", "critical path: calls that must be made one after another", "critical_path_calls"),
    _spent("prompt", "prompt tokens", "prompt_tokens"),
    _spent("completion", "completion tokens", "completion_tokens"),
    _spent("searches", "retrievals", "retrievals"),
    SECONDS,
    Measure("s p50", "median of the seconds", quantile_of(spent("wall_s"), 0.5), plain, -1),
    Measure("s p95", "95th percentile of the seconds", quantile_of(spent("wall_s"), 0.95), plain, -1),
)
