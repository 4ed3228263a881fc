"""The command line: `ramify`, its commands and its exit codes."""

import atexit
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from inspect import signature
from typing import Annotated

import typer

from ramify.studio.commands import (
    ask,
    calibrate,
    chat,
    compare,
    doctor,
    download,
    export,
    graph,
    index,
    inspect,
    mcp,
    questions,
    report,
    reproduce,
    search,
    serve,
    settings,
    studio,
    watch,
)
from ramify.studio.commands import eval as evaluation
from ramify.studio.console.options import OnRay
from ramify.studio.console.streams import fail
from ramify.tools.errors import RamifyError, UsageError

ClickError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""typer carries a copy of click in some versions and takes the package in others: this is the class of the one it uses."""

INTERRUPTED = 130
RESUMED = ("index", "watch", "eval", "questions", "reproduce")
"""Commands that resume after an interruption."""

app = typer.Typer(
    name="ramify",
    help="Answer multi-hop questions over your own documents with a local model: it builds and prunes a tree of sub-questions.",
    epilog="Begin with: ramify ask 'In which city was the director of the film with Natascha McElhone as Rheya born?' --tree",
    pretty_exceptions_enable=False,  # a traceback that shows local values could show a key
    rich_markup_mode=None,
)
for command, name in (
    (index.index, "index"),
    (watch.watch, "watch"),
    (search.search, "search"),
    (inspect.inspect, "inspect"),
    (ask.ask, "ask"),
    (chat.chat, "chat"),
    (questions.questions, "questions"),
    (evaluation.evaluate, "eval"),
    (compare.compare, "compare"),
    (reproduce.reproduce, "reproduce"),
    (report.report, "report"),
    (export.export, "export"),
    (calibrate.calibrate, "calibrate"),
    (graph.graph, "graph"),
    (settings.settings, "settings"),
    (doctor.doctor, "doctor"),
    (download.download, "download"),
    (serve.serve, "serve"),
    (studio.studio, "studio"),
    (mcp.mcp, "mcp"),
):
    app.command(name, cls=OnRay if "ray" in signature(command).parameters else None)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ramify {version('ramify-rag')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    shown: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    """Answer multi-hop questions over your own documents with a local model: it builds and prunes a tree of sub-questions."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
    context.ensure_object(list).append(context.invoked_subcommand)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0, 2 for wrong usage, 1 for any other error, 130 when interrupted."""
    called: list[str] = []
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="ramify", standalone_mode=False, obj=called)
    except RamifyError as error:
        fail(error)
        return 2 if isinstance(error, UsageError) else 1
    except ClickError as error:
        context = getattr(error, "ctx", None)
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        fail(f"{message} — see `{context.command_path if context else 'ramify'} --help`")
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        fail(f"{error} — look at the file, its permissions and the room on the disk")
        return 1
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:
        kept = " — progress is kept; run the command again to resume"
        fail(f"interrupted{kept if called and called[0] in RESUMED else ''}")
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command line of this process."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # library warnings are for developers
    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `ramify ask … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    if code == INTERRUPTED:  # background threads are not waited for, as `sys.exit` would
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
