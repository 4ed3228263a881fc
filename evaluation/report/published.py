"""The section on published figures beside ours, from the papers or the source named."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.evaluation.report.blocks import NOTHING, Block, Cell, Column, LineFilter, Points, Table, Words, columns_of, figure, words
from ramify.evaluation.results import Run
from ramify.evaluation.results.measures import EM, F1, FORGETTING_FOUND, HITS4, HITS10, MRR10, Measure

TOR = "ToR-RAG paper, MultiHop-RAG, 2,556 questions, LLaMA 3.1 8B on Ollama, Qwen3-Embedding-0.6B"
PRUNE = (
    "PruneRAG paper, HotpotQA, 2WikiMultihopQA and MuSiQue, Llama-3.1-8B-Instruct or Qwen3-8B, BGE-large-en-v1.5; "
    "of which of these sets a figure is, is not told"
)
RETRIEVERS = "MultiHop-RAG, from secondary sources, top 10 of 256-token chunks"


@dataclass(frozen=True)
class Published:
    """A row of a paper, with our corresponding strategy and variant."""

    name: str
    figures: tuple[str, ...]
    strategy: str = ""
    variant: str = ""


STRATEGIES = (
    Published("Non-RAG", ("49.06", "50.11"), "closed-book"),
    Published("Native RAG", ("53.83", "55.92"), "naive"),
    Published("CoR-RAG", ("54.26", "55.14"), "chain"),
    Published("ToR-RAG, depth 3", ("60.25", "61.18"), "tor"),
)
"""EM and F1."""
DEPTHS = (
    Published("ToR-RAG, depth 1", ("54.58", "55.52"), "tor", "max_depth=1"),
    Published("ToR-RAG, depth 2", ("56.30", "57.61"), "tor", "max_depth=2"),
    Published("ToR-RAG, depth 3", ("60.25", "61.18"), "tor", "max_depth=3"),
    Published("ToR-RAG, depth 4", ("26.13", "30.13"), "tor", "max_depth=4"),
)
"""EM and F1."""
FORGOTTEN = (Published("with the answer branch", ("23.1",), "prune"), Published("without it", ("48.2",), "prune", "without answer"))
"""EFR."""
SEARCHES = (
    Published("bge-large-en-v1.5", (".4298", ".6718", ".5221")),
    Published("voyage-02 with bge-reranker-large", (".5860", ".7467", ".6625")),
)
"""MRR@10, Hits@10 and Hits@4."""
CLAIMS = (
    ("F1", "+5.45 % on average"),
    ("EFR", "-20.8 %"),
    ("Speed", "4.9 times that of mainstream baselines"),
    ("Threshold", "EM falls sharply for tau below 0.5; best from 0.9 to 0.95"),
    ("Depth", "saturates at 2 to 3"),
)
"""Of PruneRAG, whose tables and curves are not available."""
GUESSES = (
    'On the full MultiHop-RAG set, always saying "Yes" scores about 30.6 EM, and the most frequent answer of each question type about 53.'
)
OF_PRUNE = ("hotpotqa", "2wiki", "musique")
SEARCHED = (MRR10, HITS10, HITS4)


def published(run: Run) -> Iterator[Block]:
    """Report published figures beside ours, if a paper is about these data sets."""
    blocks = [block for dataset in run.datasets for block in _of(run, dataset)]
    if not blocks:
        return
    warning = (
        f"The papers' figures are no baseline of ours: ours were made with the model {run.manifest.get('model')}, other embeddings and "
        "other questions, and what each data set's caveats say holds. An empty cell was not run."
    )
    yield from (Words(warning, "warning"), *blocks)
    if any(_about(dataset, OF_PRUNE) for dataset in run.datasets):
        told = f"What the PruneRAG paper claims ({PRUNE}). Its tables and curves are not available, so ours stand beside these claims only."
        yield from (Words(told), Points(CLAIMS))


def _of(run: Run, dataset: str) -> Iterator[Block]:
    if _about(dataset, ("multihoprag",)):
        yield from _table(run, dataset, "answers", STRATEGIES, (EM, F1), TOR)
        yield from _table(run, dataset, "depth of the tree", DEPTHS, (EM, F1), TOR)
        yield from (Words(GUESSES), _retrievers(run, dataset))
    if _about(dataset, OF_PRUNE):
        yield from _table(run, dataset, "evidence forgetting", FORGOTTEN, (FORGETTING_FOUND,), PRUNE)


def _about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _table(run: Run, dataset: str, title: str, papers: Sequence[Published], measures: Sequence[Measure], source: str) -> Iterator[Table]:
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
    rows = [[Cell(row.name, head=True), Cell("published"), *map(Cell, row.figures)] for row in SEARCHES]
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
