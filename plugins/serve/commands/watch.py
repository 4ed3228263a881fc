"""ramify watch: keep an index up to date while files change."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import BaseUrl, ModelName
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
Tests = Annotated[
    Path | None,
    typer.Option(
        "--test", metavar="FILE", help="After each update run this file of expectations (`ramify test`), and print which answers changed."
    ),
]


def watch_command(folders: Folders, out_: Out, tests: Tests = None, model: ModelName = None, base_url: BaseUrl = None) -> None:
    """Keep an index up to date: new, changed and deleted files are indexed within seconds, until Ctrl-C."""
    with err().status("loading …"):
        from ramify.graphs.run import blocking
        from ramify.serve.watching import watch as keep_up_to_date
        from ramify.tools.index.index_store import store_at

        where = store_at(out_).where
        tester = None
        if tests is not None:
            from ramify.testing.expectations import load_expectations

            load_expectations(tests)  # a wrong file is told at once
            options = {"model": model, "base_url": base_url, "index": where}
            tester = partial(run_tests, tests, {name: value for name, value in options.items() if value is not None})
        printer = BuildPrinter(where, tester)
    note(f"watching {', '.join(map(one_line, folders))}; Ctrl-C stops it")
    blocking(keep_up_to_date(folders, out_, printer))


class BuildPrinter:
    """Prints a summary of each build, and new lines on skipped files."""

    def __init__(self, where: str, then: Callable[[], None] | None = None) -> None:
        self._where = one_line(where)
        self._then = then
        self._is_first = True
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
        lines = [*skipped_lines(outcome.skipped, verbose=True), *remark_lines(outcome.remarks, True, outcome.reread)]
        for line in lines:
            if line not in self._printed_lines:
                note(line)
        self._printed_lines, self._last_error = set(lines), ""
        say(f"{self._where}: {build_summary(outcome)}")
        is_changed = bool(outcome.added or outcome.changed or outcome.removed)  # a file of results in a watched folder is no document
        if self._then is not None and (self._is_first or is_changed):
            self._then()
        self._is_first = False


def run_tests(file: Path, options: Mapping[str, Any]) -> None:
    """Run a file of expectations, and print the tests that do not hold or have moved, and the counts."""
    from ramify.testing.expectations import load_expectations
    from ramify.testing.reports import outcome_lines, summary_line
    from ramify.testing.running import TestRun
    from ramify.testing.stored_results import ResultsFile

    try:
        expectations = load_expectations(file)
        outcomes = TestRun(expectations, ResultsFile(file), options).run(expectations.tests)
    except RamifyError as error:
        note(f"not tested: {error}")
        return
    for number, outcome in enumerate(outcomes, 1):
        if not outcome.holds or outcome.status == "moved":
            for line in outcome_lines(outcome, number, len(outcomes)):
                say(line)
    say(f"{one_line(file.name)}: {summary_line(outcomes)}")


COMMAND = Command(watch_command, "Documents", after="index", resumes=True)
