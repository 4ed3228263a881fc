"""ramify eval: measure strategies on questions with known answers."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.ask_command import BaseUrl, ModelName, Settings
from ramify.studio.pairs import joined, read_pairs, read_value
from ramify.tools.errors import UsageError

Datasets = Annotated[
    list[str],
    typer.Argument(metavar="DATASET", help="demo, a folder with corpus.jsonl and questions.jsonl, or an original release of a data set."),
]
Strategies = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="A,B",
        help="Strategies to compare, with commas between; closed-book, a prior, comes along. [prune; none with --retrieval-only]",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run; a run that is there is gone on with.")]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N questions of each set.")]
Sweep = Annotated[list[str] | None, typer.Option(metavar="KEY=V1,V2", help="Run once more for each value of a setting.")]
PARTS = "judge, prune, answer, entities, confidence, adaptive, mmr, hybrid, dependent"
Ablate = Annotated[list[str] | None, typer.Option(metavar="NAME", help=f"Run once more without one of: {PARTS}.")]
Sample = Annotated[int | None, typer.Option(metavar="N", min=1, help="Sweeps and ablations on N questions of each set, drawn by the seed.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the model's calls, of drawing and of the statistics.")]
AtOnce = Annotated[int, typer.Option(metavar="N", min=1, help="Questions under way at the same time.")]
Workers = Annotated[int, typer.Option(metavar="N", min=1, help="Processes: more than one pays for the extractive model only.")]
Embedding = Annotated[str, typer.Option(metavar="NAME", help="Embedding of the indexes: minilm, ollama:NAME, or sentence-transformers.")]
Label = Annotated[
    str | None,
    typer.Option(metavar="F,G", help="Metadata that passages are searched under, beside title and headings: in an index of its own."),
]
RetrievalOnly = Annotated[
    bool, typer.Option("--retrieval-only", help="Compare ways of searching, and the passages of strategies if any are named.")
]
IndexKind = Annotated[
    str | None,
    typer.Option(
        "--index-kind", metavar="A,B", help="Kinds of index to compare, passages or graph; the first is what others are compared with."
    ),
]


def evaluate(
    datasets: Datasets,
    out: Out,
    strategy: Strategies = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    limit: Limit = None,
    sweep: Sweep = None,
    ablate: Ablate = None,
    sample: Sample = None,
    seed: Seed = 0,
    at_once: AtOnce = 8,
    workers: Workers = 1,
    embedding: Embedding = "minilm",
    label: Label = None,
    retrieval_only: RetrievalOnly = False,
    index_kind: IndexKind = None,
) -> None:
    """Measure strategies on questions with known answers, and write a report; an interrupted run goes on where it stopped."""
    from ramify.evaluation.order import Order
    from ramify.studio.evaluating import evaluating

    if strategy is None:
        strategy = "" if retrieval_only else "prune"
    order = Order(
        datasets=tuple(datasets),
        strategies=_with_prior(_names(strategy), retrieval_only),
        options=joined(read_pairs(settings or [], "--set"), {"model": model, "base_url": base_url}),
        sweeps=read_sweeps(sweep or []),
        ablations=tuple(name.strip() for text in ablate or [] for name in text.replace("|", ",").split(",") if name.strip()),
        out=out,
        limit=limit,
        sample=sample,
        seed=seed,
        at_once=at_once,
        workers=workers,
        embedding=embedding,
        label=tuple(_names(label or "")),
        retrieval_only=retrieval_only,
        index_kinds=None if index_kind is None else tuple(_names(index_kind)),
    )
    evaluating(order)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _with_prior(strategies: list[str], retrieval_only: bool) -> tuple[str, ...]:
    """Add what the model says without any document: beside that, a score means something."""
    prior = [] if retrieval_only or not strategies else ["closed-book"]
    return tuple(dict.fromkeys((*strategies, *prior)))


def read_sweeps(texts: list[str]) -> dict[str, list[object]]:
    """Read KEY=V1,V2; UsageError for one that is no sweep, or said twice."""
    sweeps: dict[str, list[object]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        found = [read_value(value.strip()) for value in values.split(",") if value.strip()]
        if not (equals and key.strip() and found):
            raise UsageError(f"--sweep {text!r} is not KEY=V1,V2", "write it as --sweep max_depth=1,2,3")
        if key.strip() in sweeps:
            raise UsageError(f"--sweep gives {key.strip()!r} twice", "give all its values at once")
        sweeps[key.strip()] = found
    return sweeps
