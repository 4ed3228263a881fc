"""ramify report: write the report of a run, or one page on several runs side by side, and open it."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.streams import note
from ramify.tools.errors import UsageError

Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Folder of a run; several are compared side by side.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder of side-by-side.html and .md, of several runs. [the first run's]")
]


def report_command(runs: Runs, open_page: Open = False, out: Out = None) -> None:
    """Write the report of a run again, or one page on several runs: models, strategies, kinds of index and settings side by side."""
    from ramify.lab.report import write_report, write_side_by_side

    folders = list(dict.fromkeys(runs))
    if out is not None and len(folders) == 1:
        raise UsageError("--out is for the comparison of several runs", "omit it: a report is written into its run's folder")
    if len(folders) == 1:
        write_report(folders[0])
        page = folders[0] / "report.html"
    else:
        page = write_side_by_side(folders, folders[0] if out is None else out)
    typer.echo(page)
    if open_page and not _open_in_browser(page):
        note("no browser was found: open the file above")


def _open_in_browser(page: Path) -> bool:
    """Open a page in the browser; return whether there is one. Browsers in the terminal are not used."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in screens):
        return False
    try:
        return webbrowser.open(page.resolve().as_uri())
    except webbrowser.Error:
        return False


COMMAND = Command(report_command, "Measure", after="compare")
