"""The blocks of a report, and tables of measures and of paired tests; Markdown and HTML are rendered from the same blocks."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from markupsafe import Markup

from ramify.lab.metrics import holm_correction
from ramify.lab.results import GroupKey, ResultLine
from ramify.lab.results.measures import (
    ANSWER_SCORES,
    SIGNIFICANCE_LEVEL,
    ComparedScores,
    Difference,
    Estimate,
    LinePairs,
    Measure,
    format_p,
    format_points,
    paired_difference,
)
from ramify.lab.task import RESULTS
from ramify.tools.errors import UsageError
from ramify.tools.quoting import escape_invisible


@dataclass(frozen=True)
class LineFilter:
    """A filter for the lines that a figure is computed from."""

    dataset: str | None = None
    strategy: str | None = None
    variant: str | None = None
    type: str | None = None
    hops: int | None = None
    outcome: str = ""
    line: str = ""
    """Label of the single line to show in the question browser."""
    compared_with: tuple[str, str] | None = None
    """Strategy and variant to show next to it."""
    won: str = ""
    """Only questions that one of the two answers correctly: "first" or "second"; empty for all lines."""

    @property
    def link(self) -> str:
        """Return the link to these lines in the question browser."""
        parameters = {"dataset": self.dataset, "type": self.type, "outcome": self.outcome or None, "won": self.won or None}
        parameters |= {"hops": None if self.hops is None else str(self.hops), "line": self.line or None}
        parameters["first"] = None if self.strategy is None else f"{self.strategy}|{self.variant or ''}"
        parameters["second"] = "|".join(self.compared_with) if self.compared_with else None
        return "#lines?" + urlencode({name: escape_invisible(value) for name, value in parameters.items() if value is not None})

    @property
    def jq(self) -> str:
        """Return the jq command that prints these lines."""
        fields = {"dataset": self.dataset, "strategy": self.strategy, "variant": self.variant, "type": self.type}
        tests = [f".{name} == {json.dumps(value)}" for name, value in fields.items() if value is not None]
        tests += [".error != null"] if self.outcome == "failed" else []
        return f"jq -c {shlex.quote('select(' + ' and '.join(tests) + ')')} {RESULTS}"


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    detail: str = ""
    """Its interval, or another additional text."""
    where: LineFilter | None = None
    best: bool = False
    head: bool = False


@dataclass(frozen=True)
class Column:
    """Title and meaning of a column."""

    title: str
    meaning: str = ""
    is_text: bool = False
    """Whether it contains text, which is left-aligned."""


def text_columns(*titles: str) -> list[Column]:
    """Return text columns with these titles."""
    return [Column(title, is_text=True) for title in titles]


@dataclass(frozen=True)
class Table:
    """A table of figures; `lines` is the command that prints the lines it is computed from."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    lines: str = ""


@dataclass(frozen=True)
class TextBlock:
    """A paragraph of text, a warning or a command."""

    text: str
    kind: Literal["plain", "warning", "command"] = "plain"


@dataclass(frozen=True)
class BulletList:
    """A list of statements with names, which may be empty."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Plot:
    """A plot; its figures are also in a table."""

    svg: Markup
    caption: str

    @classmethod
    def draw(cls, caption: str, name: str, *arguments: Any) -> "Plot":
        """Return a plot drawn by the named function of `plots`; UsageError if matplotlib is not installed."""
        try:
            from ramify.lab.report import _plots as plots
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise UsageError("a report draws with matplotlib, which is not installed", "pip install 'ramify-rag[eval]'") from error
        return cls(getattr(plots, name)(*arguments), caption)


@dataclass(frozen=True)
class LineDetails:
    """A line with its tree, collapsed below its title; Markdown has only the table."""

    title: str
    html: Markup


Block = Table | TextBlock | BulletList | Plot | LineDetails


@dataclass(frozen=True)
class ReportSection:
    """A part of the report; `name` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


def make_sections(*parts: tuple[str, str, Iterable[Block]]) -> list[ReportSection]:
    """Return the sections that are not empty, from names, titles and blocks."""
    return [ReportSection(name, title, blocks) for name, title, content in parts if (blocks := list(content))]


EMPTY_CELL = "–"
COUNT_COLUMN = Column("n", "questions; those that failed are among them, and score nothing")


@dataclass(frozen=True)
class LineGroup:
    """A named group of lines."""

    name: str
    lines: Sequence[ResultLine]
    where: LineFilter | None = None

    @classmethod
    def of(cls, key: GroupKey, lines: Sequence[ResultLine], name: str | None = None) -> "LineGroup":
        """Return the lines of a group, under its own name or another."""
        return cls(" ".join(key[1:]).strip() if name is None else name, lines, LineFilter(*key))


def measure_columns(measures: Sequence[Measure]) -> list[Column]:
    """Return the columns of some measures."""
    return [Column(measure.title, measure.meaning) for measure in measures]


def estimate_cell(
    measure: Measure, estimate: Estimate | None, where: LineFilter | None = None, best: str | None = None, nothing: str = EMPTY_CELL
) -> Cell:
    """Return the cell of an estimate with its interval; bold if its text equals `best`."""
    if estimate is None:
        return Cell(nothing)
    text = measure.format(estimate.value)
    interval = "" if estimate.low is None or estimate.high is None else f"{measure.format(estimate.low)} to {measure.format(estimate.high)}"
    return Cell(text, interval, where, best=text == best)


def measure_cells(measure: Measure, groups: Sequence[LineGroup]) -> list[Cell]:
    """Return the cells of a measure; the best values are marked unless all are displayed equally."""
    estimates = [measure.of(group.lines) for group in groups]
    values = [estimate.value for estimate in estimates if estimate]
    best = None
    if measure.better and len({measure.format(value) for value in values}) > 1:
        best = measure.format(max(values) if measure.better > 0 else min(values))
    return [estimate_cell(measure, estimate, group.where, best) for estimate, group in zip(estimates, groups, strict=True)]


def measure_table(
    title: str, groups: Sequence[LineGroup], measures: Sequence[Measure], lead: str = "strategy", note: str = "", lines: str = ""
) -> Table:
    """Return a table of measures by group; a measure without values has no column."""
    measured = [measure for measure in measures if any(measure.of(group.lines) for group in groups)]
    figures = [measure_cells(measure, groups) for measure in measured]
    rows = []
    for place, group in enumerate(groups):
        failed = sum(line.failed for line in group.lines)
        where = replace(group.where, outcome="failed") if failed and group.where else group.where
        count = Cell(str(len(group.lines)), f"{failed} failed" if failed else "", where)
        rows.append([Cell(group.name, where=group.where, head=True), count, *(column[place] for column in figures)])
    return Table(title, [*text_columns(lead), COUNT_COLUMN, *measure_columns(measured)], rows, note, lines)


@dataclass(frozen=True)
class Comparison:
    """A row of a table of paired tests: names, pairs of lines, and a text for the last column."""

    names: Sequence[str]
    pairs: LinePairs
    where: LineFilter
    last_column: str = ""


def paired_table(
    title: str,
    comparisons: Sequence[Comparison],
    leads: Sequence[str],
    other: str,
    note: str,
    lines: str = "",
    last_title: str = "",
    scores: ComparedScores = ANSWER_SCORES,
) -> Table:
    """Return a table of paired tests, corrected for their number; `other` is the name of the reference."""
    differences_by_row = [[paired_difference(contest.pairs, value) for _, value in scores.values] for contest in comparisons]
    tests = [difference.p for each in differences_by_row for difference in each if difference]
    adjusted = iter(holm_correction(tests) if tests else ())
    rows = [_test_row(contest, differences, adjusted, scores) for contest, differences in zip(comparisons, differences_by_row, strict=True)]
    method = (
        f"p is of a paired sign-flip permutation test, after Holm's correction for the {len(tests)} tests of this table. "
        f"▲ better, ▼ worse at p < {SIGNIFICANCE_LEVEL}."
    )
    columns = [*text_columns(*leads), Column("n", "questions that both were asked")]
    for name, _ in scores.values:
        columns += [Column(f"Δ {name}", f"difference of {name} from {other}, in points, with its 95 % interval")]
        columns += [Column("p", "after Holm's correction")]
    columns += [Column("wins", f"questions that only this one {scores.won[0]}, not {other}")]
    columns += [Column("loses", f"questions that only {other} {scores.won[0].removesuffix(' (EM)')}")]
    return Table(title, [*columns, Column(last_title)] if last_title else columns, rows, f"{note} {method}", lines)


def _test_row(
    comparison: Comparison, differences: Sequence[Difference | None], adjusted: Iterator[float], scores: ComparedScores
) -> list[Cell]:
    *leads, name = comparison.names
    cells = [*map(Cell, leads), Cell(name, where=comparison.where, head=True), Cell(str(len(comparison.pairs)), where=comparison.where)]
    for difference in differences:
        if difference is None:
            cells += [Cell(EMPTY_CELL), Cell(EMPTY_CELL)]
            continue
        p = next(adjusted)
        cells += [difference_cell(difference, 0 if p >= SIGNIFICANCE_LEVEL else difference.mean, comparison.where), Cell(format_p(p))]
    right = [tuple((scores.won[1](line) or 0) >= 1 for line in pair) for pair in comparison.pairs]
    for won, which in (((True, False), "first"), ((False, True), "second")):
        cells.append(Cell(str(right.count(won)), where=replace(comparison.where, won=which) if scores.browsable else None))
    return [*cells, *([Cell(comparison.last_column)] if comparison.last_column else [])]


def difference_cell(difference: Difference, sign: float, where: LineFilter | None = None) -> Cell:
    """Return the cell of a difference with its interval; `sign` marks it as better or worse, 0 as not significant."""
    mark = " ▲" if sign > 0 else " ▼" if sign < 0 else ""
    return Cell(format_points(difference.mean) + mark, f"{format_points(difference.low)} to {format_points(difference.high)}", where)
