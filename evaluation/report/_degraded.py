"""The sections on what is made worse: searches by their metadata, system by system, and what strategies make of questions and searches."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ramify.evaluation import degraded as cells
from ramify.evaluation.degraded import FLAT, FULL, HOWS, MISSING, NOISE, SYSTEM, SYSTEMS, How
from ramify.evaluation.report._answers import Curve, curves_of
from ramify.evaluation.report._blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    LineGroup,
    Plot,
    Points,
    Table,
    Words,
    columns_of,
    difference_cell,
    figure,
    measure_cells,
    measure_table,
    words,
)
from ramify.evaluation.results import ResultLine, Run, measures
from ramify.evaluation.results.measures import common, difference, retrieval_score
from ramify.evaluation.task import RESULTS

MEASURES = {
    "recall@10": measures.R10,
    "hits@1": measures.HITS1,
    "wrong_group@5": measures.WRONG,
    "precision@5": measures.P5,
    "mrr@10": measures.MRR10,
}
"""The reported measures, by their names in a line."""
DRAWN = ("recall@10", "hits@1")
COMPARED = (*DRAWN, "wrong_group@5")


class DegradedPoint(NamedTuple):
    """A kind of degradation, and the share of documents affected."""

    degraded: str = cells.WHOLE
    share: float = 0.0

    @property
    def title(self) -> str:
        """Return the title of its column."""
        return f"{self.degraded} {100 * self.share:g} %" if self.share else "clean"


@dataclass(frozen=True)
class MeanScores:
    """The lines of a data set averaged over the random draws, one per question for each system and point."""

    dataset: str
    lines: Sequence[ResultLine]

    @cached_property
    def _found(self) -> dict[tuple[str, DegradedPoint], list[ResultLine]]:
        drawn: dict[tuple[str, DegradedPoint, str], list[ResultLine]] = {}
        for line in self.lines:
            drawn.setdefault((line.row[SYSTEM], DegradedPoint(line.row["degraded"], line.row["share"]), line.row["id"]), []).append(line)
        found: dict[tuple[str, DegradedPoint], list[ResultLine]] = {}
        for (system, point, _), lines in sorted(drawn.items()):
            found.setdefault((system, point), []).append(_mean(lines))
        return found

    @cached_property
    def systems(self) -> list[str]:
        """Return the measured systems, in their order."""
        there = {system for system, _ in self._found}
        return [system for system in SYSTEMS if system in there]

    @property
    def points(self) -> list[DegradedPoint]:
        """Return the points: intact metadata, then increasing shares missing, then increasing shares wrong."""
        return [*self.along(MISSING), *self.along(NOISE)[1:]]

    def along(self, degraded: str) -> list[DegradedPoint]:
        """Return the points of a kind of degradation, from intact metadata on."""
        return [DegradedPoint(), *sorted({point for _, point in self._found if point.degraded == degraded})]

    def of(self, system: str, point: DegradedPoint, type: str | None = None) -> list[ResultLine]:
        """Return the lines of a system at a point, of all questions or one type; systems that read no metadata are the same everywhere."""
        found = self._found.get((system, DegradedPoint() if system in cells.UNREAD else point), [])
        return found if type is None else [line for line in found if line.type == type]


def _mean(lines: Sequence[ResultLine]) -> ResultLine:
    """Return the mean scores of a question over the draws; None if no draw has a score."""
    scored: list[dict[str, Any]] = [line.row["retrieval"] for line in lines if line.ranked]
    names = dict.fromkeys(name for one in scored for name in one)
    values = {name: [one[name] for one in scored if one.get(name) is not None] for name in names}
    told = {name: float(np.mean(given)) if given else None for name, given in values.items()}
    row = {name: lines[0].row.get(name) for name in ("dataset", "id", "type", "gold_documents", "error", "em")}
    return ResultLine(lines[0].number, {**row, "retrieval": told or None})


def degraded(run: Run) -> Iterator[Block]:
    """Report each system at each share, the differences, and the ablations."""
    lines: dict[str, list[ResultLine]] = {}
    for line in run.degraded:
        lines.setdefault(line.row["dataset"], []).append(line)
    averaged = [MeanScores(dataset, of) for dataset, of in lines.items()]
    if averaged:
        yield Words(
            "Missing: a share of the documents, drawn anew each time, has none of the metadata it is grouped by. Noise: it has those of "
            "another group. Questions and what is gold stay as they are, and a wrong group is told by the true metadata."
        )
        yield Points([(name, system.told) for name, system in SYSTEMS.items() if any(name in one.systems for one in averaged)])
    for number, one in enumerate(averaged):
        yield from _of(one, number)


def _of(told: MeanScores, number: int) -> Iterator[Block]:
    types = sorted({line.type for line in told.lines})
    for name in DRAWN:
        caption = f"{told.dataset}: {MEASURES[name].title} where metadata are missing, and where they are wrong; a line a system."
        yield Plot.drawn(caption, "along_shares", _curves(told), MEASURES[name], f"degraded-{number}-{name.partition('@')[0]}")
        yield _by_point(told, name)
        yield from (_by_point(told, name, type) for type in types if len(types) > 1)
    yield from (_by_point(told, name) for name in MEASURES if name not in DRAWN)
    yield from (_differences(told, name) for name in COMPARED)
    yield from _ablations(told, number)


def _curves(told: MeanScores) -> dict[str, dict[str, list[tuple[float, list[ResultLine]]]]]:
    """Return the lines of each system along the share of missing, and of wrong metadata."""
    ways = [way for way in (MISSING, NOISE) if len(told.along(way)) > 1] or [MISSING]
    systems = [name for name in told.systems if not SYSTEMS[name].once or name in cells.UNREAD]
    return {way: {system: [(point.share, told.of(system, point)) for point in told.along(way)] for system in systems} for way in ways}


def _by_point(told: MeanScores, name: str, type: str | None = None) -> Table:
    """Return the table of a measure, by system and point."""
    measure = MEASURES[name]
    columns = [
        measure_cells(measure, [LineGroup(system, told.of(system, point, type)) for system in told.systems]) for point in told.points
    ]
    rows = [[Cell(system, head=True), *(column[place] for column in columns)] for place, system in enumerate(told.systems)]
    count, draws = len(told.of(FLAT, DegradedPoint(), type)), max(int(line.row["draw"]) for line in told.lines)
    title = f"{told.dataset}: {measure.title}" + (f", {type or 'no type'} ({count})" if type is not None else "")
    note = f"{measure.meaning.capitalize()}; {count} questions, mean of {draws} drawings."
    return Table(title, [*words("system"), *(Column(point.title) for point in told.points)], rows, note, _means_of(told, name, type))


def _differences(told: MeanScores, name: str) -> Table:
    """Return the table of paired differences: each system less flat search, and the full system less its baselines."""
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


def _difference(told: MeanScores, system: str, other: str, point: DegradedPoint, name: str) -> Cell:
    one = difference(common(told.of(system, point), told.of(other, point)), retrieval_score(name))
    if one is None:
        return Cell(NOTHING)
    return difference_cell(one, one.mean * MEASURES[name].better if one.low > 0 or one.high < 0 else 0)


def _ablations(told: MeanScores, number: int) -> Iterator[Block]:
    """Report the ablations of the design."""
    at = {name: (system, DegradedPoint(way, share)) for name, (system, way, share) in cells.ABLATIONS.items()}
    lines = {name: told.of(*place) if place[1] in told.points else [] for name, place in at.items()}
    yield Plot.drawn(
        f"{told.dataset}: the ablations, with 95 % intervals.", "ablations", lines, (measures.R10, measures.HITS1), f"ablations-{number}"
    )
    rows = []
    for name, (system, point) in at.items():
        figures = [figure(measure, measure.of(lines[name]), nothing="not run") for measure in MEASURES.values()]
        rows.append([Cell(name, head=True), Cell(f"{system}, {point.title}"), *figures])
    columns = [*words("ablation", "what it is"), *columns_of([*MEASURES.values()])]
    yield Table(f"{told.dataset}: ablations", columns, rows, lines=_means_of(told, "recall@10"))


def _means_of(told: MeanScores, name: str, type: str | None = None, each: bool = False) -> str:
    """Return the jq command that prints the means of a measure, over all questions or per question."""
    tests = [".system", f".dataset == {json.dumps(told.dataset)}", *([f".type == {json.dumps(type)}"] if type is not None else [])]
    by = ", ".join([".system", ".degraded", ".share", *([".id"] if each else [])])
    value = f".retrieval[{json.dumps(name)}]"
    program = (
        f"map(select({' and '.join(tests)} and {value} != null)) | group_by([{by}])[] | [(.[0] | {by}), (map({value}) | add / length)]"
    )
    return f"jq -sc {shlex.quote(program)} {RESULTS}"


ANSWER_MEASURES = (measures.EM, measures.F1, measures.ANSWERED)


def degraded_answers(run: Run) -> Iterator[Block]:
    """Report for each data set and each kind of degradation the curves of the strategies, with their table."""
    swept = curves_of(run)
    found: dict[tuple[str, How], dict[str, Curve]] = {}
    for how in HOWS:
        for (strategy, setting), curves in swept.items():
            for dataset, curve in curves.items() if setting == how else ():
                found.setdefault((dataset, how), {})[strategy] = curve
    if found:
        yield Words("What is made worse is drawn with the seed, the same for every strategy; a share of 0 is the strategy as it is.")
    for number, ((dataset, how), strategies) in enumerate(found.items()):
        shares = [share for share, _ in max(strategies.values(), key=len)]
        yield Plot.drawn(f"{dataset}: the share of {cells.TOLD[how]}", "sweep", strategies, how, shares, f"worse-{number}", ANSWER_MEASURES)
        chosen = f'select(.dataset == {json.dumps(dataset)} and ((.variant // "") | startswith("{how}=")))'
        groups = [
            LineGroup.of((dataset, strategy, f"{how}={share}"), lines, f"{strategy}, {share}")
            for strategy, curve in strategies.items()
            for share, lines in curve
        ]
        yield measure_table(
            f"{dataset}: {how}",
            groups,
            (*ANSWER_MEASURES, measures.FORGETTING, measures.CALLS),
            "strategy, share",
            lines=f"jq -c {shlex.quote(chosen)} {RESULTS}",
        )
