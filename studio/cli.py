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

from ramify.lab.commands import calibrate, compare, export, questions, report, reproduce
from ramify.lab.commands import eval as evaluation
from ramify.serve.commands import mcp, serve, watch
from ramify.studio.commands import ask, chat, doctor, download, graph, index, inspect, search, settings, studio
from ramify.studio.console.options import RayCommand
from ramify.studio.console.out_of_memory import is_out_of_memory
from ramify.studio.console.streams import escape_unencodable, fail
from ramify.tools.errors import RamifyError, UsageError

ClickException: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""The exception class of the click that typer uses: some versions of typer contain a copy of click, others import the package."""

INTERRUPTED_EXIT_CODE = 130
RESUMABLE_COMMANDS = ("index", "watch", "eval", "questions", "reproduce")
"""Commands that resume after an interruption."""

app = typer.Typer(
    name="ramify",
    help="Answer multi-hop questions over your own documents with a local model: it builds and prunes a tree of sub-questions.",
    epilog="Begin with: ramify ask 'In which city was the director of the film with Natascha McElhone as Rheya born?' --tree",
    pretty_exceptions_enable=False,  # a traceback that shows local values could show a key
    rich_markup_mode=None,
)
for command, name in (
    (index.index_command, "index"),
    (watch.watch_command, "watch"),
    (search.search_command, "search"),
    (inspect.inspect_command, "inspect"),
    (ask.ask_command, "ask"),
    (chat.chat_command, "chat"),
    (questions.questions_command, "questions"),
    (evaluation.eval_command, "eval"),
    (compare.compare_command, "compare"),
    (reproduce.reproduce_command, "reproduce"),
    (report.report_command, "report"),
    (export.export_command, "export"),
    (calibrate.calibrate_command, "calibrate"),
    (graph.graph_command, "graph"),
    (settings.settings_command, "settings"),
    (doctor.doctor_command, "doctor"),
    (download.download_command, "download"),
    (serve.serve_command, "serve"),
    (studio.studio_command, "studio"),
    (mcp.mcp_command, "mcp"),
):
    app.command(name, cls=RayCommand if "ray" in signature(command).parameters else None)(command)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"ramify {version('ramify-rag')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Answer multi-hop questions over your own documents with a local model: it builds and prunes a tree of sub-questions."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
    context.ensure_object(list).append(context.invoked_subcommand)


def run(arguments: Sequence[str] | None = None, invoked: list[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 for success, 2 for wrong usage, 1 for other errors, 130 if interrupted.

    The name of the command is added to `invoked`.
    """
    invoked = [] if invoked is None else invoked
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="ramify", standalone_mode=False, obj=invoked)
    except RamifyError as error:
        fail(error)
        return 2 if isinstance(error, UsageError) else 1
    except ClickException as error:
        context = getattr(error, "ctx", None)
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        fail(f"{message} — see `{context.command_path if context else 'ramify'} --help`")
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        if is_out_of_memory(error):
            raise
        fail(f"{error} — check the file, its permissions and free disk space")
        return 1
    except typer.Abort:
        code = INTERRUPTED_EXIT_CODE
    if code == INTERRUPTED_EXIT_CODE:
        hint = " — progress is saved; run the command again to resume"
        fail(f"interrupted{hint if invoked and invoked[0] in RESUMABLE_COMMANDS else ''}")
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command line of this process."""
    escape_unencodable()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # library warnings are for developers
    invoked: list[str] = []
    try:
        code = run(invoked=invoked)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe, as in `ramify ask … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    if code == INTERRUPTED_EXIT_CODE or invoked[:1] == ["serve"]:  # do not wait for background threads, as `sys.exit` would
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
