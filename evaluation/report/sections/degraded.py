"""Degraded metadata: every system where documents lose the metadata they are grouped by, or have another group's, over drawings."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ramify.evaluation.report.blocks import Block, Cell, Column, Plot, Points, Table, Words, words
from ramify.evaluation.report.tables import NOTHING, Group, columns_of, differing, figure, marked
from ramify.evaluation.results.columns import HITS1, MRR10, P5, R10, WRONG
from ramify.evaluation.results.measures import found
from ramify.evaluation.results.paired import common, difference
from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.rows import RESULTS
from ramify.evaluation.searching import degraded_cells as cells
from ramify.evaluation.searching.degraded_cells import FLAT, FULL, MISSING, NOISE, SYSTEM, SYSTEMS

MEASURES = {"recall@10": R10, "hits@1": HITS1, "wrong_group@5": WRONG, "precision@5": P5, "mrr@10": MRR10}
"""What is told, by its name in a line."""
DRAWN = ("recall@10", "hits@1")
COMPARED = (*DRAWN, "wrong_group@5")


class Point(NamedTuple):
    """A way to degrade, and the share of documents that it meets."""

    degraded: str = cells.WHOLE
    share: float = 0.0

    @property
    def title(self) -> str:
        """Write it as the head of a column."""
        return f"{self.degraded} {100 * self.share:g} %" if self.share else "clean"


@dataclass(frozen=True)
class Means:
    """The lines of a data set averaged over the drawings: a line a question, for each system at each point."""

    dataset: str
    lines: Sequence[Line]

    @cached_property
    def _found(self) -> dict[tuple[str, Point], list[Line]]:
        drawn: dict[tuple[str, Point, str], list[Line]] = {}
        for line in self.lines:
            drawn.setdefault((line.row[SYSTEM], Point(line.row["degraded"], line.row["share"]), line.row["id"]), []).append(line)
        found: dict[tuple[str, Point], list[Line]] = {}
        for (system, point, _), lines in sorted(drawn.items()):
            found.setdefault((system, point), []).append(_mean(lines))
        return found

    @cached_property
    def systems(self) -> list[str]:
        """List the systems that were measured, in their order."""
        there = {system for system, _ in self._found}
        return [system for system in SYSTEMS if system in there]

    @property
    def points(self) -> list[Point]:
        """List the points: whole metadata, then less and less of them, then more and more that are wrong."""
        return [*self.along(MISSING), *self.along(NOISE)[1:]]

    def along(self, degraded: str) -> list[Point]:
        """List the points of a way to degrade, from whole metadata on."""
        return [Point(), *sorted({point for _, point in self._found if point.degraded == degraded})]

    def of(self, system: str, point: Point, type: str | None = None) -> list[Line]:
        """Give the lines of a system at a point, of all questions or of a type; a system that reads no metadata is everywhere alike."""
        found = self._found.get((system, Point() if system in cells.UNREAD else point), [])
        return found if type is None else [line for line in found if line.type == type]


def _mean(lines: Sequence[Line]) -> Line:
    """Average the scores of the drawings of a question; one that no drawing has stays none."""
    scored: list[dict[str, Any]] = [line.row["retrieval"] for line in lines if line.ranked]
    names = dict.fromkeys(name for one in scored for name in one)
    values = {name: [one[name] for one in scored if one.get(name) is not None] for name in names}
    told = {name: float(np.mean(given)) if given else None for name, given in values.items()}
    row = {name: lines[0].row.get(name) for name in ("dataset", "id", "type", "gold_documents", "error", "em")}
    return Line(lines[0].number, {**row, "retrieval": told or None})


def degraded(run: Run) -> Iterator[Block]:
    """Show each system at each share, the differences that matter, and the ablations; nothing where nothing was degraded."""
    lines: dict[str, list[Line]] = {}
    for line in run.degraded:
        lines.setdefault(line.row["dataset"], []).append(line)
    averaged = [Means(dataset, of) for dataset, of in lines.items()]
    if averaged:
        yield Words(
            "Missing: a share of the documents, drawn anew each time, has none of the metadata it is grouped by. Noise: it has those of "
            "another group. Questions and what is gold stay as they are, and a wrong group is told by the true metadata."
        )
        yield Points([(name, told) for name, told in cells.TOLD.items() if any(name in one.systems for one in averaged)])
    for number, one in enumerate(averaged):
        yield from _of(one, number)


def _of(told: Means, number: int) -> Iterator[Block]:
    types = sorted({line.type for line in told.lines})
    for name in DRAWN:
        caption = f"{told.dataset}: {MEASURES[name].title} where metadata are missing, and where they are wrong; a line a system."
        yield Plot.drawn(caption, "along_shares", _curves(told), MEASURES[name], f"degraded-{number}-{name.partition('@')[0]}")
        yield _by_point(told, name)
        yield from (_by_point(told, name, type) for type in types if len(types) > 1)
    yield from (_by_point(told, name) for name in MEASURES if name not in DRAWN)
    yield from (_differences(told, name) for name in COMPARED)
    yield from _ablations(told, number)


def _curves(told: Means) -> dict[str, dict[str, list[tuple[float, list[Line]]]]]:
    """Give the lines along the share of missing metadata, and along that of wrong ones, of each system that is measured there."""
    ways = [way for way in (MISSING, NOISE) if len(told.along(way)) > 1] or [MISSING]
    systems = [name for name in told.systems if not SYSTEMS[name].once or name in cells.UNREAD]
    return {way: {system: [(point.share, told.of(system, point)) for point in told.along(way)] for system in systems} for way in ways}


def _by_point(told: Means, name: str, type: str | None = None) -> Table:
    """Give a measure of every system at every point."""
    measure = MEASURES[name]
    columns = [marked(measure, [Group(system, told.of(system, point, type)) for system in told.systems]) for point in told.points]
    rows = [[Cell(system, head=True), *(column[place] for column in columns)] for place, system in enumerate(told.systems)]
    count, draws = len(told.of(FLAT, Point(), type)), max(int(line.row["draw"]) for line in told.lines)
    title = f"{told.dataset}: {measure.title}" + (f", {type or 'no type'} ({count})" if type is not None else "")
    note = f"{measure.meaning.capitalize()}; {count} questions, mean of {draws} drawings."
    return Table(title, [*words("system"), *(Column(point.title) for point in told.points)], rows, note, _means_of(told, name, type))


def _differences(told: Means, name: str) -> Table:
    """Compare each system with flat search, and the whole with what it has to be better than, question by question."""
    pairs = [(system, FLAT) for system in told.systems if system != FLAT]
    pairs += [(FULL, cells.HEADINGS), (FULL, cells.HARD), (FULL, cells.FILTER), (cells.BOTH, cells.LABEL)]
    rows = [
        [Cell(system, head=True), Cell(other), *(_difference(told, system, other, point, name) for point in told.points)]
        for system, other in pairs
        if {system, other} <= set(told.systems)
    ]
    note = (
        "The system less the other, in points, paired by question over the mean of its drawings, with 95 % bootstrap intervals. "
        "▲ better, ▼ worse: the interval is without 0; not corrected for the number of comparisons."
    )
    columns = [*words("system", "less"), *(Column(point.title) for point in told.points)]
    return Table(f"{told.dataset}: differences of {MEASURES[name].title}", columns, rows, note, _means_of(told, name, each=True))


def _difference(told: Means, system: str, other: str, point: Point, name: str) -> Cell:
    one = difference(common(told.of(system, point), told.of(other, point)), found(name))
    if one is None:
        return Cell(NOTHING)
    return differing(one, one.mean * MEASURES[name].better if one.low > 0 or one.high < 0 else 0)


def _ablations(told: Means, number: int) -> Iterator[Block]:
    """Give the ablations of the design, each where it wins and where it loses."""
    at = {name: (system, Point(way, share)) for name, (system, way, share) in cells.ABLATIONS.items()}
    lines = {name: told.of(*place) if place[1] in told.points else [] for name, place in at.items()}
    yield Plot.drawn(f"{told.dataset}: the ablations, with 95 % intervals.", "ablations", lines, (R10, HITS1), f"ablations-{number}")
    rows = []
    for name, (system, point) in at.items():
        figures = [figure(measure, measure.of(lines[name]), nothing="not run") for measure in MEASURES.values()]
        rows.append([Cell(name, head=True), Cell(f"{system}, {point.title}"), *figures])
    columns = [*words("ablation", "what it is"), *columns_of([*MEASURES.values()])]
    yield Table(f"{told.dataset}: ablations", columns, rows, lines=_means_of(told, "recall@10"))


def _means_of(told: Means, name: str, type: str | None = None, each: bool = False) -> str:
    """Give the command that prints the means of a measure from the lines, or each question's."""
    tests = [".system", f".dataset == {json.dumps(told.dataset)}", *([f".type == {json.dumps(type)}"] if type is not None else [])]
    by = ", ".join([".system", ".degraded", ".share", *([".id"] if each else [])])
    value = f".retrieval[{json.dumps(name)}]"
    program = (
        f"map(select({' and '.join(tests)} and {value} != null)) | group_by([{by}])[] | [(.[0] | {by}), (map({value}) | add / length)]"
    )
    return f"jq -sc {shlex.quote(program)} {RESULTS}"
