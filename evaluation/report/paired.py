"""Two groups on the same questions: the difference, its interval, its p value, and how often each wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ramify.evaluation.report.blocks import Cell, Column, Table, Where, words
from ramify.evaluation.report.tables import NOTHING
from ramify.evaluation.results.measures import Value, found, score
from ramify.evaluation.results.run import Line
from ramify.evaluation.statistics import bootstrap_interval, holm, paired_test

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


@dataclass(frozen=True)
class Contest:
    """A row of a table of paired tests: who is compared, on which lines, and what is told behind the figures."""

    names: Sequence[Cell]
    pairs: Pairs
    where: Where
    behind: Sequence[Cell] = ()


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


def paired_table(
    title: str,
    contests: Sequence[Contest],
    leads: Sequence[str],
    other: str,
    note: str,
    lines: str = "",
    behind: str = "",
    scores: Scores = ANSWERS,
) -> Table:
    """Test every contest, corrected for their number; `other` is what each is compared with."""
    told = [[difference(contest.pairs, value) for _, value in scores.values] for contest in contests]
    tests = [one for each in told for one in each if one]
    adjusted = iter(holm([one.p for one in tests])) if tests else iter(())
    rows = [_row(contest, differences, adjusted, scores) for contest, differences in zip(contests, told, strict=True)]
    method = (
        f"p is of a paired sign-flip permutation test, after Holm's correction for the {len(tests)} tests of this table. "
        f"▲ better, ▼ worse at p < {SIGNIFICANT}."
    )
    columns = [*words(*leads), Column("n", "questions that both were asked")]
    for name, _ in scores.values:
        columns += [Column(f"Δ {name}", f"difference of {name} from {other}, in points, with its 95 % interval")]
        columns += [Column("p", "after Holm's correction")]
    columns += [Column("wins", f"questions that only this one {scores.won[0]}, not {other}")]
    columns += [Column("loses", f"questions that only {other} {scores.won[0].removesuffix(' (EM)')}")]
    return Table(title, [*columns, Column(behind)] if behind else columns, rows, f"{note} {method}", lines)


def _row(contest: Contest, differences: Sequence[Difference | None], adjusted: Iterator[float], scores: Scores) -> list[Cell]:
    cells = [*contest.names, Cell(str(len(contest.pairs)), where=contest.where)]
    for one in differences:
        if one is None:
            cells += [Cell(NOTHING), Cell(NOTHING)]
            continue
        p = next(adjusted)
        sign = "" if p >= SIGNIFICANT else " ▲" if one.mean > 0 else " ▼"
        cells += [Cell(points(one.mean) + sign, f"{points(one.low)} to {points(one.high)}", contest.where), Cell(shown_p(p))]
    right = [((scores.won[1](a) or 0) >= 1, (scores.won[1](b) or 0) >= 1) for a, b in contest.pairs]
    for won, which in (((True, False), "first"), ((False, True), "second")):
        cells.append(Cell(str(right.count(won)), where=contest.where.narrowed(won=which) if scores.browsed else None))
    return [*cells, *contest.behind]


def shown_p(p: float) -> str:
    """Write a p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def points(value: float) -> str:
    """Write a difference of shares; one that rounds to nothing has no sign."""
    told = f"{100 * value:+.1f}"
    return "0.0" if float(told) == 0 else told
