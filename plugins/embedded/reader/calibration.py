"""Calibrate the reader: from the likelihoods of its network to the probability that an answer is right; and the thresholds on it."""

import math
from dataclasses import dataclass
from typing import Final

TAU: Final = 0.6
"""An answer with a higher confidence is accepted without further search (τ of PruneRAG)."""
MIN_CONFIDENCE: Final = 0.25
"""Answers below this are withheld. Token F1 on held-out questions is near its best from 0.2 to 0.35
(plugins/embedded/training/calibrate.py)."""
MIN_GUESS_CONFIDENCE: Final = 0.06
"""Below this there is no answer; up to MIN_CONFIDENCE it is withheld, and from MIN_HOP_CONFIDENCE on it may be an intermediate answer
(`ramify.nodes.settings`)."""
NO_TEXT_CONFIDENCE: Final = 0.05
"""The confidence without any text to read."""

_MIN_PROBABILITY: Final = 1e-6
_MIN_SINGLE_PROBABILITY: Final = 1e-3
_TYPICAL_WORDS: Final = 10

CalibrationWeights = tuple[float, ...]
"""A weight for each feature, and a bias."""

SPAN_WEIGHTS: Final[CalibrationWeights] = (0.451, 1.509, 0.019, 0.124, -1.624)
"""Fitted by plugins/embedded/training/calibrate.py."""
YES_NO_WEIGHTS: Final[CalibrationWeights] = (0.648, -0.235, -0.003, 0.006, -0.406)
"""The same for yes/no answers."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for an answer: its likelihood, and that of the likeliest other answer, both in [0, 1]."""

    likelihood: float
    runner_up: float
    words: int = _TYPICAL_WORDS
    """Number of words of the question: long ones often ask for more than one passage contains."""
    single: float = 0.5
    """Probability that the question asks for a single fact. The defaults of these two fields are neutral."""

    def features(self) -> tuple[float, ...]:
        """Return the log odds of the likelihood, its log share, the log of the question's relative length, and the log odds of `single`."""
        likelihood, runner_up = (min(max(value, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY) for value in (self.likelihood, self.runner_up))
        single = min(max(self.single, _MIN_SINGLE_PROBABILITY), 1 - _MIN_SINGLE_PROBABILITY)
        return (
            math.log(likelihood / (1 - likelihood)),
            math.log(likelihood / (likelihood + runner_up)),
            math.log(max(self.words, 1) / _TYPICAL_WORDS),
            math.log(single / (1 - single)),
        )


def confidence(evidence: Evidence, weights_and_bias: CalibrationWeights) -> float:
    """Return the probability that an answer with this evidence is right (Platt scaling, Platt 1999)."""
    *weights, bias = weights_and_bias
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, evidence.features(), strict=True)) - bias))
