"""The sections on degradation: searches on degraded metadata by system, and strategies on degraded questions and searches."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ramify.lab import _degraded as cells
from ramify.lab._degraded import DEGRADATION_KINDS, FLAT_SYSTEM, FULL_SYSTEM, MISSING, NOISE, SYSTEM_FIELD, SYSTEMS, DegradationKind
from ramify.lab.report._answers import SweepCurve, sweep_curves
from ramify.lab.report._blocks import (
    EMPTY_CELL,
    Block,
    BulletList,
    Cell,
    Column,
    LineGroup,
    Plot,
    Table,
    TextBlock,
    difference_cell,
    estimate_cell,
    measure_cells,
    measure_columns,
    measure_table,
    text_columns,
)
from ramify.lab.results import ResultLine, Run, measures
from ramify.lab.results.measures import pair_lines, paired_difference, retrieval_score
from ramify.lab.task import RESULTS

REPORTED_MEASURES = {
    "recall@10": measures.R10,
    "hits@1": measures.HITS1,
    "wrong_group@5": measures.WRONG_GROUP_5,
    "precision@5": measures.P5,
    "mrr@10": measures.MRR10,
}
"""The reported measures, by their names in a line."""
PLOTTED_SCORES = ("recall@10", "hits@1")
COMPARED_SCORE_NAMES = (*PLOTTED_SCORES, "wrong_group@5")


class DegradedPoint(NamedTuple):
    """A kind of degradation, and the share of documents affected."""

    degraded: str = cells.INTACT
    share: float = 0.0

    @property
    def title(self) -> str:
        """Return the title of its column."""
        return f"{self.degraded} {100 * self.share:g} %" if self.share else "clean"


@dataclass(frozen=True)
class AveragedLines:
    """The lines of a data set averaged over the random draws, one per question for each system and point."""

    dataset: str
    lines: Sequence[ResultLine]

    @cached_property
    def _lines_by_point(self) -> dict[tuple[str, DegradedPoint], list[ResultLine]]:
        drawn: dict[tuple[str, DegradedPoint, str], list[ResultLine]] = {}
        for line in self.lines:
            drawn.setdefault((line.row[SYSTEM_FIELD], DegradedPoint(line.row["degraded"], line.row["share"]), line.row["id"]), []).append(
                line
            )
        averaged: dict[tuple[str, DegradedPoint], list[ResultLine]] = {}
        for (system, point, _), lines in sorted(drawn.items()):
            averaged.setdefault((system, point), []).append(_mean_line(lines))
        return averaged

    @cached_property
    def systems(self) -> list[str]:
        """Return the measured systems, in their order."""
        measured = {system for system, _ in self._lines_by_point}
        return [system for system in SYSTEMS if system in measured]

    @property
    def points(self) -> list[DegradedPoint]:
        """Return the points: intact metadata, then increasing missing shares, then increasing wrong shares."""
        return [*self.along(MISSING), *self.along(NOISE)[1:]]

    def along(self, degraded: str) -> list[DegradedPoint]:
        """Return the points of a kind of degradation, beginning with intact metadata."""
        return [DegradedPoint(), *sorted({point for _, point in self._lines_by_point if point.degraded == degraded})]

    def of(self, system: str, point: DegradedPoint, type: str | None = None) -> list[ResultLine]:
        """Return the lines of a system at a point, of all questions or one type; METADATA_FREE_SYSTEMS have the same at each point."""
        lines = self._lines_by_point.get((system, DegradedPoint() if system in cells.METADATA_FREE_SYSTEMS else point), [])
        return lines if type is None else [line for line in lines if line.type == type]


def _mean_line(lines: Sequence[ResultLine]) -> ResultLine:
    """Return the mean scores of a question over the draws; None if no draw has a score."""
    scored: list[dict[str, Any]] = [line.row["retrieval"] for line in lines if line.has_retrieval_scores]
    names = dict.fromkeys(name for scores in scored for name in scores)
    values = {name: [scores[name] for scores in scored if scores.get(name) is not None] for name in names}
    means = {name: float(np.mean(values_of_name)) if values_of_name else None for name, values_of_name in values.items()}
    row = {name: lines[0].row.get(name) for name in ("dataset", "id", "type", "gold_documents", "error", "em")}
    return ResultLine(lines[0].number, {**row, "retrieval": means or None})


def degraded_metadata_section(run: Run) -> Iterator[Block]:
    """Report each system at each share, the differences, and the ablations."""
    lines: dict[str, list[ResultLine]] = {}
    for line in run.degraded:
        lines.setdefault(line.row["dataset"], []).append(line)
    averaged = [AveragedLines(dataset, of) for dataset, of in lines.items()]
    if averaged:
        yield TextBlock(
            "Missing: a share of the documents, drawn anew each time, has none of the metadata it is grouped by. Noise: it has those of "
            "another group. Questions and what is gold stay as they are, and a wrong group is told by the true metadata."
        )
        yield BulletList(
            [(name, system.description) for name, system in SYSTEMS.items() if any(name in means.systems for means in averaged)]
        )
    for number, dataset_means in enumerate(averaged):
        yield from _dataset_blocks(dataset_means, number)


def _dataset_blocks(averaged: AveragedLines, number: int) -> Iterator[Block]:
    types = sorted({line.type for line in averaged.lines})
    for name in PLOTTED_SCORES:
        caption = (
            f"{averaged.dataset}: {REPORTED_MEASURES[name].title} where metadata are missing, and where they are wrong; a line a system."
        )
        yield Plot.draw(
            caption, "plot_shares", _system_curves(averaged), REPORTED_MEASURES[name], f"degraded-{number}-{name.partition('@')[0]}"
        )
        yield _point_table(averaged, name)
        yield from (_point_table(averaged, name, type) for type in types if len(types) > 1)
    yield from (_point_table(averaged, name) for name in REPORTED_MEASURES if name not in PLOTTED_SCORES)
    yield from (_difference_table(averaged, name) for name in COMPARED_SCORE_NAMES)
    yield from _ablation_blocks(averaged, number)


def _system_curves(averaged: AveragedLines) -> dict[str, dict[str, list[tuple[float, list[ResultLine]]]]]:
    """Return the lines of each system by share of missing and of wrong metadata."""
    ways = [way for way in (MISSING, NOISE) if len(averaged.along(way)) > 1] or [MISSING]
    systems = [name for name in averaged.systems if not SYSTEMS[name].intact_only or name in cells.METADATA_FREE_SYSTEMS]
    return {
        way: {system: [(point.share, averaged.of(system, point)) for point in averaged.along(way)] for system in systems} for way in ways
    }


def _point_table(averaged: AveragedLines, name: str, type: str | None = None) -> Table:
    """Return the table of a measure, by system and point."""
    measure = REPORTED_MEASURES[name]
    columns = [
        measure_cells(measure, [LineGroup(system, averaged.of(system, point, type)) for system in averaged.systems])
        for point in averaged.points
    ]
    rows = [[Cell(system, head=True), *(column[place] for column in columns)] for place, system in enumerate(averaged.systems)]
    count, draws = len(averaged.of(FLAT_SYSTEM, DegradedPoint(), type)), max(int(line.row["draw"]) for line in averaged.lines)
    title = f"{averaged.dataset}: {measure.title}" + (f", {type or 'no type'} ({count})" if type is not None else "")
    note = f"{measure.meaning.capitalize()}; {count} questions, mean of {draws} drawings."
    return Table(
        title,
        [*text_columns("system"), *(Column(point.title) for point in averaged.points)],
        rows,
        note,
        _means_command(averaged, name, type),
    )


def _difference_table(averaged: AveragedLines, name: str) -> Table:
    """Return the table of paired differences: each system less flat search, and the full system less its baselines."""
    pairs = [(system, FLAT_SYSTEM) for system in averaged.systems if system != FLAT_SYSTEM]
    pairs += [
        (FULL_SYSTEM, cells.HEADINGS_SYSTEM),
        (FULL_SYSTEM, cells.HARD_SYSTEM),
        (FULL_SYSTEM, cells.FILTER_SYSTEM),
        (cells.FULL_LABEL_SYSTEM, cells.LABEL_SYSTEM),
    ]
    rows = [
        [Cell(system, head=True), Cell(other), *(_difference_cell(averaged, system, other, point, name) for point in averaged.points)]
        for system, other in pairs
        if {system, other} <= set(averaged.systems)
    ]
    note = (
        "The system less the other, in points, paired by question over the mean of its drawings, with 95 % bootstrap intervals. "
        "▲ better, ▼ worse: the interval is without 0; not corrected for the number of comparisons."
    )
    columns = [*text_columns("system", "less"), *(Column(point.title) for point in averaged.points)]
    return Table(
        f"{averaged.dataset}: differences of {REPORTED_MEASURES[name].title}",
        columns,
        rows,
        note,
        _means_command(averaged, name, each=True),
    )


def _difference_cell(averaged: AveragedLines, system: str, other: str, point: DegradedPoint, name: str) -> Cell:
    difference = paired_difference(pair_lines(averaged.of(system, point), averaged.of(other, point)), retrieval_score(name))
    if difference is None:
        return Cell(EMPTY_CELL)
    return difference_cell(difference, difference.mean * REPORTED_MEASURES[name].better if difference.low > 0 or difference.high < 0 else 0)


def _ablation_blocks(averaged: AveragedLines, number: int) -> Iterator[Block]:
    """Report the ablations of the design."""
    at = {name: (system, DegradedPoint(way, share)) for name, (system, way, share) in cells.SYSTEM_ABLATIONS.items()}
    lines = {name: averaged.of(*place) if place[1] in averaged.points else [] for name, place in at.items()}
    yield Plot.draw(
        f"{averaged.dataset}: the ablations, with 95 % intervals.",
        "plot_ablations",
        lines,
        (measures.R10, measures.HITS1),
        f"ablations-{number}",
    )
    rows = []
    for name, (system, point) in at.items():
        figures = [estimate_cell(measure, measure.of(lines[name]), nothing="not run") for measure in REPORTED_MEASURES.values()]
        rows.append([Cell(name, head=True), Cell(f"{system}, {point.title}"), *figures])
    columns = [*text_columns("ablation", "what it is"), *measure_columns([*REPORTED_MEASURES.values()])]
    yield Table(f"{averaged.dataset}: ablations", columns, rows, lines=_means_command(averaged, "recall@10"))


def _means_command(averaged: AveragedLines, name: str, type: str | None = None, each: bool = False) -> str:
    """Return the jq command that prints the means of a measure, over all questions or per question."""
    tests = [".system", f".dataset == {json.dumps(averaged.dataset)}", *([f".type == {json.dumps(type)}"] if type is not None else [])]
    by = ", ".join([".system", ".degraded", ".share", *([".id"] if each else [])])
    value = f".retrieval[{json.dumps(name)}]"
    program = (
        f"map(select({' and '.join(tests)} and {value} != null)) | group_by([{by}])[] | [(.[0] | {by}), (map({value}) | add / length)]"
    )
    return f"jq -sc {shlex.quote(program)} {RESULTS}"


DEGRADED_ANSWER_MEASURES = (measures.EM, measures.F1, measures.ANSWERED_SHARE)


def degraded_answers_section(run: Run) -> Iterator[Block]:
    """Report for each data set and each kind of degradation the curves of the strategies, with their table."""
    swept = sweep_curves(run)
    curves_by_kind: dict[tuple[str, DegradationKind], dict[str, SweepCurve]] = {}
    for kind in DEGRADATION_KINDS:
        for (strategy, setting), curves in swept.items():
            for dataset, curve in curves.items() if setting == kind else ():
                curves_by_kind.setdefault((dataset, kind), {})[strategy] = curve
    if curves_by_kind:
        yield TextBlock("What is made worse is drawn with the seed, the same for every strategy; a share of 0 is the strategy as it is.")
    for number, ((dataset, kind), strategies) in enumerate(curves_by_kind.items()):
        shares = [share for share, _ in max(strategies.values(), key=len)]
        yield Plot.draw(
            f"{dataset}: the share of {cells.DEGRADATION_HELP[kind]}",
            "plot_sweep",
            strategies,
            kind,
            shares,
            f"worse-{number}",
            DEGRADED_ANSWER_MEASURES,
        )
        chosen = f'select(.dataset == {json.dumps(dataset)} and ((.variant // "") | startswith("{kind}=")))'
        groups = [
            LineGroup.of((dataset, strategy, f"{kind}={share}"), lines, f"{strategy}, {share}")
            for strategy, curve in strategies.items()
            for share, lines in curve
        ]
        yield measure_table(
            f"{dataset}: {kind}",
            groups,
            (*DEGRADED_ANSWER_MEASURES, measures.FORGETTING, measures.MODEL_CALLS),
            "strategy, share",
            lines=f"jq -c {shlex.quote(chosen)} {RESULTS}",
        )
