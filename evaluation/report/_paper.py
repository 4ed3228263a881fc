"""The report on a paper: its tables with its figures beside ours, curves, differences, cost, and where we deviate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ramify.evaluation.load import DEMO
from ramify.evaluation.papers.paper import Paper, PaperRow, PaperTable
from ramify.evaluation.report._answers import ablations, sweeps
from ramify.evaluation.report._blocks import (
    Block,
    Cell,
    Column,
    Comparison,
    LineFilter,
    LineGroup,
    Plot,
    Points,
    Table,
    Words,
    columns_of,
    figure,
    measure_cells,
    paired_table,
    words,
)
from ramify.evaluation.results import Key, ResultLine, Run
from ramify.evaluation.results.measures import CALLS, SECONDS, Measure, common, plain, ratio, spent
from ramify.evaluation.task import RESULTS

EVERY = f"*/{RESULTS}"
"""The lines of all runs, from the folder of the reproduction."""
HOW = "In each cell ours with its 95 % interval, then the paper's figure, where it gives one."
NONE_GIVEN = "not told by the source"


def joined(folder: Path, runs: Mapping[str, Run]) -> Run:
    """Return several runs, by their folders below this one, as one run; no two have the same strategy."""
    manifests = [run.manifest for run in runs.values()]
    lists = {name: [one for told in manifests for one in told[name]] for name in ("strategies", "variants", "datasets")}
    lists["datasets"] = list({one["name"]: one for one in lists["datasets"]}.values())
    lines = [_placed(run.lines, name) for name, run in runs.items()], [_placed(run.degraded, name) for name, run in runs.items()]
    warnings = tuple(f"{name}: {warning}" for name, run in runs.items() for warning in run.warnings)
    return Run(folder, {**manifests[-1], **lists}, sum(lines[0], ()), warnings, sum(lines[1], ()))


def _placed(lines: Iterable[ResultLine], name: str) -> tuple[ResultLine, ...]:
    return tuple(replace(line, file=f"{name}/{line.file}") for line in lines)


def of_every(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks whose commands read the lines of all runs."""
    for block in blocks:
        yield replace(block, lines=block.lines.replace(RESULTS, EVERY)) if isinstance(block, Table) and EVERY not in block.lines else block


def about(paper: Paper, run: Run) -> Iterator[Block]:
    """Report what was reproduced, and in which folders the runs are."""
    if any(name.split("-")[0] == DEMO for name in run.datasets):
        yield Words("The demo's questions are a demonstration of this command. They are not the paper's data.", "warning")
    yield Words(f"{paper.title}: {paper.about}. {HOW} Each of ours leads to the questions that it is computed from.")
    yield Points([("The paper's figures", paper.source), *(("Report on a run", f"{order.out}/report.html") for order in paper.runs)])


def deviations(paper: Paper, run: Run) -> Iterator[Block]:
    """Report where this reproduction differs from the paper."""
    told = run.manifest
    base = ", ".join(f"{key}={value}" for key, value in (told.get("base") or {}).items())
    asked = [f"{run.described(name).get('questions')} of {name}" for name in run.datasets]
    here = {
        "model": str(told.get("model") or "none: only searches"),
        "retrieval": ", ".join(filter(None, (f"embedding {told.get('embedding')}", base))),
        "data": ", ".join(run.datasets),
        "questions": ", ".join(asked),
        "passages": f"{told.get('chunk_tokens', 300)} tokens",
    }
    rows = [[Cell(name, head=True), Cell(paper.setup.get(name, NONE_GIVEN)), Cell(value)] for name, value in here.items()]
    yield Table("How it was measured", words("what", "the paper", "here"), rows)
    missing = [("Left out", f"{name}: no such strategy is registered") for name in paper.missing]
    yield Points([*(("Choice", one) for one in paper.deviations), *missing, *(("Not done", one) for one in paper.left_out)])
    yield Points([(name, str(caveat)) for name in run.datasets for caveat in run.described(name).get("caveats") or ()])


def tables(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the paper's tables on every data set, and the curves along what is swept."""
    for dataset in run.scored:
        yield from (_table(run, dataset, table, paper.missing) for table in paper.tables)
    yield from (block for block in sweeps(run) if isinstance(block, Plot))


def _table(run: Run, dataset: str, table: PaperTable, missing: Sequence[str]) -> Table:
    listed = [row for row in table.rows if row.strategy not in missing]
    groups = [_group(run, dataset, row) for row in listed]
    columns = [measure_cells(measure, groups) for measure in table.measures]
    rows = [
        [Cell(group.name, where=group.where, head=True), Cell(str(len(group.lines)), where=group.where), *_beside(row, cells)]
        for row, group, cells in zip(listed, groups, zip(*columns, strict=True), strict=True)
    ]
    absent = ", ".join(row.name for row in table.rows if row.strategy in missing)
    note = " ".join(filter(None, (table.note, f"Not run: {absent}." if absent else "")))
    strategies = list(dict.fromkeys(row.strategy for row in listed))
    lines = LineFilter(dataset, strategies[0] if len(strategies) == 1 else None).jq
    titles = [*words(table.lead), Column("n", "questions, ours"), *columns_of(table.measures)]
    return Table(f"{dataset}: {table.title}", titles, rows, note, lines.replace(RESULTS, EVERY))


def _group(run: Run, dataset: str, row: PaperRow) -> LineGroup:
    key: Key = (dataset, row.strategy, row.variant)
    lines = run.answered.get(key, [])
    return LineGroup(row.name, lines, LineFilter(*key) if lines else None)


def _beside(row: PaperRow, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield our cells with the paper's figures in them."""
    for place, cell in enumerate(cells):
        theirs = f"paper {row.figures[place]}" if row.figures[place : place + 1] else ""
        yield replace(cell, detail="; ".join(filter(None, (cell.detail, theirs))))


def comparisons(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the paper's strategy less each other, and what each of them costs, in its multiples."""
    if not paper.main:
        return
    others = [row for row in paper.tables[0].rows if row.strategy not in (paper.main, *paper.missing)]
    contests, costs = [], []
    for dataset in run.scored:
        own = run.answered.get((dataset, paper.main, ""), [])
        for row in others:
            if pairs := common(own, run.answered.get((dataset, row.strategy, ""), [])):
                contests.append(Comparison((dataset, row.name), pairs, LineFilter(dataset, paper.main, "", beside=(row.strategy, ""))))
                costs.append(_cost(dataset, row, [(other, line) for line, other in pairs]))
    if contests:
        note = f"{paper.main} less the method, in points, on the questions both were asked."
        yield paired_table(f"{paper.main} less the others", contests, ("data set", "method"), "the method", note, LineFilter(variant="").jq)
        yield Table(f"Cost, in multiples of {paper.main}", _cost_columns(paper.main), costs, _about_costs(paper), LineFilter(variant="").jq)
    yield from ablations(run)


def claims(paper: Paper) -> Iterator[Block]:
    """Report what the paper claims in words."""
    if paper.claims:
        yield Words(f"Measured on: {paper.source}. Ours is in the tables above.")
        yield Points(paper.claims)


COSTS = (
    "Times: the method's mean over that of the paper's strategy, with its bootstrap interval over the questions; above 1 the method is "
    "dearer. The embedded model and llama.cpp keep earlier work, so that seconds flatter what runs later: compare calls."
)


def _about_costs(paper: Paper) -> str:
    speed = dict(paper.claims).get("Speed")
    return f"{COSTS} The paper claims for its speed: {speed}." if speed else COSTS


def _cost_columns(main: str) -> list[Column]:
    return [
        *words("data set", "method"),
        *columns_of((CALLS, SECONDS)),
        Column("× calls", f"calls over those of {main}"),
        Column("× s", f"seconds over those of {main}"),
    ]


def _cost(dataset: str, row: PaperRow, pairs: list[tuple[ResultLine, ResultLine]]) -> list[Cell]:
    where = LineFilter(dataset, row.strategy, "")
    theirs = [line for line, _ in pairs]
    shares = (figure(TIMES, ratio(pairs, spent(name)), where) for name in ("llm_calls", "wall_s"))
    return [
        Cell(dataset),
        Cell(row.name, head=True, where=where),
        *(figure(one, one.of(theirs), where) for one in (CALLS, SECONDS)),
        *shares,
    ]


TIMES = Measure("times", "", lambda lines: None, plain)
