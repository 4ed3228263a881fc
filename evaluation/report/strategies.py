"""The main tables: every strategy on every data set, at its own settings, beside what costs nothing to guess."""

from collections.abc import Sequence

from ramify.evaluation.report.blocks import Block, Cell, Column, Points, Section, Table, Where
from ramify.evaluation.report.columns import ANSWERS, ANSWERS_BY_FACTS, COST, EM, F1, RETRIEVAL
from ramify.evaluation.report.measures import Measure
from ramify.evaluation.report.priors import prior_rows
from ramify.evaluation.report.run import Line, Run
from ramify.evaluation.report.tables import Group, measured


def groups_of(run: Run, dataset: str) -> list[Group]:
    """Give each strategy's lines on a data set, at the run's own settings."""
    return [Group(strategy, lines, Where(dataset, strategy, "")) for strategy, lines in run.of(dataset).items()]


def searches_of(run: Run, dataset: str) -> list[Group]:
    """Give the lines of each way of searching a data set."""
    found = {group: lines for group, lines in run.searched.items() if group[0] == dataset}
    return [
        Group(f"{strategy} {variant}".strip(), lines, Where(dataset, strategy, variant)) for (_, strategy, variant), lines in found.items()
    ]


def at_a_glance(run: Run) -> Table:
    """Show EM and F1 of every strategy on every data set."""
    names = list(dict.fromkeys(strategy for dataset in run.scored for strategy in run.of(dataset)))
    tables = {dataset: measured("", groups_of(run, dataset), (EM, F1)) for dataset in run.scored}
    cells = {(dataset, row[0].text): row[2:] for dataset, table in tables.items() for row in table.rows}
    rows = [
        [Cell(name, head=True), *(cell for dataset in run.scored for cell in cells.get((dataset, name), [Cell("–")] * 2))] for name in names
    ]
    columns = [Column(f"{dataset} {title}") for dataset in run.scored for title in ("EM", "F1")]
    return Table("EM and F1", [Column("strategy"), *columns], rows, lines=Where(variant="").jq)


def of_dataset(run: Run, dataset: str, name: str) -> Section:
    """Give the tables of a data set."""
    groups = groups_of(run, dataset)
    measures = ANSWERS_BY_FACTS if run.by_facts(dataset) else ANSWERS
    lines = Where(dataset, variant="").jq
    answers = measured("Answers", groups, measures, lines=lines)
    caveats = [("Mind", str(caveat)) for caveat in run.described(dataset).get("caveats") or ()]
    blocks: list[Block] = [Points(caveats), with_priors(answers, run, dataset)]
    searching = [group for group in [*groups, *searches_of(run, dataset)] if any(line.row.get("retrieval") for line in group.lines)]
    if searching:
        note = (
            "In the order in which the last call is given the passages; “search” asks the index the whole question once, without a model."
            + (" Gold are facts: a passage counts that contains one." if run.by_facts(dataset) else "")
        )
        blocks.append(measured("Retrieval", searching, RETRIEVAL, note=note, lines=lines))
    blocks.append(measured("Cost of a question", groups, COST, note="Of the questions that did not fail.", lines=lines))
    blocks += by_type(run, dataset)
    return Section(name, dataset, [block for block in blocks if not isinstance(block, Table) or len(block.columns) > 2])


def with_priors(table: Table, run: Run, dataset: str) -> Table:
    """Put what can be guessed without reading below a table of answers."""
    rows = prior_rows(run, dataset, [column.title for column in table.columns])
    note = (
        "Priors know the gold answers of these very questions: the most frequent of all, and the most frequent of each type."
        if rows
        else ""
    )
    return Table(table.title, table.columns, [*table.rows, *rows], note, table.lines)


def by_type(run: Run, dataset: str) -> list[Block]:
    """Give EM and F1 by the type of the question, where there is more than one type."""
    asked = run.of(dataset)
    types = sorted({str(line.row.get("type") or "") for lines in asked.values() for line in lines})
    if len(types) < 2:
        return []
    return [_by_type(measure, asked, dataset, types) for measure in (EM, F1)]


def _by_type(measure: Measure, asked: dict[str, list[Line]], dataset: str, types: Sequence[str]) -> Table:
    columns, cells = [], []
    for kind in types:
        groups = [Group(name, _of_type(lines, kind), Where(dataset, name, "", kind)) for name, lines in asked.items()]
        most = max(len(group.lines) for group in groups)
        columns.append(Column(f"{kind or 'no type'} ({most})"))
        cells.append([row[2] if len(row) > 2 else Cell("–") for row in measured("", groups, (measure,)).rows])
    rows = [
        [Cell(name, where=Where(dataset, name, ""), head=True), *(column[place] for column in cells)] for place, name in enumerate(asked)
    ]
    return Table(f"{measure.title} by type of question", [Column("strategy"), *columns], rows, lines=Where(dataset, variant="").jq)


def _of_type(lines: Sequence[Line], kind: str) -> list[Line]:
    return [line for line in lines if str(line.row.get("type") or "") == kind]
