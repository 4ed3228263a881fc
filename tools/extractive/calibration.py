"""How sure the neural reader is: from what its network says of an answer to how often such an answer is right."""

import math
from dataclasses import dataclass
from typing import Final

LEAST: Final = 1e-6
USUAL_WORDS: Final = 10

Constants = tuple[float, ...]
"""A weight for each of the features, and a bias."""

SPANS: Final[Constants] = (0.454, 1.279, -0.645, -1.010)
"""Fitted by training/calibrate.py."""
VERDICTS: Final[Constants] = (0.416, 2.208, 0.116, 1.377)
"""The same for yes and no."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for an answer: the likelihood of its place, and that of the likeliest other answer."""

    place: float
    rival: float
    words: int
    """Of the question: a long one asks for more than one passage says."""

    def features(self) -> tuple[float, ...]:
        """Give the log odds of the place, its share beside the other one, and how long the question is."""
        place, rival = (min(max(value, LEAST), 1 - LEAST) for value in (self.place, self.rival))
        return (
            math.log(place / (1 - place)),
            math.log(place / (place + rival)),
            math.log(max(self.words, 1) / USUAL_WORDS),
        )


def confidence(evidence: Evidence, constants: Constants) -> float:
    """Say how often an answer of such evidence is right (Platt 1999)."""
    *weights, bias = constants
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, evidence.features(), strict=True)) - bias))
