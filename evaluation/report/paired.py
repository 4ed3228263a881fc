"""A table of paired tests: who is compared, the differences, their p values, and how often each wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.evaluation.metrics.statistics import holm
from ramify.evaluation.report.blocks import Cell, Column, Table, Where, words
from ramify.evaluation.report.tables import NOTHING
from ramify.evaluation.results.paired import ANSWERS, SIGNIFICANT, Difference, Pairs, Scores, difference, points, shown_p


@dataclass(frozen=True)
class Contest:
    """A row of a table of paired tests: who is compared, on which lines, and what is told behind the figures."""

    names: Sequence[Cell]
    pairs: Pairs
    where: Where
    behind: Sequence[Cell] = ()


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
