"""How sure the reader is: from what its network says of an answer to how often such an answer is right, and how sure is sure enough."""

import math
from dataclasses import dataclass
from typing import Final

TAU: Final = 0.6
"""An answer above this is accepted without looking further (PruneRAG)."""
MIN_CONFIDENCE: Final = 0.25
"""Below this an answer is not given. Token F1 on questions kept back is near its best from 0.2 to 0.35 (training/calibrate.py)."""
MIN_HOP_CONFIDENCE: Final = 0.1
"""Below this no further question is built on an answer: nine of ten such answers are wrong. Chosen by that, not fitted."""
MIN_GUESS_CONFIDENCE: Final = 0.06
"""Below this there is no answer at all; from here to LEAST it is not given, and from MIN_HOP on it may serve as a step."""
NO_TEXT_CONFIDENCE: Final = 0.05
"""How sure it is where there was nothing to read."""

_MIN_PROBABILITY: Final = 1e-6
_MIN_SINGLE_PROBABILITY: Final = 1e-3
_TYPICAL_WORDS: Final = 10

CalibrationWeights = tuple[float, ...]
"""A weight for each of the features, and a bias."""

SPAN_WEIGHTS: Final[CalibrationWeights] = (0.451, 1.509, 0.019, 0.124, -1.624)
"""Fitted by training/calibrate.py."""
YES_NO_WEIGHTS: Final[CalibrationWeights] = (0.648, -0.235, -0.003, 0.006, -0.406)
"""The same for yes and no."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for an answer: the likelihood of its place, and that of the likeliest other answer."""

    likelihood: float
    runner_up: float
    words: int = _TYPICAL_WORDS
    """Of the question: a long one asks for more than one passage says."""
    single: float = 0.5
    """How likely the question asks for one fact; these two say nothing by default."""

    def features(self) -> tuple[float, ...]:
        """Return the log odds of the place, its share of both, the question's length, and the log odds that it is single."""
        likelihood, runner_up = (min(max(value, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY) for value in (self.likelihood, self.runner_up))
        single = min(max(self.single, _MIN_SINGLE_PROBABILITY), 1 - _MIN_SINGLE_PROBABILITY)
        return (
            math.log(likelihood / (1 - likelihood)),
            math.log(likelihood / (likelihood + runner_up)),
            math.log(max(self.words, 1) / _TYPICAL_WORDS),
            math.log(single / (1 - single)),
        )


def confidence(evidence: Evidence, weights_and_bias: CalibrationWeights) -> float:
    """Return how often an answer with such evidence is right (Platt 1999)."""
    *weights, bias = weights_and_bias
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, evidence.features(), strict=True)) - bias))
