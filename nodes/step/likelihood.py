"""How likely an answer of a known language model is right: fitted to the log probabilities of its answers.

A small model writes right and wrong answers with tokens of about the same, high probability. It was counted how often it was right at
which probability; for models that are not in the table, the probability itself is the confidence.
"""

import re
from math import exp
from typing import NamedTuple

COMPARED = frozenset({"earlier", "later", "more", "less", "before", "after", "exceeds"})
"""Combinations that compare two dates or numbers: a wrong date is often on the right side."""


class Fit(NamedTuple):
    """A logistic regression on the lowest confidence of the answers that an answer rests on."""

    constant: float
    slope: float
    compared: float
    """Added where two dates or numbers are compared."""

    def likelihood(self, lowest: float, compared: bool) -> float:
        """Return the probability that an answer is right."""
        return 1 / (1 + exp(-(self.constant + self.slope * lowest + self.compared * compared)))


FITS = {"qwen2.5-coder-1.5b": Fit(-6.31, 7.03, 1.59)}
"""By a part of the model's name. Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: 349 answers of `split` to development questions of 2WikiMultihopQA,
MuSiQue and HotpotQA, of which 44 % were right; in ten folds AUROC .78, expected calibration error .07."""


def find_fit(model: str) -> Fit | None:
    """Return the fit of a model by its name, whatever signs it has between its parts; None if there is none."""
    name = _bare(model)
    return next((fit for known, fit in FITS.items() if _bare(known) in name), None)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
