"""ramify reproduce: reproduce a paper's tables and figures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.lab.commands.eval import AtOnce, Embedding, Limit, Seed
from ramify.studio.commands import Command
from ramify.studio.console.options import BaseUrl, ModelName, merge_options
from ramify.studio.console.streams import say

PaperName = Annotated[
    str | None, typer.Argument(metavar="PAPER", help="tor, prune, iterative, graph or hierarchy; without it, the papers are listed.")
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data", metavar="DATASET", help="A data set as for `ramify eval`; repeatable. [the demo, which is not the paper's data]"
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder of the runs and the report; an existing one is resumed. [PAPER-reproduced]"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of all runs; it overrides the paper's, and is reported."),
]
Judge = Annotated[
    str | None, typer.Option("--judge", metavar="NAME", help="Language model that compares answers (graph). [the answering model]")
]
Repeats = Annotated[int, typer.Option(metavar="N", min=1, help="Verdicts on each pair of answers (graph).")]
GroupBy = Annotated[
    str | None, typer.Option("--group-by", metavar="F,G", help="Metadata that documents are grouped and labelled by (hierarchy).")
]
Draws = Annotated[int, typer.Option(metavar="N", min=1, help="Random draws of the documents for each fraction (hierarchy).")]


def reproduce_command(
    paper: PaperName = None, data: Data = None, out_: Out = None, model: ModelName = None, base_url: BaseUrl = None,
    settings: Settings = None, judge: Judge = None, repeats: Repeats = 5, group_by: GroupBy = None, draws: Draws = 5,
    limit: Limit = None, seed: Seed = 0, at_once: AtOnce = 8, embedding: Embedding = "minilm",
) -> None:  # fmt: skip
    """Reproduce a paper: its settings, baselines, sweeps and ablations in one run, and a page that compares its figures with ours."""
    from ramify.lab.papers import PAPERS, find_paper

    if paper is None:
        for available in PAPERS.values():
            say(f"{available.name:<10} {available.title}: {available.about}")
        return
    from ramify.lab.commands._evaluating import run_reproduction
    from ramify.studio.commands.index import split_fields

    paper_found = find_paper(paper, PAPERS)
    folder = out_ or Path(f"{paper_found.name}-reproduced")
    extra_options: dict[str, Any] = {"limit": limit, "seed": seed, "at_once": at_once, "embedding": embedding, "draws": draws}
    if group_by:
        extra_options["group_by"] = tuple(split_fields(group_by))
    orders = paper_found.run_options(folder, data or (), merge_options(settings, model=model, base_url=base_url), **extra_options)
    run_reproduction(paper_found, orders, folder, {"model": judge} if judge else None, repeats)


COMMAND = Command(reproduce_command, "Measure", after="questions", resumes=True)
