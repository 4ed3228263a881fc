"""ramify export: write judged trees as training material."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from ramify.studio.console.options import names_in
from ramify.studio.console.streams import note
from ramify.tools.new_files import file_mode, write_atomically

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Folder of a run, or of several; runs made with --calls hold the model calls.")
]
As = Annotated[Literal["sft", "dpo"], typer.Option("--as", help="sft: chats of right trees; dpo: pairs of a better and a worse reply.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="File to write. [sft.jsonl or dpo.jsonl in the first run's folder]")
]
Strategies = Annotated[str | None, typer.Option("--strategy", metavar="A,B", help="Only trees of these strategies. [all]")]
Least = Annotated[float | None, typer.Option("--min-confidence", min=0, max=1, help="Prefer only answers that are at least this sure.")]


def export(runs: Runs, form: As, out: Out = None, strategy: Strategies = None, min_confidence: Least = None) -> None:
    """Write judged trees as training material for a language model: one JSON object a line, in the form that TRL reads."""
    from ramify.evaluation.results import read_run
    from ramify.evaluation.results.export import export as exported

    folders = list(dict.fromkeys(runs))
    told = exported([read_run(folder) for folder in folders], form, names_in(strategy), min_confidence)
    file = folders[0] / f"{form}.jsonl" if out is None else out
    lines = "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in told.examples)
    write_atomically(lines, file, file_mode(folders[0]))
    note(", ".join(f"{count:,} {name}" for name, count in told.counts.items()))
    typer.echo(file)
