"""Check the guarantees of `ramify calibrate`: 1,000 draws of questions with a known risk, and 10,000 halves of real runs.

    python plugins/lab/benchmarks/calibration.py [RUN…] [--splits 1000] [--strategy prune]

Exit code 1 where a bound fails by more than three standard errors of the simulation.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.lab.results import read_run
from ramify.lab.results.calibration import make_outcomes
from ramify.lab.risk_control import Bound, Outcomes, find_threshold

DELTA = 0.1
SIZES, RISKS = (100, 400), (0.05, 0.1, 0.2)
WITHOUT = 0.15
"""Share of made questions without an answer."""
Floats = NDArray[np.float64]
POPULATIONS: dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats]]] = {
    "calibrated": lambda draw, n: (confidence := draw.beta(5, 1.2, n), confidence),
    "overconfident": lambda draw, n: (confidence := draw.beta(5, 1.2, n), confidence**2),
    "mostly right": lambda draw, n: (confidence := draw.beta(2, 1, n), 1 - 0.6 * (1 - confidence) ** 2),
    "says nothing": lambda draw, n: (draw.random(n), np.full(n, 0.93)),
    "five values": lambda draw, n: (confidence := draw.choice([0.5, 0.7, 0.8, 0.9, 0.95], n), np.minimum(confidence + 0.02, 1.0)),
}
"""How confidences are drawn, and how likely an answer of each is right."""


class Measurement(NamedTuple):
    """Over many draws: the mean risk of all questions asked, its standard error, and how often the bound on those answered is missed."""

    population: str
    questions: int
    risk: float
    asked: float
    error: float
    reached: float
    missed: float

    def kept(self, splits: int) -> bool:
        """Return whether both bounds hold, but for what chance explains."""
        spread = (DELTA * (1 - DELTA) / splits) ** 0.5
        return self.asked <= self.risk + 3 * self.error and self.missed <= DELTA + 3 * spread


def draw_outcomes(name: str, draw: np.random.Generator, count: int) -> Outcomes:
    """Draw made questions."""
    confidences, likely = POPULATIONS[name](draw, count)
    answered = draw.random(count) >= WITHOUT
    return Outcomes(np.where(answered, confidences, -1.0), answered & (draw.random(count) > likely))


def true_shares(name: str) -> Callable[[float], tuple[float, float]]:
    """Return a function from a threshold to the share answered and the share answered wrongly, of very many questions."""
    confidences, likely = POPULATIONS[name](np.random.default_rng(1), 400_000)
    order = np.argsort(confidences)
    risks = np.append(np.cumsum((1 - likely[order])[::-1])[::-1], 0.0)
    place = confidences[order]

    def shares(threshold: float) -> tuple[float, float]:
        above = int(np.searchsorted(place, threshold, side="right"))
        return (1 - WITHOUT) * (len(place) - above) / len(place), (1 - WITHOUT) * float(risks[above]) / len(place)

    return shares


def simulate(splits: int, sizes: tuple[int, ...] = SIZES, risks: tuple[float, ...] = RISKS) -> Iterator[Measurement]:
    """Calibrate on many draws from each population, and look up what each threshold does."""
    for name in POPULATIONS:
        shares = true_shares(name)
        for size in sizes:
            for risk in risks:
                draw = np.random.default_rng(0)
                asked, reached, missed = [], 0, 0
                for _ in range(splits):
                    outcomes = draw_outcomes(name, draw, size)
                    low = find_threshold("asked", outcomes, risk, DELTA)
                    asked.append(0.0 if low is None else shares(low)[1])
                    if (other := find_threshold("answered", outcomes, risk, DELTA)) is not None:
                        given, wrong = shares(other)
                        reached, missed = reached + 1, missed + (wrong > risk * given)
                error = float(np.std(asked)) / splits**0.5
                yield Measurement(name, size, risk, float(np.mean(asked)), error, reached / splits, missed / splits)


def split_in_halves(folder: Path, strategy: str, splits: int) -> Iterator[str]:
    """Calibrate on random halves of a run, and count on the others."""
    run = read_run(folder)
    lines = [
        line for (_, name, variant), group in run.answered.items() if (name, variant) == (strategy, "") for line in group if line.has_gold
    ]
    outcomes = make_outcomes(lines)
    bounds: tuple[Bound, ...] = ("asked", "answered")
    for risk in (0.05, 0.1, 0.2, 0.3):
        for bound in bounds:
            rows = [_check_bound(outcomes, bound, risk, seed) for seed in range(splits)]
            with_threshold = [row for row in rows if row is not None]
            wrong = [0.0 if row is None else row[1] for row in rows]
            mean, error = float(np.mean(wrong)), float(np.std(wrong)) / splits**0.5
            above = sum(share > risk for share in wrong) / splits
            outcome = f"{100 * mean:.2f} ± {100 * error:.2f} % wrong" if bound == "asked" else f"above α in {100 * above:.1f} % of halves"
            answered = float(np.mean([row[0] for row in with_threshold])) if with_threshold else 0.0
            head = f"| {folder.name} | {len(lines)} | {bound} | {risk:g} |"
            yield f"{head} {100 * len(with_threshold) / splits:.0f} % | {outcome} | {100 * answered:.1f} % |"


def _check_bound(outcomes: Outcomes, bound: Bound, risk: float, seed: int) -> tuple[float, float] | None:
    """Return the shares answered and wrong on the half held out; None where no threshold keeps the bound."""
    places = list(range(len(outcomes)))
    random.Random(seed).shuffle(places)
    mine, others = places[: len(places) // 2], places[len(places) // 2 :]
    threshold = find_threshold(bound, Outcomes(outcomes.confidence[mine], outcomes.wrong[mine]), risk, DELTA)
    if threshold is None:
        return None
    given, wrong = Outcomes(outcomes.confidence[others], outcomes.wrong[others]).count_above(threshold)
    total = len(others) if bound == "asked" else given
    return given / len(others), wrong / total if total else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN")
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--strategy", default="prune")
    arguments = parser.parse_args()
    print("| confidences | questions | α | wrong of asked, mean | ± | threshold for answered | missed |\n|---|---|---|---|---|---|---|")
    failed = 0
    for result in simulate(arguments.splits):
        failed += not result.kept(arguments.splits)
        figures = f"{100 * result.asked:.2f} % | {100 * result.error:.2f} | {100 * result.reached:.0f} % | {100 * result.missed:.1f} %"
        print(f"| {result.population} | {result.questions} | {result.risk:g} | {figures} |", flush=True)
    if arguments.runs:
        print("\n| run | questions | bound | α | threshold found | on the other half | answered |\n|---|---|---|---|---|---|---|")
    for folder in arguments.runs:
        print("\n".join(split_in_halves(folder, arguments.strategy, 10 * arguments.splits)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
