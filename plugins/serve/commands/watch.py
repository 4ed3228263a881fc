"""ramify watch: keep an index up to date while files change."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.streams import err, note, say
from ramify.tools.errors import RamifyError
from ramify.tools.quoting import one_line
from ramify.tools.user_input import check_text

if TYPE_CHECKING:
    from ramify.tools.index.build import Built

Folders = Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders of documents.")]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="INDEX",
        help="Folder or address of the index: an existing one is updated with its own settings, a new one is built with the defaults of "
        "`ramify index`.",
        callback=check_text,
    ),
]


def watch_command(folders: Folders, out_: Out) -> None:
    """Keep an index up to date: new, changed and deleted files are indexed within seconds, until Ctrl-C."""
    with err().status("loading …"):
        from ramify.graphs.run import blocking
        from ramify.serve.watching import watch as keep_up_to_date
        from ramify.tools.index.index_store import store_at

        printer = BuildPrinter(store_at(out_).where)
    note(f"watching {', '.join(map(one_line, folders))}; Ctrl-C stops it")
    blocking(keep_up_to_date(folders, out_, printer))


class BuildPrinter:
    """Prints a summary of each build, and new lines on skipped files."""

    def __init__(self, where: str) -> None:
        self._where = one_line(where)
        self._printed_lines: set[str] = set()
        self._last_error = ""

    def __call__(self, outcome: "Built | RamifyError") -> None:
        """Print the summary of a build, or an error unless it repeats the last one."""
        from ramify.studio.console.building import build_summary, remark_lines, skipped_lines

        if isinstance(outcome, RamifyError):
            if str(outcome) != self._last_error:
                note(f"not indexed: {outcome}")
            self._last_error = str(outcome)
            return
        lines = [*skipped_lines(outcome.skipped, verbose=True), *remark_lines(outcome, verbose=True)]
        for line in lines:
            if line not in self._printed_lines:
                note(line)
        self._printed_lines, self._last_error = set(lines), ""
        say(f"{self._where}: {build_summary(outcome)}")


COMMAND = Command(watch_command, after="index", resumes=True)
