"""Fit how the network's probabilities become confidences, on questions kept back for choosing.

    python -m training.calibrate DATA [--most 120] [--trunk e5-multilingual | all-mpnet-base-v2]

It prints the constants of tools/reader/calibration.py, or of multilingual.py or large.py beside it, how far confidence is from being right
on the same questions and on those kept back for measuring, the best threshold for giving an answer, and one for looking no further.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from ramify.evaluation.metrics import expected_calibration_error
from ramify.tools.reader.calibration import TAU, Constants
from ramify.tools.reader.reading import LARGE, MULTILINGUAL, SMALL, Reader
from ramify.tools.reader.short_answers import weigh
from training.material import Part
from training.rated import Rated, Told, accepted, least, rated, tau
from training.searched import Questions, Searched

PARTS: Final[tuple[Part, Part]] = ("choose", "measure")
_DRAWN = 0.001
_READERS: Final = {reader.encoder.name: reader for reader in (SMALL, MULTILINGUAL, LARGE)}


def main() -> None:
    """Fit the confidences of spans and those of yes and no."""
    parser = argparse.ArgumentParser(description="Fit the reader's confidence.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("--most", type=int, default=120, help="questions of a source and part")
    parser.add_argument("--trunk", choices=_READERS, default=SMALL.encoder.name, help="which reader")
    given = parser.parse_args()
    questions, reader = Questions(given.data), _READERS[given.trunk]
    chosen, measured = (list(told(questions.searched(part, given.most), reader)) for part in PARTS)
    constants = {verdict: fitted([one for one in chosen if one.found.verdict == verdict]) for verdict in (False, True)}
    for verdict, name in ((False, "SPANS"), (True, "VERDICTS")):
        print(f"{name} = ({', '.join(f'{value:.3f}' for value in constants[verdict])})")
    some, others = rated(chosen, constants), rated(measured, constants)
    report("fitted on these", some)
    report("kept back for measuring", others)
    print(least(some), tau(some), f"above the TAU = {TAU} in force: {accepted(others, TAU)}, of those kept back", sep="\n")


def told(items: Iterable[Searched], reader: Reader = SMALL) -> Iterator[Told]:
    """Read questions with a reader, be they in English for the multilingual one."""
    for item in items:
        found, evidence = weigh(item.question, item.contexts, reader)
        if found:
            yield Told(item, found, evidence)


def fitted(some: Sequence[Told]) -> Constants:
    """Fit the constants to what was told."""
    return fit([one.evidence.features() for one in some], [one.right for one in some])


def report(name: str, some: Sequence[Rated]) -> None:
    """Print how far confidence is from being right: of spans, of yes and no, and of each source."""
    print(f"{name}:")
    kinds = {kind: [one for one in some if one.told.found.verdict == verdict] for kind, verdict in (("spans", False), ("yes or no", True))}
    sources = {name: [one for one in some if one.told.item.source == name] for name in dict.fromkeys(one.told.item.source for one in some)}
    for group, ones in (kinds | sources).items():
        if ones:
            right, sure = [one.told.right for one in ones], [one.sure for one in ones]
            means = f"right {sum(right) / len(ones):.2f}, sure {sum(sure) / len(ones):.2f}"
            print(f"  {group:32} {len(ones):5}  ECE {expected_calibration_error(sure, right):.3f}  {means}")


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
