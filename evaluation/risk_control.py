"""Thresholds on confidence that bound how often an answer is wrong, and curves from confidence to how often such an answer is right.

An answer is given where its confidence is above the threshold. Two bounds, which say different things:

* `asked`: wrong answers among all questions asked, in expectation (conformal risk control, Angelopoulos et al. 2024, arXiv 2208.02814, §2)
* `answered`: wrong answers among those given, with probability 1 - δ (Learn then Test, Angelopoulos et al. 2021, arXiv 2110.01052, §2 and
  §3.2: fixed sequences from several starts, each by the binomial p-value)

Both hold for any model and any number of questions, as long as the questions to come are like those calibrated on (exchangeable).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.profile import Curve

Bound = Literal["asked", "answered"]
Fit = Literal["isotonic", "platt", "none"]
UNANSWERED = -1.0
"""Stands for the confidence of a question without an answer: above no threshold."""
STARTS = (0.1, 0.25, 0.5, 1.0)
"""Shares of the answers, the surest first, from which a sequence of tests begins, if they are enough for one: each has its part of δ."""
FEW = 200
"""Answers below which a curve of two parameters is fitted (Platt), and not one with steps (isotonic regression)."""
_RISKS = np.arange(1, 1000) / 1000
_TIMES = 50
"""As many questions, at most, that are considered when it is asked how many would do."""
_EDGE = 1e-6
_STEPS = 30


class Outcomes(NamedTuple):
    """What came of some questions: the confidence of each answer, and whether it was wrong."""

    confidence: NDArray[np.float64]
    wrong: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Sequence[tuple[float | None, bool]]) -> "Outcomes":
        """Return outcomes from pairs of a confidence (None: no answer) and whether the answer is right."""
        sure = np.array([UNANSWERED if one is None else one for one, _ in answers], dtype=np.float64)
        return cls(sure, np.array([one is not None and not right for one, right in answers], dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.confidence)

    def times(self, count: int) -> "Outcomes":
        """Return the same outcomes several times."""
        return Outcomes(np.tile(self.confidence, count), np.tile(self.wrong, count))

    def given(self, threshold: float) -> tuple[int, int]:
        """Return how many answers are above a threshold, and how many of them are wrong."""
        above = self.confidence > threshold
        return int(above.sum()), int(self.wrong[above].sum())

    def curve(self) -> list[tuple[float, float, float]]:
        """Return the share answered, the wrong among all questions, and the wrong among those answered, from the surest answer on."""
        levels = [float(one) for one in np.unique(np.append(self.confidence[self.confidence > 0], 0.0))[::-1]]
        counts = [(given, wrong) for level in levels for given, wrong in [self.given(level)] if given]
        return [(given / len(self), wrong / len(self), wrong / given) for given, wrong in counts]


def threshold_for(bound: Bound, outcomes: Outcomes, risk: float, delta: float) -> float | None:
    """Return the lowest threshold that keeps a bound; None where no threshold does that leaves any answer."""
    found = _for_asked(outcomes, risk) if bound == "asked" else _for_answered(outcomes, risk, delta)
    return found if found is not None and outcomes.given(found)[0] else None


def _for_asked(outcomes: Outcomes, risk: float) -> float | None:
    """Return the smallest λ with (n R(λ) + 1) / (n + 1) ≤ α, where R(λ) is the share of questions with a wrong answer above λ."""
    allowed = math.floor(risk * (len(outcomes) + 1) - 1 + 1e-9)
    if allowed < 0:
        return None
    wrong = np.sort(outcomes.confidence[outcomes.wrong])[::-1]
    return float(wrong[allowed]) if allowed < len(wrong) else 0.0


def _for_answered(outcomes: Outcomes, risk: float, delta: float) -> float | None:
    """Return the lowest threshold that a sequence of tests reaches: each rejects that more than α of the answers above it are wrong."""
    from scipy.special import bdtr

    order = np.argsort(-outcomes.confidence, kind="stable")
    sure, wrong = outcomes.confidence[order], outcomes.wrong[order]
    answers = int((sure > 0).sum())
    below = np.append(sure[1:answers], 0.0)[:answers]
    last = np.flatnonzero(below < sure[:answers])  # of equal confidences, all are given or none
    passed = bdtr(np.cumsum(wrong[:answers])[last].astype(np.float64), last + 1, risk) <= delta / len(STARTS)
    reached = -1
    for share in STARTS:
        place = int(np.searchsorted(last + 1, max(share * answers, least_answers("answered", risk, delta))))
        while place < len(last) and passed[place]:
            reached = max(reached, place)
            place += 1
    return float(below[last[reached]]) if reached >= 0 else None


def least_answers(bound: Bound, risk: float, delta: float) -> int:
    """Return with how many questions (`asked`) or answers (`answered`), all of them right, a bound can be kept at all."""
    if bound == "asked":
        return math.ceil(1 / risk - 1 - 1e-9)
    return math.ceil(math.log(delta / len(STARTS)) / math.log1p(-risk)) if risk < 1 else 1


def least_risk(bound: Bound, outcomes: Outcomes, delta: float) -> float | None:
    """Return the least risk, in thousandths, that some threshold keeps; None where none does."""
    return next((float(risk) for risk in _RISKS if threshold_for(bound, outcomes, float(risk), delta) is not None), None)


def further_questions(bound: Bound, outcomes: Outcomes, risk: float, delta: float) -> int | None:
    """Return how many more questions would do at most, were their outcomes like these; None where even 50 times as many would not."""
    times = (count for count in range(2, _TIMES + 1) if threshold_for(bound, outcomes.times(count), risk, delta) is not None)
    return next(((count - 1) * len(outcomes) for count in times), None)


def interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Clopper & Pearson 1934)."""
    from scipy.stats import binomtest

    found = binomtest(count, total).proportion_ci(0.95)
    return float(found.low), float(found.high)


def fit_of(wanted: Fit | None, answers: int) -> Fit:
    """Return how a curve is fitted to so many answers: as wanted, else Platt scaling for few and isotonic regression for many."""
    return wanted or ("platt" if answers < FEW else "isotonic")


def fit_curve(fit: Fit, confidences: Sequence[float], right: Sequence[bool]) -> Curve:
    """Return the fitted curve; empty where nothing is fitted, or there are no answers."""
    fitted: dict[Fit, Callable[[Any, Any], Curve]] = {"isotonic": _isotonic, "platt": _platt}
    if fit == "none" or not len(confidences):
        return ()
    return fitted[fit](np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64))


def _isotonic(sure: NDArray[np.float64], right: NDArray[np.float64]) -> Curve:
    """Fit steps that never fall (pool adjacent violators, Zadrozny & Elkan 2002)."""
    blocks: list[tuple[float, int, float, float]] = []
    for value in np.unique(sure):
        inside = right[sure == value]
        hits, count, low, high = float(inside.sum()), len(inside), float(value), float(value)
        while blocks and blocks[-1][0] * count >= hits * blocks[-1][1]:
            before = blocks.pop()
            hits, count, low = hits + before[0], count + before[1], before[2]
        blocks.append((hits, count, low, high))
    return tuple(dict.fromkeys((place, hits / count) for hits, count, low, high in blocks for place in (low, high)))


def _platt(sure: NDArray[np.float64], right: NDArray[np.float64]) -> Curve:
    """Fit a logistic curve over the log odds, with Platt's targets (Platt 1999); level where more confidence means less right."""
    hits, misses = right.sum(), len(right) - right.sum()
    target = np.where(right > 0, (hits + 1) / (hits + 2), 1 / (misses + 2))
    given = np.stack([_log_odds(sure), np.ones(len(sure))], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(_STEPS):  # Newton's, halved while it would not help
        likely = 1 / (1 + np.exp(-given @ weights))
        curvature = (given.T * (likely * (1 - likely))) @ given + _EDGE * np.eye(2)
        step = np.linalg.solve(curvature, given.T @ (likely - target))
        while _surprise(given @ (weights - step), target) > _surprise(given @ weights, target) and np.abs(step).max() > _EDGE:
            step = step / 2
        weights = weights - step
    points = np.unique(np.concatenate([[0.0, 1.0], np.quantile(sure, np.linspace(0, 1, 51))]))
    level = np.full(len(points), target.mean())
    values = 1 / (1 + np.exp(-weights[0] * _log_odds(points) - weights[1])) if weights[0] > 0 else level
    return tuple((float(x), float(y)) for x, y in zip(points, values, strict=True))


def _surprise(odds: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    return float((np.logaddexp(0, odds) - target * odds).sum())


def _log_odds(sure: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped = np.clip(sure, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(clipped / (1 - clipped)))
