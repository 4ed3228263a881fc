"""ramify export: write judged trees as training data."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import split_names
from ramify.studio.console.streams import note
from ramify.tools.new_files import file_mode, write_atomically

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Folder of a run; repeatable. Runs made with --calls contain the model calls.")
]
FormatOption = Annotated[
    Literal["sft", "dpo", "trees"],
    typer.Option("--as", help="sft: chats of correct trees; dpo: pairs of better and worse replies; trees: of better and worse trees."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write. [sft, dpo or trees.jsonl in the first run's folder]"),
]
Strategies = Annotated[str | None, typer.Option("--strategy", metavar="A,B", help="Only trees of these strategies. [all]")]
MinConfidence = Annotated[
    float | None, typer.Option("--min-confidence", min=0, max=1, help="Prefer only answers with at least this confidence.")
]


def export_command(
    runs: Runs, form: FormatOption, out: Out = None, strategy: Strategies = None, min_confidence: MinConfidence = None
) -> None:
    """Write judged trees as training data for a language model: one JSON object a line, of replies in TRL's format."""
    from ramify.lab.results import read_run
    from ramify.lab.results.export import export_examples

    folders = list(dict.fromkeys(runs))
    exported = export_examples([read_run(folder) for folder in folders], form, split_names(strategy), min_confidence)
    file = folders[0] / f"{form}.jsonl" if out is None else out
    lines = "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in exported.examples)
    write_atomically(lines, file, file_mode(folders[0]))
    note(", ".join(f"{count:,} {name}" for name, count in exported.counts.items()))
    typer.echo(file)


COMMAND = Command(export_command, "Measure", after="calibrate")
