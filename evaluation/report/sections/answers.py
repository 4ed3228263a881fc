"""Every strategy on every data set, at its own settings, beside what costs nothing to guess; and what its confidence is worth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ramify.evaluation.metrics.answers import containment, exact_match, official_multihop_rag, token_f1
from ramify.evaluation.metrics.calibration import expected_calibration_error, risk_coverage
from ramify.evaluation.metrics.priors import majority, majority_by_type
from ramify.evaluation.report.blocks import Block, Cell, Column, Plot, Points, Table, Where, words
from ramify.evaluation.report.tables import NOTHING, Group, figure, marked, measured
from ramify.evaluation.results.columns import ANSWERS, ANSWERS_BY_FACTS, CALIBRATION, CONTAINED, COST, EM, F1, OFFICIAL, RETRIEVAL
from ramify.evaluation.results.measures import Measure, confident, mean, percent
from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.rows import Row

SCORES: dict[str, Callable[[str, list[str]], float]] = {
    EM.title: exact_match,
    F1.title: token_f1,
    CONTAINED.title: containment,
    OFFICIAL.title: lambda answer, golds: official_multihop_rag(answer, golds[0]),
}
"""How a guess is scored, by the title of the column."""
CAPTION = (
    "Left: the share of right answers (EM) by confidence; a calibrated strategy follows the diagonal. Right: the share of wrong answers "
    "among those given, when only the most confident are given; lower is better."
)
CONFIDENCE = (
    *words("data set", "strategy"),
    Column("n", "questions that were answered, Unknown among them"),
    Column("confidence", "mean confidence"),
    Column("right", "share of right answers (EM)"),
    Column("ECE", CALIBRATION.meaning),
    Column("AURC", "area under the risk-coverage curve: the mean share of wrong answers over all thresholds; less is better"),
)


def at_a_glance(run: Run) -> Iterator[Block]:
    """Show EM and F1 of every strategy on every data set in one table and two drawings; nothing where nothing was scored."""
    if not run.scored:
        return
    asked = {dataset: run.of(dataset) for dataset in run.scored}
    columns: dict[str, dict[str, Cell]] = {}
    for dataset, strategies in asked.items():
        for measure in (EM, F1):
            cells = marked(measure, [Group.of((dataset, name, ""), lines) for name, lines in strategies.items()])
            columns[f"{dataset} {measure.title}"] = dict(zip(strategies, cells, strict=True))
    names = dict.fromkeys(name for strategies in asked.values() for name in strategies)
    rows = [[Cell(name, head=True), *(cells.get(name, Cell(NOTHING)) for cells in columns.values())] for name in names]
    yield Table("EM and F1", [*map(Column, ("strategy", *columns))], rows, lines=Where(variant="").jq)
    yield Plot.drawn("Answers: EM (filled) and F1 (hollow) of each strategy, with 95 % intervals.", "answers", asked)
    pareto = "Quality against cost: the dashed line joins the strategies that no cheaper one equals. Figures: the tables of each data set."
    yield Plot.drawn(pareto, "pareto", asked)


def of_dataset(run: Run, dataset: str) -> Iterator[Block]:
    """Give what a reader of a data set has to know, and its tables, as far as they have a measure."""
    yield Points([("Mind", str(caveat)) for caveat in run.described(dataset).get("caveats") or ()])
    yield from (table for table in _tables(run, dataset) if len(table.columns) > 2)


def _tables(run: Run, dataset: str) -> Iterator[Table]:
    asked, lines = run.of(dataset), Where(dataset, variant="").jq
    groups = [Group.of((dataset, strategy, ""), found) for strategy, found in asked.items()]
    answers = measured("Answers", groups, ANSWERS_BY_FACTS if run.by_facts(dataset) else ANSWERS, lines=lines)
    yield _with_priors(answers, list({line.row["id"]: line for found in asked.values() for line in found if line.row.get("gold")}.values()))
    searches = [Group.of(key, found) for key, found in run.searched.items() if key[0] == dataset]
    if searching := [group for group in [*groups, *searches] if any(line.ranked for line in group.lines)]:
        note = (
            "In the order in which the last call is given the passages; “search” asks the index the whole question once, without a model."
            + (" Gold are facts: a passage counts that contains one." if run.by_facts(dataset) else "")
        )
        yield measured("Retrieval", searching, RETRIEVAL, note=note, lines=lines)
    yield measured("Cost of a question", groups, COST, note="Of the questions that did not fail.", lines=lines)
    types = sorted({line.type for found in asked.values() for line in found})
    if len(types) > 1:
        yield from (_by_type(measure, asked, dataset, types) for measure in (EM, F1))


def _by_type(measure: Measure, asked: Mapping[str, Sequence[Line]], dataset: str, types: Sequence[str]) -> Table:
    columns, rows = [], [[Cell(name, where=Where(dataset, name, ""), head=True)] for name in asked]
    for kind in types:
        of_type = {name: [line for line in lines if line.type == kind] for name, lines in asked.items()}
        columns.append(Column(f"{kind or 'no type'} ({max(map(len, of_type.values()))})"))
        cells = marked(measure, [Group(name, lines, Where(dataset, name, "", kind)) for name, lines in of_type.items()])
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    return Table(f"{measure.title} by type of question", [Column("strategy"), *columns], rows, lines=Where(dataset, variant="").jq)


def _with_priors(table: Table, questions: Sequence[Line]) -> Table:
    """Put what can be guessed without reading, scored like a strategy, below a table of answers, over every question that was asked."""
    if not questions:
        return table
    golds, types = [line.row["gold"] for line in questions], [line.type for line in questions]
    guesses = {"majority answer": majority(golds)}
    if len(set(types)) > 1:
        guesses["majority by type"] = majority_by_type(golds, types)
    titles, rows = [column.title for column in table.columns[2:]], [line.row for line in questions]
    priors = [
        [Cell(name, head=True), Cell(str(len(rows))), *(_guessed(title, given, rows) for title in titles)]
        for name, given in guesses.items()
    ]
    note = "Priors know the gold answers of these very questions: the most frequent of all, and the most frequent of each type."
    return replace(table, rows=[*table.rows, *priors], note=note)


def _guessed(title: str, guesses: Sequence[str], rows: Sequence[Row]) -> Cell:
    if title not in SCORES:
        return Cell(NOTHING)
    golds = ([row["gold"], *(row.get("aliases") or [])] for row in rows)
    return figure(EM, mean([SCORES[title](guess, accepted) for guess, accepted in zip(guesses, golds, strict=True)]))


def calibration(run: Run) -> Iterator[Block]:
    """Show reliability and risk; nothing where no answer has a confidence."""
    asked = {dataset: {name: lines for name, lines in run.of(dataset).items() if confident(lines)[1]} for dataset in run.datasets}
    asked = {dataset: found for dataset, found in asked.items() if found}
    rows = []
    for dataset, name, lines in ((dataset, name, lines) for dataset, found in asked.items() for name, lines in found.items()):
        (sure, right), where = confident(lines), Where(dataset, name, "")
        means = (float(np.mean(sure)), float(np.mean(right)), expected_calibration_error(sure, right), risk_coverage(sure, right).area)
        figures = [str(len(right)), *map(percent, means)]
        rows.append([Cell(dataset), Cell(name, where=where, head=True), *(Cell(figure, where=where) for figure in figures)])
    if rows:
        yield Plot.drawn(CAPTION, "calibration", asked)
        yield Table("Calibration", CONFIDENCE, rows, lines=Where(variant="").jq)
