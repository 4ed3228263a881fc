"""The papers' figures beside ours, on the data sets that they are about."""

from collections.abc import Sequence

from ramify.evaluation.report.blocks import Block, Cell, Column, Points, Section, Table, Where, Words
from ramify.evaluation.report.columns import EM, F1, FORGETTING, RETRIEVAL
from ramify.evaluation.report.measures import Measure
from ramify.evaluation.report.papers import CLAIMS, DEPTHS, FORGOTTEN, GUESSES, PRUNE, RETRIEVERS, SEARCHES, STRATEGIES, TOR, Published
from ramify.evaluation.report.run import Line, Run
from ramify.evaluation.report.tables import NOTHING, interval

OF_PRUNE = ("hotpotqa", "2wiki", "musique")
SEARCHED = tuple(measure for title in ("MRR@10", "hits@10", "hits@4") for measure in RETRIEVAL if measure.title == title)


def published(run: Run) -> Section | None:
    """Put the papers' figures beside ours; none where no paper is about these data sets."""
    blocks = [block for dataset in run.datasets for block in _of(run, dataset)]
    if not blocks:
        return None
    warning = (
        f"The papers' figures are no baseline of ours: ours were made with the model {run.manifest.get('model')}, other embeddings and "
        "other questions, and what each data set's caveats say holds. An empty cell was not run."
    )
    claims = _claims() if any(_about(dataset, OF_PRUNE) for dataset in run.datasets) else []
    return Section("published", "The papers' figures beside ours", [Words(warning, "warning"), *blocks, *claims])


def _of(run: Run, dataset: str) -> list[Block]:
    blocks: list[Block] = []
    if _about(dataset, ("multihoprag",)):
        blocks += _table(run, dataset, "answers", STRATEGIES, (EM, F1), TOR)
        blocks += _table(run, dataset, "depth of the tree", DEPTHS, (EM, F1), TOR)
        blocks += [Words(GUESSES), _retrievers(run, dataset)] if run.answered or run.searched else []
    if _about(dataset, OF_PRUNE):
        blocks += _table(run, dataset, "evidence forgetting", FORGOTTEN, (FORGETTING,), PRUNE)
    return blocks


def _about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _claims() -> list[Block]:
    words = f"What the PruneRAG paper claims ({PRUNE}). Its tables and curves are not available, so ours stand beside these claims only."
    return [Words(words), Points(CLAIMS)]


def _table(run: Run, dataset: str, title: str, rows: Sequence[Published], measures: Sequence[Measure], source: str) -> list[Block]:
    """Give a table, where any of its rows was run."""
    found = [(row, run.answered.get((dataset, row.strategy, row.variant), [])) for row in rows]
    if not any(lines for _, lines in found):
        return []
    papers = [Column(f"{measure.title}, paper") for measure in measures]
    ours = [Column(f"{measure.title}, ours", measure.meaning) for measure in measures]
    columns = [Column("published", words=True), *papers, Column("ours", words=True), Column("n, ours"), *ours]
    return [Table(f"{dataset}: {title}", columns, [_row(row, lines, dataset, measures) for row, lines in found], f"Published: {source}.")]


def _row(row: Published, lines: Sequence[Line], dataset: str, measures: Sequence[Measure]) -> list[Cell]:
    where = Where(dataset, row.strategy, row.variant) if lines else None
    name = Cell(f"{row.strategy} {row.variant}".strip(), where=where)
    told = [(measure, measure.of(lines)) for measure in measures]
    cells = [Cell(measure.shown(one.value), interval(measure, one), where) if one else Cell(NOTHING) for measure, one in told]
    return [Cell(row.name, head=True), *map(Cell, row.figures), name, Cell(str(len(lines)) if lines else NOTHING), *cells]


def _retrievers(run: Run, dataset: str) -> Table:
    rows = [[Cell(row.name, head=True), Cell("published"), *map(Cell, row.figures)] for row in SEARCHES]
    for (name, strategy, variant), lines in run.groups.items():
        told = [measure.of(lines) for measure in SEARCHED]
        if name == dataset and any(line.row.get("retrieval") for line in lines) and (not variant or lines[0].searched):
            where = Where(dataset, strategy, variant)
            figures = [Cell(f"{one.value:.4f}".removeprefix("0"), where=where) for one in told if one]
            rows.append([Cell(f"{strategy} {variant}".strip(), head=True, where=where), Cell("ours"), *figures])
    note = (
        f"Published: {RETRIEVERS}. Ours take the passages in the order in which the last call is given them, and are figures of the "
        "data set as it is described above: where its articles are reconstructed, they are not MultiHop-RAG results."
    )
    columns = [Column("retriever", words=True), Column("source", words=True), *(Column(one.title, one.meaning) for one in SEARCHED)]
    return Table(f"{dataset}: retrieval", columns, rows, note)
