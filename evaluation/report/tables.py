"""Tables of figures: a row a group of lines and a column a measure, the best of it marked; and tables of paired tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ramify.evaluation.metrics.statistics import holm
from ramify.evaluation.report.blocks import Cell, Column, Table, Where, words
from ramify.evaluation.results.measures import Estimate, Measure
from ramify.evaluation.results.paired import ANSWERS, SIGNIFICANT, Difference, Pairs, Scores, difference, points, shown_p
from ramify.evaluation.results.run import Key, Line

NOTHING = "–"
COUNT = Column("n", "questions; those that failed are among them, and score nothing")


@dataclass(frozen=True)
class Group:
    """Lines that belong together, under a name."""

    name: str
    lines: Sequence[Line]
    where: Where | None = None

    @classmethod
    def of(cls, key: Key, lines: Sequence[Line], name: str | None = None) -> "Group":
        """Take the lines of a strategy and variant on a data set, by their own name or another."""
        return cls(" ".join(key[1:]).strip() if name is None else name, lines, Where(*key))


def columns_of(measures: Sequence[Measure]) -> list[Column]:
    """Head the columns of some measures."""
    return [Column(measure.title, measure.meaning) for measure in measures]


def figure(measure: Measure, told: Estimate | None, where: Where | None = None, best: str | None = None, nothing: str = NOTHING) -> Cell:
    """Write an estimate with its interval, where it has one; it is the best where it reads like that."""
    if told is None:
        return Cell(nothing)
    text = measure.shown(told.value)
    interval = "" if told.low is None or told.high is None else f"{measure.shown(told.low)} to {measure.shown(told.high)}"
    return Cell(text, interval, where, best=text == best)


def marked(measure: Measure, groups: Sequence[Group]) -> list[Cell]:
    """Write the column of a measure, its best values marked; none where all read alike."""
    estimates = [measure.of(group.lines) for group in groups]
    values = [told.value for told in estimates if told]
    best = None
    if measure.better and len({measure.shown(value) for value in values}) > 1:
        best = measure.shown(max(values) if measure.better > 0 else min(values))
    return [figure(measure, told, group.where, best) for told, group in zip(estimates, groups, strict=True)]


def measured(
    title: str, groups: Sequence[Group], measures: Sequence[Measure], lead: str = "strategy", note: str = "", lines: str = ""
) -> Table:
    """Estimate every measure on every group; a measure that no group has is no column."""
    shown = [measure for measure in measures if any(measure.of(group.lines) for group in groups)]
    figures = [marked(measure, groups) for measure in shown]
    rows = [
        [Cell(group.name, where=group.where, head=True), _counted(group), *(column[place] for column in figures)]
        for place, group in enumerate(groups)
    ]
    return Table(title, [*words(lead), COUNT, *columns_of(shown)], rows, note, lines)


def _counted(group: Group) -> Cell:
    """Tell how many questions there are, and how many of them failed."""
    failed = sum(line.failed for line in group.lines)
    where = replace(group.where, outcome="failed") if failed and group.where else group.where
    return Cell(str(len(group.lines)), f"{failed} failed" if failed else "", where)


@dataclass(frozen=True)
class Contest:
    """A row of a table of paired tests: who is compared, on which lines, and what is told behind the figures."""

    names: Sequence[str]
    pairs: Pairs
    where: Where
    behind: str = ""


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
    tests = [one.p for each in told for one in each if one]
    adjusted = iter(holm(tests) if tests else ())
    rows = [_tested(contest, differences, adjusted, scores) for contest, differences in zip(contests, told, strict=True)]
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


def _tested(contest: Contest, differences: Sequence[Difference | None], adjusted: Iterator[float], scores: Scores) -> list[Cell]:
    *leads, name = contest.names
    cells = [*map(Cell, leads), Cell(name, where=contest.where, head=True), Cell(str(len(contest.pairs)), where=contest.where)]
    for one in differences:
        if one is None:
            cells += [Cell(NOTHING), Cell(NOTHING)]
            continue
        p = next(adjusted)
        cells += [differing(one, 0 if p >= SIGNIFICANT else one.mean, contest.where), Cell(shown_p(p))]
    right = [tuple((scores.won[1](line) or 0) >= 1 for line in pair) for pair in contest.pairs]
    for won, which in (((True, False), "first"), ((False, True), "second")):
        cells.append(Cell(str(right.count(won)), where=replace(contest.where, won=which) if scores.browsed else None))
    return [*cells, *([Cell(contest.behind)] if contest.behind else [])]


def differing(one: Difference, sign: float, where: Where | None = None) -> Cell:
    """Write a difference in points with its interval; its sign says whether it is for the better, 0 that it may be chance."""
    mark = " ▲" if sign > 0 else " ▼" if sign < 0 else ""
    return Cell(points(one.mean) + mark, f"{points(one.low)} to {points(one.high)}", where)
