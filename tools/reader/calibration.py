"""How sure the reader is: from what its network says of an answer to how often such an answer is right, and how sure is sure enough."""

import math
from dataclasses import dataclass
from typing import Final

TAU: Final = 0.6
"""An answer above this is accepted without looking further (PruneRAG)."""
LEAST: Final = 0.25
"""Below this an answer is not given. Token F1 on questions kept back is near its best from 0.2 to 0.35 (training/calibrate.py)."""
MIN_HOP: Final = 0.1
"""Below this no further question is built on an answer: nine of ten such answers are wrong. Chosen by that, not fitted."""
GUESS: Final = 0.06
"""Below this there is no answer at all; from here to LEAST it is not given, and from MIN_HOP on it may serve as a step."""
NOTHING: Final = 0.05
"""How sure it is where there was nothing to read."""

_EDGE: Final = 1e-6
_NEARLY: Final = 1e-3
_USUAL_WORDS: Final = 10

Constants = tuple[float, ...]
"""A weight for each of the features, and a bias."""

SPANS: Final[Constants] = (0.451, 1.509, 0.019, 0.124, -1.624)
"""Fitted by training/calibrate.py."""
VERDICTS: Final[Constants] = (0.648, -0.235, -0.003, 0.006, -0.406)
"""The same for yes and no."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for an answer: the likelihood of its place, and that of the likeliest other answer."""

    place: float
    rival: float
    words: int = _USUAL_WORDS
    """Of the question: a long one asks for more than one passage says."""
    single: float = 0.5
    """How likely the question asks for one fact; these two say nothing by default."""

    def features(self) -> tuple[float, ...]:
        """Return the log odds of the place, its share of both, the question's length, and the log odds that it is single."""
        place, rival = (min(max(value, _EDGE), 1 - _EDGE) for value in (self.place, self.rival))
        single = min(max(self.single, _NEARLY), 1 - _NEARLY)
        return (
            math.log(place / (1 - place)),
            math.log(place / (place + rival)),
            math.log(max(self.words, 1) / _USUAL_WORDS),
            math.log(single / (1 - single)),
        )


def confidence(evidence: Evidence, constants: Constants) -> float:
    """Return how often an answer with such evidence is right (Platt 1999)."""
    *weights, bias = constants
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, evidence.features(), strict=True)) - bias))
