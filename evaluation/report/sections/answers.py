"""Every strategy on every data set, at its own settings, beside what costs nothing to guess."""

from collections.abc import Sequence

import numpy as np

from ramify.evaluation.metrics.answers import containment, exact_match, official_multihop_rag, token_f1
from ramify.evaluation.metrics.priors import majority, majority_by_type
from ramify.evaluation.report.blocks import Block, Cell, Column, Plot, Points, Section, Table, Where
from ramify.evaluation.report.tables import NOTHING, Group, interval, measured
from ramify.evaluation.results.columns import ANSWERS, ANSWERS_BY_FACTS, CONTAINED, COST, EM, F1, OFFICIAL, RETRIEVAL
from ramify.evaluation.results.measures import Estimate, Measure, interval_of, percent
from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.rows import Row

SCORES = {
    EM.title: lambda answer, row: exact_match(answer, [row["gold"], *(row.get("aliases") or [])]),
    F1.title: lambda answer, row: token_f1(answer, [row["gold"], *(row.get("aliases") or [])]),
    CONTAINED.title: lambda answer, row: containment(answer, [row["gold"], *(row.get("aliases") or [])]),
    OFFICIAL.title: lambda answer, row: official_multihop_rag(answer, row["gold"]),
}
"""How a guess is scored, by the title of the column."""


def at_a_glance(run: Run) -> Section | None:
    """Show EM and F1 of every strategy on every data set in one table and two drawings; none where nothing was scored."""
    if not run.scored:
        return None
    names = list(dict.fromkeys(strategy for dataset in run.scored for strategy in run.of(dataset)))
    tables = {dataset: measured("", _groups(run, dataset), (EM, F1)) for dataset in run.scored}
    cells = {(dataset, row[0].text): row[2:] for dataset, table in tables.items() for row in table.rows}
    rows = [
        [Cell(name, head=True), *(cell for dataset in run.scored for cell in cells.get((dataset, name), [Cell("–")] * 2))] for name in names
    ]
    columns = [Column(f"{dataset} {title}") for dataset in run.scored for title in ("EM", "F1")]
    asked = {dataset: found for dataset in run.scored if (found := run.of(dataset))}
    pareto = "Quality against cost: the dashed line joins the strategies that no cheaper one equals. Figures: the tables of each data set."
    blocks: list[Block] = [
        Table("EM and F1", [Column("strategy"), *columns], rows, lines=Where(variant="").jq),
        Plot.drawn("Answers: EM (filled) and F1 (hollow) of each strategy, with 95 % intervals.", "answers", asked),
        Plot.drawn(pareto, "pareto", asked),
    ]
    return Section("glance", "At a glance", blocks)


def _groups(run: Run, dataset: str) -> list[Group]:
    """Give each strategy's lines on a data set, at the run's own settings."""
    return [Group(strategy, lines, Where(dataset, strategy, "")) for strategy, lines in run.of(dataset).items()]


def of_dataset(run: Run, dataset: str, name: str) -> Section:
    """Give the tables of a data set."""
    groups, lines = _groups(run, dataset), Where(dataset, variant="").jq
    answers = measured("Answers", groups, ANSWERS_BY_FACTS if run.by_facts(dataset) else ANSWERS, lines=lines)
    caveats = [("Mind", str(caveat)) for caveat in run.described(dataset).get("caveats") or ()]
    blocks: list[Block] = [Points(caveats), _with_priors(answers, run, dataset)]
    searches = [
        Group(f"{strategy} {variant}".strip(), found, Where(dataset, strategy, variant))
        for (name_of, strategy, variant), found in run.searched.items()
        if name_of == dataset
    ]
    if searching := [group for group in [*groups, *searches] if any(line.row.get("retrieval") for line in group.lines)]:
        note = (
            "In the order in which the last call is given the passages; “search” asks the index the whole question once, without a model."
            + (" Gold are facts: a passage counts that contains one." if run.by_facts(dataset) else "")
        )
        blocks.append(measured("Retrieval", searching, RETRIEVAL, note=note, lines=lines))
    blocks.append(measured("Cost of a question", groups, COST, note="Of the questions that did not fail.", lines=lines))
    asked = run.of(dataset)
    types = sorted({str(line.row.get("type") or "") for found in asked.values() for line in found})
    if len(types) > 1:
        blocks += [_by_type(measure, asked, dataset, types) for measure in (EM, F1)]
    return Section(name, dataset, [block for block in blocks if not isinstance(block, Table) or len(block.columns) > 2])


def _by_type(measure: Measure, asked: dict[str, list[Line]], dataset: str, types: Sequence[str]) -> Table:
    columns, cells = [], []
    for kind in types:
        of_type = {name: [line for line in lines if str(line.row.get("type") or "") == kind] for name, lines in asked.items()}
        groups = [Group(name, lines, Where(dataset, name, "", kind)) for name, lines in of_type.items()]
        columns.append(Column(f"{kind or 'no type'} ({max(len(group.lines) for group in groups)})"))
        cells.append([row[2] if len(row) > 2 else Cell("–") for row in measured("", groups, (measure,)).rows])
    rows = [
        [Cell(name, where=Where(dataset, name, ""), head=True), *(column[place] for column in cells)] for place, name in enumerate(asked)
    ]
    return Table(f"{measure.title} by type of question", [Column("strategy"), *columns], rows, lines=Where(dataset, variant="").jq)


def _with_priors(table: Table, run: Run, dataset: str) -> Table:
    """Put what can be guessed without reading, scored like a strategy, below a table of answers, over every question that was asked."""
    rows = list({line.row["id"]: line.row for lines in run.of(dataset).values() for line in lines if line.row.get("gold")}.values())
    if not rows:
        return Table(table.title, table.columns, table.rows, "", table.lines)
    types = [str(row.get("type") or "") for row in rows]
    guesses = {"majority answer": majority([row["gold"] for row in rows])}
    if len(set(types)) > 1:
        guesses["majority by type"] = majority_by_type([row["gold"] for row in rows], types)
    priors = [
        [Cell(name, head=True), Cell(str(len(rows))), *(_guessed(column.title, given, rows) for column in table.columns[2:])]
        for name, given in guesses.items()
    ]
    note = "Priors know the gold answers of these very questions: the most frequent of all, and the most frequent of each type."
    return Table(table.title, table.columns, [*table.rows, *priors], note, table.lines)


def _guessed(title: str, guesses: Sequence[str], rows: Sequence[Row]) -> Cell:
    if title not in SCORES:
        return Cell(NOTHING)
    values = [SCORES[title](guess, row) for guess, row in zip(guesses, rows, strict=True)]
    told = Estimate(float(np.mean(values)), len(values), *interval_of(tuple(values)))
    return Cell(percent(told.value), interval(EM, told))
