"""Two groups of lines on the same questions, of one run or of two: the pairs, the difference, its interval, and its p value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ramify.evaluation.metrics.statistics import bootstrap_interval, paired_test
from ramify.evaluation.results import Key, ResultLine, Run, read_run
from ramify.evaluation.results.measures import LineValue, answer_score, retrieval_score
from ramify.evaluation.rows import Row
from ramify.tools.errors import UsageError

SIGNIFICANT = 0.05
PRIOR = "closed-book"
Pairs = list[tuple[ResultLine, ResultLine]]


@dataclass(frozen=True)
class Scores:
    """What is compared: values by their titles, and by which of them a question counts as won."""

    values: Sequence[tuple[str, LineValue]]
    won: tuple[str, LineValue]
    browsed: bool = True
    """Whether the question browser can show the questions won."""


ANSWER_SCORES = Scores(
    (("EM", answer_score("em")), ("F1", answer_score("f1")), ("recall@5", retrieval_score("recall@5"))),
    ("answered correctly (EM)", answer_score("em")),
)


@dataclass(frozen=True)
class Difference:
    """The first less the second, over the questions that both were asked."""

    mean: float
    low: float
    high: float
    p: float


def common(first: Sequence[ResultLine], second: Sequence[ResultLine]) -> Pairs:
    """Return the pairs of lines on the same question."""
    others = {line.row["id"]: line for line in second}
    return [(line, others[line.row["id"]]) for line in first if line.row["id"] in others]


def difference(pairs: Pairs, value: LineValue) -> Difference | None:
    """Return the difference over the pairs in which both lines have the value; None if there are none."""
    both = [(a, b) for one, other in pairs if (a := value(one)) is not None and (b := value(other)) is not None]
    if not both:
        return None
    first, second = [a for a, _ in both], [b for _, b in both]
    low, high = bootstrap_interval([a - b for a, b in both])
    return Difference(float(np.mean(first) - np.mean(second)), low, high, paired_test(first, second))


def shown_p(p: float) -> str:
    """Format a p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def points(value: float) -> str:
    """Format a difference of shares in points; 0.0 has no sign."""
    told = f"{100 * value:+.1f}"
    return "0.0" if float(told) == 0 else told


@dataclass(frozen=True)
class Compared:
    """Two runs, and the lines of both on the same questions."""

    a: Run
    b: Run
    pairs: Mapping[tuple[Key, Key], Pairs]

    @property
    def answers(self) -> list[tuple[Row, Row]]:
        """Return the pairs of answers."""
        found = (pair for pairs in self.pairs.values() for pair in pairs)
        return [(a.row, b.row) for a, b in found if not (a.failed or b.failed or a.searched or b.searched)]


def read_runs(run_a: Path, run_b: Path) -> Compared:
    """Return two runs paired; UsageError if they cannot be compared."""
    a, b = read_run(run_a), read_run(run_b)
    shared = [dataset for dataset in a.datasets if dataset in b.datasets]
    if not shared:
        what = f"{str(run_a)!r} is on {', '.join(a.datasets)}, and {str(run_b)!r} on {', '.join(b.datasets)}"
        raise UsageError(what, "compare runs on the same data")
    for dataset in shared:
        if (one := a.described(dataset).get("sha256")) != (other := b.described(dataset).get("sha256")):
            what = f"the two runs have other data under the name {dataset!r} (sha256 {str(one)[:12]} and {str(other)[:12]})"
            raise UsageError(what, "run both on the same questions and documents")
    pairs = {groups: common(a.groups[groups[0]], b.groups[groups[1]]) for groups in _matched(a, b)}
    pairs = {groups: found for groups, found in pairs.items() if found}
    if not pairs:
        raise UsageError(
            "the two runs have no question in common that the same strategy answered", "run the same strategy on the same questions"
        )
    return Compared(a, b, pairs)


def _matched(a: Run, b: Run) -> Iterator[tuple[Key, Key]]:
    """Yield the groups with the same strategy and variant; if each run has only one beside the prior, those are matched."""
    sides = [{group for group in run.answered if group[1] != PRIOR} or set(run.answered) for run in (a, b)]
    same = [(group, group) for group in a.answered if group in b.answered]
    if sides[0] & sides[1] or any(len({group[1:] for group in side}) != 1 for side in sides):
        yield from same
        return
    yield from ((one, other) for one in a.answered for other in b.answered if one in sides[0] and other in sides[1] and one[0] == other[0])
