"""The papers' figures beside ours, on the data sets that they are about."""

from collections.abc import Iterator, Sequence

from ramify.evaluation.report.blocks import Block, Cell, Column, Points, Section, Table, Where, Words, words
from ramify.evaluation.report.tables import NOTHING, interval
from ramify.evaluation.results.columns import EM, F1, FORGETTING, RETRIEVAL
from ramify.evaluation.results.measures import Measure
from ramify.evaluation.results.papers import CLAIMS, DEPTHS, FORGOTTEN, GUESSES, PRUNE, RETRIEVERS, SEARCHES, STRATEGIES, TOR, Published
from ramify.evaluation.results.run import Run

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
    if any(_about(dataset, OF_PRUNE) for dataset in run.datasets):
        told = f"What the PruneRAG paper claims ({PRUNE}). Its tables and curves are not available, so ours stand beside these claims only."
        blocks += [Words(told), Points(CLAIMS)]
    return Section("published", "The papers' figures beside ours", [Words(warning, "warning"), *blocks])


def _of(run: Run, dataset: str) -> Iterator[Block]:
    if _about(dataset, ("multihoprag",)):
        yield from _table(run, dataset, "answers", STRATEGIES, (EM, F1), TOR)
        yield from _table(run, dataset, "depth of the tree", DEPTHS, (EM, F1), TOR)
        if run.answered or run.searched:
            yield from (Words(GUESSES), _retrievers(run, dataset))
    if _about(dataset, OF_PRUNE):
        yield from _table(run, dataset, "evidence forgetting", FORGOTTEN, (FORGETTING,), PRUNE)


def _about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _table(run: Run, dataset: str, title: str, papers: Sequence[Published], measures: Sequence[Measure], source: str) -> Iterator[Table]:
    """Give a table, where any of its rows was run."""
    found = [(one, run.answered.get((dataset, one.strategy, one.variant), [])) for one in papers]
    if not any(lines for _, lines in found):
        return
    rows = []
    for one, lines in found:
        where = Where(dataset, one.strategy, one.variant) if lines else None
        told = [(measure, measure.of(lines)) for measure in measures]
        ours = [Cell(measure.shown(of.value), interval(measure, of), where) if of else Cell(NOTHING) for measure, of in told]
        name, count = Cell(f"{one.strategy} {one.variant}".strip(), where=where), Cell(str(len(lines)) if lines else NOTHING)
        rows.append([Cell(one.name, head=True), *map(Cell, one.figures), name, count, *ours])
    heads = [*words("published"), *(Column(f"{measure.title}, paper") for measure in measures), *words("ours"), Column("n, ours")]
    heads += [Column(f"{measure.title}, ours", measure.meaning) for measure in measures]
    yield Table(f"{dataset}: {title}", heads, rows, f"Published: {source}.")


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
    heads = [*words("retriever", "source"), *(Column(one.title, one.meaning) for one in SEARCHED)]
    return Table(f"{dataset}: retrieval", heads, rows, note)
