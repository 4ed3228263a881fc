"""ramify compare: compare two evaluation runs."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import BaseUrl, merge_options
from ramify.studio.console.streams import note
from ramify.tools.errors import UsageError
from ramify.tools.new_files import write_atomically

RunA = Annotated[Path, typer.Argument(metavar="RUN_A", help="Folder of a run.")]
RunB = Annotated[Path, typer.Argument(metavar="RUN_B", help="Folder of another run on the same questions.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page with every question of both side by side.")]
Judge = Annotated[
    str | None,
    typer.Option("--judge", metavar="MODEL", help="Let a language model judge which answers are better; verdicts are stored in RUN_A."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the judge's calls, such as temperature."),
]
Repeats = Annotated[int, typer.Option(metavar="N", min=1, help="Verdicts on each pair of answers, in alternating order.")]


def compare_command(
    run_a: RunA, run_b: RunB, judge: Judge = None, repeats: Repeats = 5, base_url: BaseUrl = None, settings: Settings = None,
    html: Html = None,
) -> None:  # fmt: skip
    """Compare two runs on the questions they share: differences with intervals, wins by question, and a judge's preferences."""
    from ramify.lab.judging import VERDICTS_FILE, judge_pairs, sides_without_text
    from ramify.lab.report import compare_runs, compare_runs_page
    from ramify.lab.results.measures import read_run_pair
    from ramify.studio.console.progress_bar import progress_bar

    options = merge_options(settings, model=judge, base_url=base_url)
    if options and judge is None:
        raise UsageError("--base-url and --set are for the judge", "add --judge MODEL, or omit them")
    verdicts = None
    if judge is not None:
        answers, file = read_run_pair(run_a, run_b).answers, run_a / VERDICTS_FILE
        note(f"{len(answers):,} pairs of answers are judged {repeats} times; verdicts are stored in {file}")
        for strategy in sides_without_text(answers):
            note(f"the answers of {strategy} have no sentences, those of the other run do: evaluate it again with --set style=full")
        with progress_bar() as progress:
            verdicts = judge_pairs(answers, options, file, repeats, progress)
    typer.echo(compare_runs(run_a, run_b, verdicts))
    if html is not None:
        write_atomically(compare_runs_page(run_a, run_b, verdicts), html)
        note(f"the page is in {html}")


COMMAND = Command(compare_command, "Measure", after="eval")
