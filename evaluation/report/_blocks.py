"""The blocks that a report consists of, and tables of measures and of paired tests; Markdown and HTML are written from the same blocks."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal
from urllib.parse import urlencode

from markupsafe import Markup

from ramify.evaluation.metrics import holm
from ramify.evaluation.results import Key, ResultLine
from ramify.evaluation.results.measures import (
    ANSWER_SCORES,
    SIGNIFICANT,
    Difference,
    Estimate,
    Measure,
    Pairs,
    Scores,
    difference,
    points,
    shown_p,
)
from ramify.evaluation.task import RESULTS
from ramify.tools.errors import UsageError
from ramify.tools.quoting import escape_invisible


@dataclass(frozen=True)
class LineFilter:
    """The lines that a figure is computed from."""

    dataset: str | None = None
    strategy: str | None = None
    variant: str | None = None
    type: str | None = None
    hops: int | None = None
    outcome: str = ""
    line: str = ""
    """The one line that is shown, by its name in the browser."""
    beside: tuple[str, str] | None = None
    """A strategy and variant to look at beside it."""
    won: str = ""
    """Which of the two is the only one that is right: "first" or "second"; empty for all lines."""

    @property
    def link(self) -> str:
        """Return the link to these lines in the question browser."""
        told = {"dataset": self.dataset, "type": self.type, "outcome": self.outcome or None, "won": self.won or None}
        told |= {"hops": None if self.hops is None else str(self.hops), "line": self.line or None}
        told["first"] = None if self.strategy is None else f"{self.strategy}|{self.variant or ''}"
        told["second"] = "|".join(self.beside) if self.beside else None
        return "#lines?" + urlencode({name: escape_invisible(value) for name, value in told.items() if value is not None})

    @property
    def jq(self) -> str:
        """Return the jq command that prints these lines."""
        told = {"dataset": self.dataset, "strategy": self.strategy, "variant": self.variant, "type": self.type}
        tests = [f".{name} == {json.dumps(value)}" for name, value in told.items() if value is not None]
        tests += [".error != null"] if self.outcome == "failed" else []
        return f"jq -c {shlex.quote('select(' + ' and '.join(tests) + ')')} {RESULTS}"


@dataclass(frozen=True)
class Cell:
    """A figure or a word in a table."""

    text: str
    detail: str = ""
    """Its interval, or another text in small print."""
    where: LineFilter | None = None
    best: bool = False
    head: bool = False


@dataclass(frozen=True)
class Column:
    """A column's title and what it means."""

    title: str
    meaning: str = ""
    words: bool = False
    """Whether it holds words, which are set from the left."""


def words(*titles: str) -> list[Column]:
    """Return text columns with these titles."""
    return [Column(title, words=True) for title in titles]


@dataclass(frozen=True)
class Table:
    """A table of figures; `lines` is the command that prints what it is made from."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    lines: str = ""


@dataclass(frozen=True)
class Words:
    """Paragraphs."""

    text: str
    kind: Literal["plain", "warning", "command"] = "plain"


@dataclass(frozen=True)
class Points:
    """A list of statements, each with a name or without."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Plot:
    """A drawing; its figures are in a table beside it."""

    svg: Markup
    caption: str

    @classmethod
    def drawn(cls, caption: str, name: str, *given: Any) -> "Plot":
        """Draw a plot by its function in `plots`; UsageError if matplotlib is not installed."""
        try:
            plots = import_module("ramify.evaluation.report._plots")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise UsageError("a report draws with matplotlib, which is not installed", "pip install 'ramify-rag[eval]'") from error
        return cls(getattr(plots, name)(*given), caption)


@dataclass(frozen=True)
class DrawnLine:
    """A line with its tree, folded below its title; Markdown has the table beside it."""

    title: str
    html: Markup


Block = Table | Words | Points | Plot | DrawnLine


@dataclass(frozen=True)
class ReportSection:
    """A part of the report; `name` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


def sections_of(*parts: tuple[str, str, Iterable[Block]]) -> list[ReportSection]:
    """Return the sections that are not empty, from names, titles and blocks."""
    return [ReportSection(name, title, blocks) for name, title, told in parts if (blocks := list(told))]


NOTHING = "–"
COUNT = Column("n", "questions; those that failed are among them, and score nothing")


@dataclass(frozen=True)
class LineGroup:
    """Lines that belong together, under a name."""

    name: str
    lines: Sequence[ResultLine]
    where: LineFilter | None = None

    @classmethod
    def of(cls, key: Key, lines: Sequence[ResultLine], name: str | None = None) -> "LineGroup":
        """Return the lines of a group, under its own name or another."""
        return cls(" ".join(key[1:]).strip() if name is None else name, lines, LineFilter(*key))


def columns_of(measures: Sequence[Measure]) -> list[Column]:
    """Return the columns of some measures."""
    return [Column(measure.title, measure.meaning) for measure in measures]


def figure(
    measure: Measure, told: Estimate | None, where: LineFilter | None = None, best: str | None = None, nothing: str = NOTHING
) -> Cell:
    """Return the cell of an estimate with its interval; bold if its text equals `best`."""
    if told is None:
        return Cell(nothing)
    text = measure.shown(told.value)
    interval = "" if told.low is None or told.high is None else f"{measure.shown(told.low)} to {measure.shown(told.high)}"
    return Cell(text, interval, where, best=text == best)


def measure_cells(measure: Measure, groups: Sequence[LineGroup]) -> list[Cell]:
    """Return the cells of a measure, the best values marked; none if all look the same."""
    estimates = [measure.of(group.lines) for group in groups]
    values = [told.value for told in estimates if told]
    best = None
    if measure.better and len({measure.shown(value) for value in values}) > 1:
        best = measure.shown(max(values) if measure.better > 0 else min(values))
    return [figure(measure, told, group.where, best) for told, group in zip(estimates, groups, strict=True)]


def measure_table(
    title: str, groups: Sequence[LineGroup], measures: Sequence[Measure], lead: str = "strategy", note: str = "", lines: str = ""
) -> Table:
    """Return a table of measures by group; a measure without values has no column."""
    shown = [measure for measure in measures if any(measure.of(group.lines) for group in groups)]
    figures = [measure_cells(measure, groups) for measure in shown]
    rows = []
    for place, group in enumerate(groups):
        failed = sum(line.failed for line in group.lines)
        where = replace(group.where, outcome="failed") if failed and group.where else group.where
        count = Cell(str(len(group.lines)), f"{failed} failed" if failed else "", where)
        rows.append([Cell(group.name, where=group.where, head=True), count, *(column[place] for column in figures)])
    return Table(title, [*words(lead), COUNT, *columns_of(shown)], rows, note, lines)


@dataclass(frozen=True)
class Comparison:
    """A row of a table of paired tests: names, pairs of lines, and a text for the last column."""

    names: Sequence[str]
    pairs: Pairs
    where: LineFilter
    behind: str = ""


def paired_table(
    title: str,
    contests: Sequence[Comparison],
    leads: Sequence[str],
    other: str,
    note: str,
    lines: str = "",
    behind: str = "",
    scores: Scores = ANSWER_SCORES,
) -> Table:
    """Return a table of paired tests, corrected for their number; `other` is the name of the reference."""
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


def _tested(contest: Comparison, differences: Sequence[Difference | None], adjusted: Iterator[float], scores: Scores) -> list[Cell]:
    *leads, name = contest.names
    cells = [*map(Cell, leads), Cell(name, where=contest.where, head=True), Cell(str(len(contest.pairs)), where=contest.where)]
    for one in differences:
        if one is None:
            cells += [Cell(NOTHING), Cell(NOTHING)]
            continue
        p = next(adjusted)
        cells += [difference_cell(one, 0 if p >= SIGNIFICANT else one.mean, contest.where), Cell(shown_p(p))]
    right = [tuple((scores.won[1](line) or 0) >= 1 for line in pair) for pair in contest.pairs]
    for won, which in (((True, False), "first"), ((False, True), "second")):
        cells.append(Cell(str(right.count(won)), where=replace(contest.where, won=which) if scores.browsed else None))
    return [*cells, *([Cell(contest.behind)] if contest.behind else [])]


def difference_cell(one: Difference, sign: float, where: LineFilter | None = None) -> Cell:
    """Return the cell of a difference with its interval; `sign` marks it as better or worse, 0 as not significant."""
    mark = " ▲" if sign > 0 else " ▼" if sign < 0 else ""
    return Cell(points(one.mean) + mark, f"{points(one.low)} to {points(one.high)}", where)
