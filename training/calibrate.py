"""Fit how the network's probabilities become confidences, on questions kept back for choosing.

    python -m training.calibrate DATA

It prints the constants of tools/extractive/calibration.py, how far confidence is from being right on the same questions and on those kept
back for measuring, and the best threshold.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from ramify.evaluation.metrics.answers import exact_match, token_f1
from ramify.evaluation.metrics.calibration import expected_calibration_error
from ramify.tools.extractive.calibration import Constants, Evidence, confidence
from ramify.tools.extractive.features import ask
from ramify.tools.extractive.neural import Found, weigh
from ramify.tools.extractive.questions import expected
from training.searched import Searched, searched

THRESHOLDS = tuple(number / 20 for number in range(1, 11))
_DRAWN = 0.001


class Told(NamedTuple):
    """What the network says to a question."""

    item: Searched
    found: Found | None
    evidence: Evidence
    yes_no: bool

    @property
    def right(self) -> float:
        """Tell whether it is the answer."""
        return exact_match(self.found.answer, self.item.answers or ("",)) if self.found else 0.0


def main() -> None:
    """Fit the confidences of spans and those of yes and no."""
    data = Path(sys.argv[1])
    chosen, measured = told(searched(data, "choose")), told(searched(data, "measure"))
    for name, yes_no in (("SPANS", False), ("VERDICTS", True)):
        some = [one for one in chosen if one.yes_no == yes_no and one.found]
        constants = fit([one.evidence.features() for one in some], [one.right for one in some])
        print(f"{name} = ({', '.join(f'{value:.3f}' for value in constants)})")
        print(f"  fitted on {len(some)} questions, ECE {_ece(some, constants):.3f}")
        others = [one for one in measured if one.yes_no == yes_no and one.found]
        print(f"  on {len(others)} others, ECE {_ece(others, constants):.3f}")
        answered = [one for one in chosen if one.yes_no == yes_no]
        best = max(THRESHOLDS, key=lambda least: _worth(answered, constants, least))
        worth = ", ".join(f"{least:g}: {_worth(answered, constants, least):.3f}" for least in THRESHOLDS)
        print(f"  token F1 is best where answers below {best} are withheld ({worth})")


def told(items: Iterable[Searched]) -> list[Told]:
    """Read questions as the reader would; which of two things it is, rules choose, so those are left out."""
    read = []
    for item in items:
        asked = ask(item.question, expected(item.question))
        if asked.expected.kind != "choice":
            read.append(Told(item, *weigh(asked, item.contexts), asked.expected.kind == "yes_no"))
    return read


def _ece(some: Sequence[Told], constants: Constants) -> float:
    return expected_calibration_error([confidence(one.evidence, constants) for one in some], [one.right for one in some])


def _worth(some: Sequence[Told], constants: Constants, least: float) -> float:
    """Give the mean token F1 where unsure answers are withheld, which is right where there is no answer (as in SQuAD 2.0)."""
    given = [one.found.answer if one.found and confidence(one.evidence, constants) >= least else "" for one in some]
    return sum(token_f1(answer, one.item.answers or ("",)) for answer, one in zip(given, some, strict=True)) / len(some)


def fit(features: Sequence[Sequence[float]], right: Sequence[float]) -> Constants:
    """Fit a logistic regression of being right (Platt 1999), slightly drawn to the log odds as they are."""
    inputs, wanted = torch.tensor(features, dtype=torch.float64), torch.tensor(right, dtype=torch.float64)
    plain = torch.zeros(inputs.shape[1] + 1, dtype=torch.float64)
    plain[0] = 1.0
    weights = plain.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        wrong = binary_cross_entropy_with_logits(inputs @ weights[:-1] + weights[-1], wanted) + _DRAWN * ((weights - plain) ** 2).sum()
        wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        return wrong

    optimizer.step(step)  # type: ignore[no-untyped-call]  # as above
    return tuple(weights.tolist())


if __name__ == "__main__":
    main()
