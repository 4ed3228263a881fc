"""A run beside a paper: published figures in a report, and the report on a paper that is reproduced, with what differs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ramify.evaluation.load import DEMO
from ramify.evaluation.papers.paper import Paper, PaperRow, PaperTable
from ramify.evaluation.papers.prune import ABLATIONS, PRUNE
from ramify.evaluation.papers.tor import DEPTHS, METHODS, TOR
from ramify.evaluation.report._answers import ablations, sweeps
from ramify.evaluation.report._blocks import (
    NOTHING,
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
from ramify.evaluation.report._run import caveats
from ramify.evaluation.results import ResultLine, Run, measures
from ramify.evaluation.results.measures import Measure, common, plain, ratio, spent
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
    yield caveats(run)


def tables(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the paper's tables on every data set, and the curves along what is swept."""
    for dataset in run.scored:
        yield from (_table(run, dataset, table, paper.missing) for table in paper.tables)
    yield from (block for block in sweeps(run) if isinstance(block, Plot))


def _table(run: Run, dataset: str, table: PaperTable, missing: Sequence[str]) -> Table:
    listed = [row for row in table.rows if row.strategy not in missing]
    keys = [(dataset, row.strategy, row.variant) for row in listed]
    groups = [
        LineGroup(row.name, run.answered.get(key, []), LineFilter(*key) if key in run.answered else None)
        for row, key in zip(listed, keys, strict=True)
    ]
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


def _beside(row: PaperRow, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield our cells with the paper's figures in them."""
    for place, cell in enumerate(cells):
        theirs = f"paper {row.figures[place]}" if row.figures[place : place + 1] else ""
        yield replace(cell, detail="; ".join(filter(None, (cell.detail, theirs))))


def comparisons(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the paper's strategy less each other, and what each of them costs, in its multiples."""
    if not paper.main:
        return
    main = paper.main
    others = [row for row in paper.tables[0].rows if row.strategy not in (main, *paper.missing)]
    contests, costs = [], []
    for dataset in run.scored:
        own = run.answered.get((dataset, main, ""), [])
        for row in others:
            if pairs := common(own, run.answered.get((dataset, row.strategy, ""), [])):
                contests.append(Comparison((dataset, row.name), pairs, LineFilter(dataset, main, "", beside=(row.strategy, ""))))
                costs.append(_cost(dataset, row, [(other, line) for line, other in pairs]))
    if contests:
        lines = LineFilter(variant="").jq
        note = f"{main} less the method, in points, on the questions both were asked."
        yield paired_table(f"{main} less the others", contests, ("data set", "method"), "the method", note, lines)
        speed = dict(paper.claims).get("Speed")
        about = f"{COSTS} The paper claims for its speed: {speed}." if speed else COSTS
        columns = [*words("data set", "method"), *columns_of((measures.CALLS, measures.SECONDS))]
        columns += [Column("× calls", f"calls over those of {main}"), Column("× s", f"seconds over those of {main}")]
        yield Table(f"Cost, in multiples of {main}", columns, costs, about, lines)
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


def _cost(dataset: str, row: PaperRow, pairs: list[tuple[ResultLine, ResultLine]]) -> list[Cell]:
    where = LineFilter(dataset, row.strategy, "")
    theirs = [line for line, _ in pairs]
    means = [figure(one, one.of(theirs), where) for one in (measures.CALLS, measures.SECONDS)]
    times = [figure(TIMES, ratio(pairs, spent(name)), where) for name in ("llm_calls", "wall_s")]
    return [Cell(dataset), Cell(row.name, head=True, where=where), *means, *times]


TIMES = Measure("times", "", lambda lines: None, plain)
"""How a ratio is formatted."""
RETRIEVERS = "MultiHop-RAG, from secondary sources, top 10 of 256-token chunks"
SEARCHES = {
    "bge-large-en-v1.5": (".4298", ".6718", ".5221"),
    "voyage-02 with bge-reranker-large": (".5860", ".7467", ".6625"),
}
"""MRR@10, Hits@10 and Hits@4."""
GUESSES = (
    'On the full MultiHop-RAG set, always saying "Yes" scores about 30.6 EM, and the most frequent answer of each question type about 53.'
)
OF_PRUNE = ("hotpotqa", "2wiki", "musique")
SEARCHED = (measures.MRR10, measures.HITS10, measures.HITS4)


def published(run: Run) -> Iterator[Block]:
    """Report published figures beside ours, if a paper is about these data sets."""
    blocks = [block for dataset in run.datasets for block in _published_of(run, dataset)]
    if not blocks:
        return
    warning = (
        f"The papers' figures are no baseline of ours: ours were made with the model {run.manifest.get('model')}, other embeddings and "
        "other questions, and what each data set's caveats say holds. An empty cell was not run."
    )
    yield from (Words(warning, "warning"), *blocks)
    if any(_about(dataset, OF_PRUNE) for dataset in run.datasets):
        source = f"What the PruneRAG paper claims ({PRUNE.source})."
        told = f"{source} Its tables and curves are not available, so ours stand beside these claims only."
        yield from (Words(told), Points(PRUNE.claims))


def _published_of(run: Run, dataset: str) -> Iterator[Block]:
    if _about(dataset, ("multihoprag",)):
        yield from _published(run, dataset, "answers", METHODS.rows, (measures.EM, measures.F1), TOR.source)
        yield from _published(run, dataset, "depth of the tree", DEPTHS.rows, (measures.EM, measures.F1), TOR.source)
        yield from (Words(GUESSES), _retrievers(run, dataset))
    if _about(dataset, OF_PRUNE):
        yield from _published(
            run, dataset, "evidence forgetting", [row for row in ABLATIONS.rows if row.figures], (measures.FORGETTING_FOUND,), PRUNE.source
        )


def _about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _published(run: Run, dataset: str, title: str, papers: Sequence[PaperRow], measures: Sequence[Measure], source: str) -> Iterator[Table]:
    """Yield a table, if any of its rows was run."""
    found = [(one, run.answered.get((dataset, one.strategy, one.variant), [])) for one in papers]
    if not any(lines for _, lines in found):
        return
    rows = []
    for one, lines in found:
        where = LineFilter(dataset, one.strategy, one.variant) if lines else None
        name, count = Cell(f"{one.strategy} {one.variant}".strip(), where=where), Cell(str(len(lines)) if lines else NOTHING)
        ours = [figure(measure, measure.of(lines), where) for measure in measures]
        rows.append([Cell(one.name, head=True), *map(Cell, one.figures), name, count, *ours])
    columns = [*words("published"), *(Column(f"{measure.title}, paper") for measure in measures), *words("ours"), Column("n, ours")]
    columns += [Column(f"{measure.title}, ours", measure.meaning) for measure in measures]
    yield Table(f"{dataset}: {title}", columns, rows, f"Published: {source}.")


def _retrievers(run: Run, dataset: str) -> Table:
    rows = [[Cell(name, head=True), Cell("published"), *map(Cell, figures)] for name, figures in SEARCHES.items()]
    for (name, strategy, variant), lines in run.groups.items():
        if name == dataset and any(line.ranked for line in lines) and (not variant or lines[0].searched):
            where = LineFilter(dataset, strategy, variant)
            told = [f"{one.value:.4f}".removeprefix("0") for measure in SEARCHED if (one := measure.of(lines))]
            leads = Cell(f"{strategy} {variant}".strip(), head=True, where=where), Cell("ours")
            rows.append([*leads, *(Cell(figure, where=where) for figure in told)])
    note = (
        f"Published: {RETRIEVERS}. Ours take the passages in the order in which the last call is given them, and are figures of the "
        "data set as it is described above: where its articles are reconstructed, they are not MultiHop-RAG results."
    )
    return Table(f"{dataset}: retrieval", [*words("retriever", "source"), *columns_of(SEARCHED)], rows, note)
