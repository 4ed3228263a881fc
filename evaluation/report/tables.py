"""Tables of measures: a row a group of lines, a column a measure, the best of a column marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from ramify.evaluation.report.blocks import Cell, Column, Table, Where
from ramify.evaluation.results.measures import Estimate, Measure
from ramify.evaluation.results.run import Line

NOTHING = "–"
COUNT = Column("n", "questions; those that failed are among them, and score nothing")


@dataclass(frozen=True)
class Group:
    """Lines that belong together, under a name."""

    name: str
    lines: Sequence[Line]
    where: Where


def measured(
    title: str, groups: Sequence[Group], measures: Sequence[Measure], lead: str = "strategy", note: str = "", lines: str = ""
) -> Table:
    """Estimate every measure on every group; a measure that no group has is no column."""
    found = {measure.title: [measure.of(group.lines) for group in groups] for measure in measures}
    shown = [measure for measure in measures if any(found[measure.title])]
    best = {measure.title: best_of(measure, found[measure.title]) for measure in shown}
    rows = []
    for place, group in enumerate(groups):
        cells = [_cell(measure, found[measure.title][place], group.where, best[measure.title]) for measure in shown]
        rows.append([Cell(group.name, where=group.where, head=True), counted(group), *cells])
    return Table(
        title, [Column(lead, words=True), COUNT, *(Column(measure.title, measure.meaning) for measure in shown)], rows, note, lines
    )


def counted(group: Group) -> Cell:
    """Tell how many questions there are, and how many of them failed."""
    failed = sum(line.failed for line in group.lines)
    where = group.where.narrowed(outcome="failed") if failed else group.where
    return Cell(str(len(group.lines)), f"{failed} failed" if failed else "", where)


def best_of(measure: Measure, estimates: Sequence[Estimate | None]) -> str | None:
    """Give the best of some estimates as it is shown; none where all are shown alike."""
    values = [estimate.value for estimate in estimates if estimate]
    if not measure.better or len(values) < 2:
        return None
    if len({measure.shown(value) for value in values}) < 2:
        return None
    return measure.shown(max(values) if measure.better > 0 else min(values))


def _cell(measure: Measure, estimate: Estimate | None, where: Where, best: str | None) -> Cell:
    if estimate is None:
        return Cell(NOTHING)
    text = measure.shown(estimate.value)
    return Cell(text, interval(measure, estimate), where, best=text == best)


def interval(measure: Measure, estimate: Estimate) -> str:
    """Write the interval of an estimate that has one."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{measure.shown(estimate.low)} to {measure.shown(estimate.high)}"
