"""ramify verify: check an answer without a model."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import AsJson
from ramify.studio.console.streams import out, print_json
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line

if TYPE_CHECKING:
    from ramify.testing.verifying.answer_file import Answer
    from ramify.testing.verifying.checks import Verdict, Verification

MARKS: dict["Verdict | None", str] = {"holds": "✓", "fails": "✗", "unchecked": "?", "changed": "≠", None: "·"}
_STYLES: dict["Verdict | None", str] = {
    "holds": "green",
    "fails": "bold red",
    "unchecked": "yellow",
    "changed": "bold yellow",
    None: "bright_black",
}
AnswerFile = Annotated[Path, typer.Argument(metavar="ANSWER.JSON", help="What `ramify ask … --json` has printed.")]
IndexOption = Annotated[str | None, typer.Option("--index", metavar="DIR", help="The index that was searched: are the passages in it?")]
Documents = Annotated[
    Path | None, typer.Option("--documents", metavar="DIR", help="The folder that was indexed: do the quotes stand in its files?")
]


def verify_command(answer: AnswerFile, index: IndexOption = None, documents: Documents = None, as_json: AsJson = False) -> int:
    """Check an answer without a model: its quotes, its sentences, and each step from the documents to the answer."""
    from ramify.testing.verifying.answer_file import read_answer
    from ramify.testing.verifying.verify import verify_answer

    if index is not None and documents is not None:
        raise UsageError("--index and --documents are given", "give one of them")
    read = read_answer(answer)
    verification = verify_answer(read, index, documents)
    if as_json:
        print_json(verification.to_json())
    else:
        print_verification(read, verification)
    return 0 if verification.holds else 1


def print_verification(answer: "Answer", verification: "Verification") -> None:
    """Print the tree with a verdict and reasons for each branch, what else does not hold, and the sum."""
    from rich.text import Text

    shown = {where: (depth, told) for where, depth, told in _lines(answer)}
    for where, (depth, told) in shown.items():
        verdict, margin = verification.verdict(where), "  " * depth
        out().print(Text.assemble(margin, *_head(verdict, where), one_line(told)), soft_wrap=True)
        for check in verification.at(where):
            style = "dim" if check.verdict == "holds" else _STYLES[check.verdict]
            out().print(Text.assemble(f"{margin}    ", (one_line(check.reason), style)), soft_wrap=True)
    for check in verification.checks:
        if check.where not in shown and check.verdict != "holds":
            out().print(Text.assemble(*_head(check.verdict, check.where), one_line(check.reason)), soft_wrap=True)
    out().print(Text(one_line(verification.summary()), style="bold"), soft_wrap=True)


def _head(verdict: "Verdict | None", where: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (f"{MARKS[verdict]} ", _STYLES[verdict]), (f"{where}  ", "bold")


def _lines(answer: "Answer") -> Iterator[tuple[str, int, str]]:
    """Yield the answer and the branches: place, depth, and question with answer."""
    yield "answer", 0, answer.answer
    for branch in answer.tree.values():
        yield branch.path, branch.depth, f"{branch.question} → {branch.answer or '(none)'}"


COMMAND = Command(verify_command, "Documents", after="test")
