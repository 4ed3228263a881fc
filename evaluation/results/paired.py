"""Two groups on the same questions: the difference, its interval, and its p value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ramify.evaluation.metrics.statistics import bootstrap_interval, paired_test
from ramify.evaluation.results.measures import Value, found, score
from ramify.evaluation.results.run import Line

SIGNIFICANT = 0.05
Pairs = list[tuple[Line, Line]]


@dataclass(frozen=True)
class Scores:
    """What is compared: values by their titles, and by which of them a question counts as won."""

    values: Sequence[tuple[str, Value]]
    won: tuple[str, Value]
    browsed: bool = True
    """Whether the question browser can show the questions won."""


ANSWERS = Scores((("EM", score("em")), ("F1", score("f1")), ("recall@5", found("recall@5"))), ("answered rightly (EM)", score("em")))


@dataclass(frozen=True)
class Difference:
    """The first less the second, over the questions that both were asked."""

    mean: float
    low: float
    high: float
    p: float


def common(first: Sequence[Line], second: Sequence[Line]) -> Pairs:
    """Pair the lines of the same question."""
    others = {line.row["id"]: line for line in second}
    return [(line, others[line.row["id"]]) for line in first if line.row["id"] in others]


def difference(pairs: Pairs, value: Value) -> Difference | None:
    """Compare by a value that both lines of a pair have; none where no pair has."""
    both = [(a, b) for one, other in pairs if (a := value(one)) is not None and (b := value(other)) is not None]
    if not both:
        return None
    first, second = [a for a, _ in both], [b for _, b in both]
    low, high = bootstrap_interval([a - b for a, b in both])
    return Difference(float(np.mean(first) - np.mean(second)), low, high, paired_test(first, second))


def shown_p(p: float) -> str:
    """Write a p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def points(value: float) -> str:
    """Write a difference of shares; one that rounds to nothing has no sign."""
    told = f"{100 * value:+.1f}"
    return "0.0" if float(told) == 0 else told
