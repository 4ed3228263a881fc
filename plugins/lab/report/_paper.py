"""Comparison of runs with papers: published figures in a report, and the report on a reproduced paper."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ramify.lab.load import DEMO_DATASET
from ramify.lab.papers.paper import Paper, PaperRow, PaperTable
from ramify.lab.papers.prune import ABLATIONS_TABLE, PRUNE_PAPER
from ramify.lab.papers.tor import DEPTHS_TABLE, METHODS_TABLE, TOR_PAPER
from ramify.lab.report._answers import ablations_section, sweeps_section
from ramify.lab.report._blocks import (
    EMPTY_CELL,
    Block,
    BulletList,
    Cell,
    Column,
    Comparison,
    LineFilter,
    LineGroup,
    Plot,
    Table,
    TextBlock,
    estimate_cell,
    measure_cells,
    measure_columns,
    paired_table,
    text_columns,
)
from ramify.lab.report._run import caveat_list
from ramify.lab.results import ResultLine, Run, measures
from ramify.lab.results.measures import Measure, cost_value, format_number, pair_lines, paired_ratio
from ramify.lab.task import RESULTS

ALL_RESULTS = f"*/{RESULTS}"
"""Pattern of the result files of all runs, from the folder of the reproduction."""
CELL_NOTE = "In each cell ours with its 95 % interval, then the paper's figure, where it gives one."
NONE_GIVEN = "not given by the source"


def merge_runs(folder: Path, runs: Mapping[str, Run]) -> Run:
    """Return several runs, given by their folders below this one, merged into one; no two have the same strategy."""
    manifests = [run.manifest for run in runs.values()]
    lists = {name: [entry for manifest in manifests for entry in manifest[name]] for name in ("strategies", "variants", "datasets")}
    lists["datasets"] = list({entry["name"]: entry for entry in lists["datasets"]}.values())
    lines = [_with_folder(run.lines, name) for name, run in runs.items()], [_with_folder(run.degraded, name) for name, run in runs.items()]
    warnings = tuple(f"{name}: {warning}" for name, run in runs.items() for warning in run.warnings)
    return Run(folder, {**manifests[-1], **lists}, sum(lines[0], ()), warnings, sum(lines[1], ()))


def _with_folder(lines: Iterable[ResultLine], name: str) -> tuple[ResultLine, ...]:
    return tuple(replace(line, file=f"{name}/{line.file}") for line in lines)


def with_all_results(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks with commands that read the lines of all runs."""
    for block in blocks:
        yield (
            replace(block, lines=block.lines.replace(RESULTS, ALL_RESULTS))
            if isinstance(block, Table) and ALL_RESULTS not in block.lines
            else block
        )


def paper_section(paper: Paper, run: Run) -> Iterator[Block]:
    """Report what was reproduced, and in which folders the runs are."""
    if any(name.split("-")[0] == DEMO_DATASET for name in run.datasets):
        yield TextBlock("The demo's questions are a demonstration of this command. They are not the paper's data.", "warning")
    yield TextBlock(f"{paper.title}: {paper.about}. {CELL_NOTE} Each of ours leads to the questions that it is computed from.")
    yield BulletList(
        [("The paper's figures", paper.source), *(("Report on a run", f"{options.out}/report.html") for options in paper.runs)]
    )


def deviations_section(paper: Paper, run: Run) -> Iterator[Block]:
    """Report where this reproduction differs from the paper."""
    manifest = run.manifest
    base = ", ".join(f"{key}={value}" for key, value in (manifest.get("base") or {}).items())
    question_counts = [f"{run.dataset_entry(name).get('questions')} of {name}" for name in run.datasets]
    ours = {
        "model": str(manifest.get("model") or "none: only searches"),
        "retrieval": ", ".join(filter(None, (f"embedding {manifest.get('embedding')}", base))),
        "data": ", ".join(run.datasets),
        "questions": ", ".join(question_counts),
        "passages": f"{manifest.get('chunk_tokens', 300)} tokens",
    }
    rows = [[Cell(name, head=True), Cell(paper.setup.get(name, NONE_GIVEN)), Cell(value)] for name, value in ours.items()]
    yield Table("How it was measured", text_columns("what", "the paper", "here"), rows)
    missing = [("Left out", f"{name}: no such strategy is registered") for name in paper.missing]
    yield BulletList([*(("Choice", text) for text in paper.deviations), *missing, *(("Not done", text) for text in paper.left_out)])
    yield caveat_list(run)


def tables_section(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the paper's tables on every data set, and the curves along what is swept."""
    for dataset in run.datasets_with_gold:
        yield from (_paper_table(run, dataset, table, paper.missing) for table in paper.tables)
    yield from (block for block in sweeps_section(run) if isinstance(block, Plot))


def _paper_table(run: Run, dataset: str, table: PaperTable, missing: Sequence[str]) -> Table:
    rows_run = [row for row in table.rows if row.strategy not in missing]
    keys = [(dataset, row.strategy, row.variant) for row in rows_run]
    groups = [
        LineGroup(row.name, run.answered.get(key, []), LineFilter(*key) if key in run.answered else None)
        for row, key in zip(rows_run, keys, strict=True)
    ]
    columns = [measure_cells(measure, groups) for measure in table.measures]
    rows = [
        [Cell(group.name, where=group.where, head=True), Cell(str(len(group.lines)), where=group.where), *_with_paper_figures(row, cells)]
        for row, group, cells in zip(rows_run, groups, zip(*columns, strict=True), strict=True)
    ]
    absent = ", ".join(row.name for row in table.rows if row.strategy in missing)
    note = " ".join(filter(None, (table.note, f"Not run: {absent}." if absent else "")))
    strategies = list(dict.fromkeys(row.strategy for row in rows_run))
    lines = LineFilter(dataset, strategies[0] if len(strategies) == 1 else None).jq
    titles = [*text_columns(table.lead), Column("n", "questions, ours"), *measure_columns(table.measures)]
    return Table(f"{dataset}: {table.title}", titles, rows, note, lines.replace(RESULTS, ALL_RESULTS))


def _with_paper_figures(row: PaperRow, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield our cells with the paper's figures as details."""
    for place, cell in enumerate(cells):
        theirs = f"paper {row.figures[place]}" if row.figures[place : place + 1] else ""
        yield replace(cell, detail="; ".join(filter(None, (cell.detail, theirs))))


def comparisons_section(paper: Paper, run: Run) -> Iterator[Block]:
    """Report the differences of the paper's strategy from the others, and their costs as multiples of its costs."""
    if not paper.main:
        return
    main = paper.main
    others = [row for row in paper.tables[0].rows if row.strategy not in (main, *paper.missing)]
    comparisons, costs = [], []
    for dataset in run.datasets_with_gold:
        main_lines = run.answered.get((dataset, main, ""), [])
        for row in others:
            if pairs := pair_lines(main_lines, run.answered.get((dataset, row.strategy, ""), [])):
                comparisons.append(Comparison((dataset, row.name), pairs, LineFilter(dataset, main, "", compared_with=(row.strategy, ""))))
                costs.append(_cost_row(dataset, row, [(other, line) for line, other in pairs]))
    if comparisons:
        lines = LineFilter(variant="").jq
        note = f"{main} less the method, in points, on the questions both were asked."
        yield paired_table(f"{main} less the others", comparisons, ("data set", "method"), "the method", note, lines)
        speed = dict(paper.claims).get("Speed")
        about = f"{COST_NOTE} The paper claims for its speed: {speed}." if speed else COST_NOTE
        columns = [*text_columns("data set", "method"), *measure_columns((measures.MODEL_CALLS, measures.WALL_SECONDS))]
        columns += [Column("× calls", f"calls over those of {main}"), Column("× s", f"seconds over those of {main}")]
        yield Table(f"Cost, in multiples of {main}", columns, costs, about, lines)
    yield from ablations_section(run)


def claims_section(paper: Paper) -> Iterator[Block]:
    """Report the claims of the paper."""
    if paper.claims:
        yield TextBlock(f"Measured on: {paper.source}. Ours is in the tables above.")
        yield BulletList(paper.claims)


COST_NOTE = (
    "Times: the method's mean over that of the paper's strategy, with its bootstrap interval over the questions; above 1 the method is "
    "dearer. The embedded model and llama.cpp keep earlier work, so that seconds flatter what runs later: compare calls."
)


def _cost_row(dataset: str, row: PaperRow, pairs: list[tuple[ResultLine, ResultLine]]) -> list[Cell]:
    where = LineFilter(dataset, row.strategy, "")
    theirs = [line for line, _ in pairs]
    means = [estimate_cell(measure, measure.of(theirs), where) for measure in (measures.MODEL_CALLS, measures.WALL_SECONDS)]
    times = [estimate_cell(RATIO_MEASURE, paired_ratio(pairs, cost_value(name)), where) for name in ("llm_calls", "wall_s")]
    return [Cell(dataset), Cell(row.name, head=True, where=where), *means, *times]


RATIO_MEASURE = Measure("times", "", lambda lines: None, format_number)
"""A measure that only formats ratios."""
RETRIEVERS_SOURCE = "MultiHop-RAG, from secondary sources, top 10 of 256-token chunks"
PUBLISHED_RETRIEVERS = {
    "bge-large-en-v1.5": (".4298", ".6718", ".5221"),
    "voyage-02 with bge-reranker-large": (".5860", ".7467", ".6625"),
}
"""MRR@10, Hits@10 and Hits@4."""
MAJORITY_NOTE = (
    'On the full MultiHop-RAG set, always saying "Yes" scores about 30.6 EM, and the most frequent answer of each question type about 53.'
)
PRUNE_DATASETS = ("hotpotqa", "2wiki", "musique")
RETRIEVER_MEASURES = (measures.MRR10, measures.HITS10, measures.HITS4)


def published_section(run: Run) -> Iterator[Block]:
    """Report published figures next to ours, if a paper has results on these data sets."""
    blocks = [block for dataset in run.datasets for block in _published_blocks(run, dataset)]
    if not blocks:
        return
    warning = (
        f"The papers' figures are no baseline of ours: ours were made with the model {run.manifest.get('model')}, other embeddings and "
        "other questions, and what each data set's caveats say holds. An empty cell was not run."
    )
    yield from (TextBlock(warning, "warning"), *blocks)
    if any(_is_about(dataset, PRUNE_DATASETS) for dataset in run.datasets):
        source = f"What the PruneRAG paper claims ({PRUNE_PAPER.source})."
        note = f"{source} Its tables and curves are not available, so ours stand beside these claims only."
        yield from (TextBlock(note), BulletList(PRUNE_PAPER.claims))


def _published_blocks(run: Run, dataset: str) -> Iterator[Block]:
    if _is_about(dataset, ("multihoprag",)):
        yield from _published_table(run, dataset, "answers", METHODS_TABLE.rows, (measures.EM, measures.F1), TOR_PAPER.source)
        yield from _published_table(run, dataset, "depth of the tree", DEPTHS_TABLE.rows, (measures.EM, measures.F1), TOR_PAPER.source)
        yield from (TextBlock(MAJORITY_NOTE), _retrievers_table(run, dataset))
    if _is_about(dataset, PRUNE_DATASETS):
        yield from _published_table(
            run,
            dataset,
            "evidence forgetting",
            [row for row in ABLATIONS_TABLE.rows if row.figures],
            (measures.FORGETTING_FOUND,),
            PRUNE_PAPER.source,
        )


def _is_about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _published_table(
    run: Run, dataset: str, title: str, papers: Sequence[PaperRow], measures: Sequence[Measure], source: str
) -> Iterator[Table]:
    """Yield a table, if any of its rows was run."""
    row_lines = [(row, run.answered.get((dataset, row.strategy, row.variant), [])) for row in papers]
    if not any(lines for _, lines in row_lines):
        return
    rows = []
    for paper_row, lines in row_lines:
        where = LineFilter(dataset, paper_row.strategy, paper_row.variant) if lines else None
        name, count = Cell(f"{paper_row.strategy} {paper_row.variant}".strip(), where=where), Cell(str(len(lines)) if lines else EMPTY_CELL)
        ours = [estimate_cell(measure, measure.of(lines), where) for measure in measures]
        rows.append([Cell(paper_row.name, head=True), *map(Cell, paper_row.figures), name, count, *ours])
    columns = [
        *text_columns("published"),
        *(Column(f"{measure.title}, paper") for measure in measures),
        *text_columns("ours"),
        Column("n, ours"),
    ]
    columns += [Column(f"{measure.title}, ours", measure.meaning) for measure in measures]
    yield Table(f"{dataset}: {title}", columns, rows, f"Published: {source}.")


def _retrievers_table(run: Run, dataset: str) -> Table:
    rows = [[Cell(name, head=True), Cell("published"), *map(Cell, figures)] for name, figures in PUBLISHED_RETRIEVERS.items()]
    for (name, strategy, variant), lines in run.groups.items():
        if name == dataset and any(line.has_retrieval_scores for line in lines) and (not variant or lines[0].search_only):
            where = LineFilter(dataset, strategy, variant)
            values = [f"{estimate.value:.4f}".removeprefix("0") for measure in RETRIEVER_MEASURES if (estimate := measure.of(lines))]
            leads = Cell(f"{strategy} {variant}".strip(), head=True, where=where), Cell("ours")
            rows.append([*leads, *(Cell(figure, where=where) for figure in values)])
    note = (
        f"Published: {RETRIEVERS_SOURCE}. Ours take the passages in the order in which the last call is given them, and are figures of the "
        "data set as it is described above: where its articles are reconstructed, they are not MultiHop-RAG results."
    )
    return Table(f"{dataset}: retrieval", [*text_columns("retriever", "source"), *measure_columns(RETRIEVER_MEASURES)], rows, note)
