"""Degraded metadata: every system where documents lose the metadata they are grouped by, or have another group's."""

import json
import shlex
from collections.abc import Iterator

from ramify.evaluation.report.blocks import Block, Cell, Column, Plot, Points, Section, Table, Words, words
from ramify.evaluation.report.tables import NOTHING, best_of, interval
from ramify.evaluation.results.columns import HITS1, MRR10, P5, R10, WRONG
from ramify.evaluation.results.degraded_means import Means, Point, means
from ramify.evaluation.results.measures import found
from ramify.evaluation.results.paired import Pairs, common, difference, points
from ramify.evaluation.results.run import Run
from ramify.evaluation.rows import RESULTS
from ramify.evaluation.searching.degraded_cells import ABLATIONS, BOTH, FILTER, FLAT, FULL, HARD, HEADINGS, LABEL, TOLD

MEASURES = {"recall@10": R10, "hits@1": HITS1, "wrong_group@5": WRONG, "precision@5": P5, "mrr@10": MRR10}
"""What is told, by its name in a line."""
COMPARED = ("recall@10", "hits@1", "wrong_group@5")
NOT_RUN = "not run"


def degraded(run: Run) -> Section | None:
    """Show each system at each share, the differences that matter, and the ablations; none where nothing was degraded."""
    averaged = means(run)
    if not averaged:
        return None
    blocks: list[Block] = [
        Words(
            "Missing: a share of the documents, drawn anew each time, has none of the metadata it is grouped by. Noise: it has those of "
            "another group. Questions and what is gold stay as they are, and a wrong group is told by the true metadata."
        ),
        Points([(name, told) for name, told in TOLD.items() if any(name in one.systems for one in averaged)]),
    ]
    for number, one in enumerate(averaged):
        blocks += _of(one, number)
    return Section("degraded", "Degraded metadata", blocks)


def _of(told: Means, number: int) -> Iterator[Block]:
    for name in ("recall@10", "hits@1"):
        caption = f"{told.dataset}: {MEASURES[name].title} where metadata are missing, and where they are wrong; a line a system."
        yield Plot.drawn(caption, "along_shares", told, MEASURES[name], f"degraded-{number}-{name.partition('@')[0]}")
        yield _by_point(told, name)
        yield from (_by_point(told, name, type) for type in told.types)
    yield from (_by_point(told, name) for name in MEASURES if name not in ("recall@10", "hits@1"))
    yield from (_differences(told, name) for name in COMPARED)
    yield Plot.drawn(f"{told.dataset}: the ablations, with 95 % intervals.", "ablations", told, f"ablations-{number}")
    yield _ablations(told)


def _by_point(told: Means, name: str, type: str | None = None) -> Table:
    """Give a measure of every system at every point."""
    measure = MEASURES[name]
    columns = []
    for point in told.points:
        estimates = [measure.of(told.of(system, point, type)) for system in told.systems]
        best = best_of(measure, estimates)
        shown = [(measure.shown(one.value), interval(measure, one)) if one else (NOTHING, "") for one in estimates]
        columns.append([Cell(text, detail, best=text == best) for text, detail in shown])
    rows = [[Cell(system, head=True), *(column[place] for column in columns)] for place, system in enumerate(told.systems)]
    count = len(told.of(FLAT, told.points[0], type))
    title = f"{told.dataset}: {measure.title}" + (f", {type or 'no type'} ({count})" if type is not None else "")
    note = f"{measure.meaning.capitalize()}; {count} questions, mean of {told.draws} drawings."
    heads = [*words("system"), *(Column(point.title) for point in told.points)]
    return Table(title, heads, rows, note, _means_of(told, name, type))


def _differences(told: Means, name: str) -> Table:
    """Compare each system with flat search, and the whole with what it has to be better than, question by question."""
    pairs = [(system, FLAT) for system in told.systems if system != FLAT] + [(FULL, HEADINGS), (FULL, HARD), (FULL, FILTER), (BOTH, LABEL)]
    rows = []
    for system, other in pairs:
        if {system, other} <= set(told.systems):
            both = [common(told.of(system, point), told.of(other, point)) for point in told.points]
            rows.append([Cell(system, head=True), Cell(other), *(_difference(one, name) for one in both)])
    note = (
        "The system less the other, in points, paired by question over the mean of its drawings, with 95 % bootstrap intervals. "
        "▲ better, ▼ worse: the interval is without 0; not corrected for the number of comparisons."
    )
    heads = [*words("system", "less"), *(Column(point.title) for point in told.points)]
    return Table(f"{told.dataset}: differences of {MEASURES[name].title}", heads, rows, note, _means_of(told, name, each=True))


def _difference(pairs: Pairs, name: str) -> Cell:
    one = difference(pairs, found(name))
    if one is None:
        return Cell(NOTHING)
    better = one.mean * MEASURES[name].better > 0
    sign = (" ▲" if better else " ▼") if one.low > 0 or one.high < 0 else ""
    return Cell(points(one.mean) + sign, f"{points(one.low)} to {points(one.high)}")


def _ablations(told: Means) -> Table:
    """Give the ablations of the design, each where it wins and where it loses."""
    rows = []
    for name, (system, degraded, share) in ABLATIONS.items():
        lines = told.of(system, Point(degraded, share)) if Point(degraded, share) in told.points else []
        estimates = [(measure, measure.of(lines)) for measure in MEASURES.values()]
        cells = [Cell(measure.shown(one.value), interval(measure, one)) if one else Cell(NOT_RUN) for measure, one in estimates]
        rows.append([Cell(name, head=True), Cell(f"{system}, {Point(degraded, share).title}"), *cells])
    heads = [*words("ablation", "what it is")]
    heads += [Column(measure.title, measure.meaning) for measure in MEASURES.values()]
    return Table(f"{told.dataset}: ablations", heads, rows, "", _means_of(told, "recall@10"))


def _means_of(told: Means, name: str, type: str | None = None, each: bool = False) -> str:
    """Give the command that prints the means of a measure from the lines, or each question's."""
    tests = [".system", f".dataset == {json.dumps(told.dataset)}", *([f".type == {json.dumps(type)}"] if type is not None else [])]
    by = [".system", ".degraded", ".share", *([".id"] if each else [])]
    value = f".retrieval[{json.dumps(name)}]"
    program = (
        f"map(select({' and '.join(tests)} and {value} != null)) | group_by([{', '.join(by)}])[] | "
        f"[(.[0] | {', '.join(by)}), (map({value}) | add / length)]"
    )
    return f"jq -sc {shlex.quote(program)} {RESULTS}"
