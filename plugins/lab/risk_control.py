"""Confidence thresholds that bound the rate of wrong answers (risk control), and calibration curves for confidences.

An answer is given if its confidence is above the threshold. There are two bounds:

* `asked`: wrong answers among all questions asked, in expectation (conformal risk control, Angelopoulos et al. 2024, arXiv 2208.02814, §2)
* `answered`: wrong answers among those given, with probability 1 - δ (Learn then Test, Angelopoulos et al. 2021, arXiv 2110.01052, §2 and
  §3.2: fixed sequences from several starts, each by the binomial p-value)

Both hold for any model and any number of questions if future questions are exchangeable with those of the calibration.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.profile import Curve

Bound = Literal["asked", "answered"]
Fit = Literal["isotonic", "platt", "none"]
NO_ANSWER_CONFIDENCE = -1.0
"""The confidence of a question without an answer, which is below every threshold."""
START_SHARES = (0.1, 0.25, 0.5, 1.0)
"""Shares of the answers, by decreasing confidence, at which a sequence of tests begins; δ is split equally among them."""
MIN_ISOTONIC_ANSWERS = 200
"""Minimum number of answers for isotonic regression; Platt scaling is used for fewer."""
_RISKS = np.arange(1, 1000) / 1000
_MAX_MULTIPLE = 50
"""Maximum multiple of the questions that `further_questions` considers."""
_EPSILON = 1e-6
_MAX_NEWTON_STEPS = 30


class Outcomes(NamedTuple):
    """Outcomes of n questions, both of shape (n,): the confidence of each answer, and whether it is wrong."""

    confidence: NDArray[np.float64]
    wrong: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Sequence[tuple[float | None, bool]]) -> "Outcomes":
        """Return outcomes from pairs of confidence (None for no answer) and whether the answer is right."""
        confidences = np.array([NO_ANSWER_CONFIDENCE if confidence is None else confidence for confidence, _ in answers], dtype=np.float64)
        return cls(confidences, np.array([confidence is not None and not right for confidence, right in answers], dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.confidence)

    def repeated(self, count: int) -> "Outcomes":
        """Return the outcomes repeated `count` times."""
        return Outcomes(np.tile(self.confidence, count), np.tile(self.wrong, count))

    def count_above(self, threshold: float) -> tuple[int, int]:
        """Return the number of answers above a threshold, and the number of wrong ones among them."""
        above = self.confidence > threshold
        return int(above.sum()), int(self.wrong[above].sum())

    def curve(self) -> list[tuple[float, float, float]]:
        """Return (coverage, wrong / questions, wrong / answered) at each confidence level, in decreasing order of confidence."""
        levels = [float(level) for level in np.unique(np.append(self.confidence[self.confidence > 0], 0.0))[::-1]]
        counts = [(answered, wrong) for level in levels for answered, wrong in [self.count_above(level)] if answered]
        return [(answered / len(self), wrong / len(self), wrong / answered) for answered, wrong in counts]


def find_threshold(bound: Bound, outcomes: Outcomes, risk: float, delta: float) -> float | None:
    """Return the lowest threshold that satisfies a bound; None if no threshold with at least one answer does."""
    threshold = _asked_threshold(outcomes, risk) if bound == "asked" else _answered_threshold(outcomes, risk, delta)
    return threshold if threshold is not None and outcomes.count_above(threshold)[0] else None


def _asked_threshold(outcomes: Outcomes, risk: float) -> float | None:
    """Return the smallest λ with (n R(λ) + 1) / (n + 1) ≤ α, where R(λ) is the share of questions with a wrong answer above λ."""
    allowed = math.floor(risk * (len(outcomes) + 1) - 1 + 1e-9)
    if allowed < 0:
        return None
    wrong = np.sort(outcomes.confidence[outcomes.wrong])[::-1]
    return float(wrong[allowed]) if allowed < len(wrong) else 0.0


def _answered_threshold(outcomes: Outcomes, risk: float, delta: float) -> float | None:
    """Return the lowest threshold that a sequence of tests reaches; each rejects that more than α of the answers above it are wrong."""
    from scipy.special import bdtr

    order = np.argsort(-outcomes.confidence, kind="stable")
    confidence, wrong = outcomes.confidence[order], outcomes.wrong[order]
    answers = int((confidence > 0).sum())
    below = np.append(confidence[1:answers], 0.0)[:answers]
    last = np.flatnonzero(below < confidence[:answers])  # answers of equal confidence are given together
    passed = bdtr(np.cumsum(wrong[:answers])[last].astype(np.float64), last + 1, risk) <= delta / len(START_SHARES)
    reached = -1
    for share in START_SHARES:
        place = int(np.searchsorted(last + 1, max(share * answers, min_answers("answered", risk, delta))))
        while place < len(last) and passed[place]:
            reached = max(reached, place)
            place += 1
    return float(below[last[reached]]) if reached >= 0 else None


def min_answers(bound: Bound, risk: float, delta: float) -> int:
    """Return the minimum number of questions (`asked`) or answers (`answered`), all right, for which a bound can be satisfied."""
    if bound == "asked":
        return math.ceil(1 / risk - 1 - 1e-9)
    return math.ceil(math.log(delta / len(START_SHARES)) / math.log1p(-risk)) if risk < 1 else 1


def min_risk(bound: Bound, outcomes: Outcomes, delta: float) -> float | None:
    """Return the lowest risk, in steps of 0.001, for which a threshold exists; None if there is none."""
    return next((float(risk) for risk in _RISKS if find_threshold(bound, outcomes, float(risk), delta) is not None), None)


def further_questions(bound: Bound, outcomes: Outcomes, risk: float, delta: float) -> int | None:
    """Return how many more questions with such outcomes would suffice for a threshold; None if even 50 times as many would not."""
    times = (count for count in range(2, _MAX_MULTIPLE + 1) if find_threshold(bound, outcomes.repeated(count), risk, delta) is not None)
    return next(((count - 1) * len(outcomes) for count in times), None)


def clopper_pearson_interval(count: int, total: int) -> tuple[float, float]:
    """Return the exact 95 % confidence interval of the proportion count / total (Clopper & Pearson 1934)."""
    from scipy.stats import binomtest

    limits = binomtest(count, total).proportion_ci(0.95)
    return float(limits.low), float(limits.high)


def choose_fit(requested: Fit | None, answers: int) -> Fit:
    """Return the requested fit, or by number of answers Platt scaling (few) or isotonic regression (many)."""
    return requested or ("platt" if answers < MIN_ISOTONIC_ANSWERS else "isotonic")


def fit_curve(fit: Fit, confidences: Sequence[float], right: Sequence[bool]) -> Curve:
    """Return the fitted curve as (confidence, probability) points; empty for the fit "none" or without answers."""
    fitted: dict[Fit, Callable[[Any, Any], Curve]] = {"isotonic": _fit_isotonic, "platt": _fit_platt}
    if fit == "none" or not len(confidences):
        return ()
    return fitted[fit](np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64))


def _fit_isotonic(confidences: NDArray[np.float64], right: NDArray[np.float64]) -> Curve:
    """Return a non-decreasing step function (isotonic regression by pool adjacent violators, Zadrozny & Elkan 2002)."""
    blocks: list[tuple[float, int, float, float]] = []
    for value in np.unique(confidences):
        inside = right[confidences == value]
        hits, count, low, high = float(inside.sum()), len(inside), float(value), float(value)
        while blocks and blocks[-1][0] * count >= hits * blocks[-1][1]:
            before = blocks.pop()
            hits, count, low = hits + before[0], count + before[1], before[2]
        blocks.append((hits, count, low, high))
    return tuple(dict.fromkeys((place, hits / count) for hits, count, low, high in blocks for place in (low, high)))


def _fit_platt(confidences: NDArray[np.float64], right: NDArray[np.float64]) -> Curve:
    """Return a logistic curve over the log odds, with Platt's targets (Platt 1999); constant if accuracy falls with confidence."""
    hits, misses = right.sum(), len(right) - right.sum()
    target = np.where(right > 0, (hits + 1) / (hits + 2), 1 / (misses + 2))
    features = np.stack([_log_odds(confidences), np.ones(len(confidences))], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(_MAX_NEWTON_STEPS):  # Newton's method with step halving
        likely = 1 / (1 + np.exp(-features @ weights))
        curvature = (features.T * (likely * (1 - likely))) @ features + _EPSILON * np.eye(2)
        step = np.linalg.solve(curvature, features.T @ (likely - target))
        while _log_loss(features @ (weights - step), target) > _log_loss(features @ weights, target) and np.abs(step).max() > _EPSILON:
            step = step / 2
        weights = weights - step
    points = np.unique(np.concatenate([[0.0, 1.0], np.quantile(confidences, np.linspace(0, 1, 51))]))
    level = np.full(len(points), target.mean())
    values = 1 / (1 + np.exp(-weights[0] * _log_odds(points) - weights[1])) if weights[0] > 0 else level
    return tuple((float(x), float(y)) for x, y in zip(points, values, strict=True))


def _log_loss(odds: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    return float((np.logaddexp(0, odds) - target * odds).sum())


def _log_odds(confidences: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped = np.clip(confidences, _EPSILON, 1 - _EPSILON)
    return np.asarray(np.log(clipped / (1 - clipped)))
