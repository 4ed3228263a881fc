"""ramify eval: measure strategies on questions with known answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import (
    RAY_HELP,
    BaseUrl,
    ModelName,
    Preset,
    Profile,
    Settings,
    Style,
    merge_options,
    read_value,
    split_names,
)
from ramify.tools.errors import UsageError

Datasets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DATASET]…", help="demo, a folder with corpus.jsonl and questions.jsonl, or an original release of a data set."
    ),
]
Strategies = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="A,B",
        help="Strategies to compare, separated by commas; closed-book searches nothing. [prune; none with --retrieval-only]",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run; an existing run is resumed.")]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N questions of each set.")]
Sweep = Annotated[list[str] | None, typer.Option(metavar="KEY=V1,V2", help="Repeat the run for each value of a setting.")]
ABLATION_NAMES = "judge, prune, answer, entities, confidence, adaptive, mmr, hybrid, dependent"
Ablate = Annotated[list[str] | None, typer.Option(metavar="NAME", help=f"Repeat the run without one of: {ABLATION_NAMES}.")]
Sample = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Run sweeps and ablations on N questions of each set, drawn with the seed.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of model calls, sampling and statistics.")]
AtOnce = Annotated[int, typer.Option(metavar="N", min=1, help="Concurrent questions.")]
Workers = Annotated[int, typer.Option(metavar="N", min=1, help="Processes; more than one helps only with the extractive model.")]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help=f"Encode and ask on a Ray cluster: {RAY_HELP}. Every machine needs the model, and RAMIFY_CACHE in a shared folder.",
    ),
]
Embedding = Annotated[
    str, typer.Option(metavar="NAME", help="Embedding of the indexes: minilm, e5-multilingual, ollama:NAME, or sentence-transformers.")
]
Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="Location of the indexes: a folder, or an address, with a tenant for each set; with --questions, the index asked.",
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Questions about the documents of --index, instead of a data set: .jsonl, .csv or .xlsx."),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="F,G", help="Metadata to include in the searched text, in a separate index."),
]
RetrievalOnly = Annotated[
    bool, typer.Option("--retrieval-only", help="Compare search methods, and the passages of strategies if any are given.")
]
IndexKind = Annotated[
    str | None,
    typer.Option(
        "--index-kind",
        metavar="A,B",
        help="Kinds of index to compare: passages, graph, hierarchy; the first is the baseline.",
    ),
]
GroupBy = Annotated[
    str | None, typer.Option("--group-by", metavar="F,G", help="Metadata that a hierarchy groups by. [proposed automatically]")
]
Degrade = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOW=S1,S2",
        help="Repeat the run with fractions degraded: for strategies entities, lookups, retriever, distractors or paraphrase; for searches "
        "alone, the documents' metadata (missing, noise).",
    ),
]
Shared = Annotated[
    bool, typer.Option("--shared", help="Make the folder of the run readable for all users of this machine, not only for its owner.")
]
Calls = Annotated[
    bool, typer.Option("--calls", help="Store every model call, its messages and reply, in the results, for `ramify export`.")
]
Draws = Annotated[int, typer.Option(metavar="N", min=1, help="Number of random draws of the documents for each fraction.")]


def eval_command(
    out: Out, datasets: Datasets = None, strategy: Strategies = None, model: ModelName = None, base_url: BaseUrl = None,
    settings: Settings = None, preset: Preset = None, profile: Profile = None, limit: Limit = None, sweep: Sweep = None,
    ablate: Ablate = None, sample: Sample = None, seed: Seed = 0, at_once: AtOnce = 8, workers: Workers = 1, ray: Ray = None,
    embedding: Embedding = "minilm", index: Index = None, questions: Questions = None, label: Label = None,
    retrieval_only: RetrievalOnly = False, index_kind: IndexKind = None, group_by: GroupBy = None, degrade: Degrade = None,
    draws: Draws = 5, shared: Shared = False, style: Style = None, calls: Calls = False,
) -> None:  # fmt: skip
    """Measure strategies on questions with known answers, and write a report; an interrupted run resumes where it stopped."""
    from ramify.lab.commands._evaluating import run_evaluation
    from ramify.lab.plan import RunOptions

    strategies = split_names(("" if retrieval_only else "prune") if strategy is None else strategy)
    order = RunOptions(
        datasets=tuple(datasets or ()),
        questions=questions,
        strategies=tuple(dict.fromkeys(strategies)),
        options=merge_options(settings, model=model, base_url=base_url, preset=preset, profile=profile, style=style),
        sweeps=read_value_lists(sweep or [], "--sweep max_depth=1,2,3"),
        ablations=tuple(name for text in ablate or [] for name in split_names(text.replace("|", ","))),
        label=tuple(split_names(label)),
        index_kinds=None if index_kind is None else tuple(split_names(index_kind)),
        group_by=tuple(split_names(group_by)),
        degrade={
            name: tuple(_parse_fractions(name, values))
            for name, values in read_value_lists(degrade or [], "--degrade missing=0,.1,.3").items()
        },
        out=out, limit=limit, sample=sample, seed=seed, at_once=at_once, workers=workers, ray=ray, embedding=embedding, index=index,
        retrieval_only=retrieval_only, draws=draws, shared=shared, calls=calls,
    )  # fmt: skip
    run_evaluation(order)


def _parse_fractions(name: str, values: list[object]) -> Iterator[float]:
    """Yield fractions; raise UsageError for values that are not numbers."""
    for value in values:
        try:
            yield float(str(value))
        except ValueError:
            raise UsageError(f"--degrade {name}={value} is not a fraction between 0 and 1", "give numbers such as .1,.3,.5") from None


def read_value_lists(texts: list[str], example: str) -> dict[str, list[object]]:
    """Parse KEY=V1,V2 options such as `example`; raise UsageError for other forms and repeated keys."""
    option = example.partition(" ")[0]
    values_by_key: dict[str, list[object]] = {}
    for text in texts:
        key, separator, values = text.partition("=")
        parsed_values = [read_value(value.strip()) for value in values.split(",") if value.strip()]
        if not (separator and key.strip() and parsed_values):
            raise UsageError(f"{option} {text!r} is not KEY=V1,V2", f"write it as {example}")
        if key.strip() in values_by_key:
            raise UsageError(f"{option} gives {key.strip()!r} twice", "give all its values at once")
        values_by_key[key.strip()] = parsed_values
    return values_by_key


COMMAND = Command(eval_command, "Measure", resumes=True)
