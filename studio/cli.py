"""The command line: `ramify`, its commands and its exit codes."""

import atexit
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from inspect import signature
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ramify.studio.commands import GROUPS, Command, Group, ask, chat, doctor, download, graph, index, search, settings, studio
from ramify.studio.console.options import RayCommand
from ramify.studio.console.out_of_memory import is_out_of_memory
from ramify.studio.console.streams import escape_unencodable, fail
from ramify.tools import plugins
from ramify.tools.errors import PluginError, RamifyError, UsageError

ClickException: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""The exception class of the click that typer uses: some versions of typer contain a copy of click, others import the package."""

INTERRUPTED_EXIT_CODE = 130
CORE_COMMANDS = {
    "ask": Command(ask.ask_command, "Ask"),
    "chat": Command(chat.chat_command, "Ask"),
    "search": Command(search.search_command, "Ask"),
    "index": Command(index.index_command, "Documents", resumes=True),
    "studio": Command(studio.studio_command, "Serve and agents", after="serve"),
    "download": Command(download.download_command, "Set up"),
    "doctor": Command(doctor.doctor_command, "Set up"),
    "settings": Command(settings.settings_command, "Set up"),
    "graph": Command(graph.graph_command, "Set up"),
}
GREETING = """Ramify answers questions over your own documents with a local model. Begin with:

  ramify ask "In which city was the inventor of the ballpoint pen born?" --tree    a question about the demo
  ramify index FOLDER --out my-index                                               index your documents
  ramify serve --index my-index                                                    ask them in the browser

`ramify --help` lists all commands."""


def find_command(name: str) -> Command | None:
    """Return a command of the core, else of a plug-in, which is imported only now; None if there is none, PluginError for a broken one."""
    if name in CORE_COMMANDS or name not in plugins.names("ramify.commands"):
        return CORE_COMMANDS.get(name)
    loaded = plugins.load("ramify.commands", name)
    return loaded if isinstance(loaded, Command) else Command(loaded)


class CommandGroup(TyperGroup):
    """The commands of the core and of plug-ins, made for click when they are asked for."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command."""
        if cmd_name not in self.commands and (command := find_command(cmd_name)):
            self.commands[cmd_name] = _for_click(cmd_name, command)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names by group, each below that of the command it comes after; the help of a broken plug-in is its error."""
        listed = [name for _, names in self._grouped() for name in names]
        self.commands = {name: _for_click(name, _find_or_explain(name)) for name in listed}
        return listed

    def _grouped(self) -> list[tuple[Group, list[str]]]:
        commands = {name: _find_or_explain(name) for name in (*CORE_COMMANDS, *plugins.names("ramify.commands"))}
        grouped = []
        for group in GROUPS:
            members = [name for name, command in commands.items() if command.group == group]
            listed = [name for name in members if commands[name].after not in members]
            while waiting := [name for name in members if name not in listed]:
                name = next((name for name in waiting if commands[name].after in listed), waiting[0])
                after = commands[name].after
                listed.insert(listed.index(after) + 1 if after in listed else len(listed), name)
            grouped.append((group, listed))
        return grouped

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by group, each with the whole first sentence of its help."""
        self.list_commands(ctx)
        for group, names in self._grouped():
            rows = [(name, _summary(self.commands[name].help or "")) for name in names]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a command line; for an unknown one, raise an error with the similar names."""
        if self.get_command(ctx, args[0]) is None:
            self.list_commands(ctx)
        return super().resolve_command(ctx, args)


def _summary(help_text: str) -> str:
    """Return the first paragraph of a help in a line, without the stop at its end."""
    return " ".join(help_text.partition("\n\n")[0].split()).rstrip(".")


def _find_or_explain(name: str) -> Command:
    try:
        command = find_command(name)
        assert command is not None, name
        return command
    except PluginError as error:
        problem = error

    def explain() -> None:
        raise problem

    explain.__doc__ = f"Not usable: {problem}"
    return Command(explain)


def _for_click(name: str, command: Command) -> Any:
    """Return a command for click, with `--ray` where it has that option."""
    made = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    made.command(name, cls=RayCommand if "ray" in signature(command.function).parameters else None)(command.function)
    return typer.main.get_command(made)


app = typer.Typer(
    name="ramify",
    cls=CommandGroup,
    help="Answer multi-hop questions over your own documents with a local model: it builds and prunes a tree of sub-questions.",
    epilog="Begin with: ramify ask 'In which city was the director of the film with Natascha McElhone as Rheya born?' --tree",
    pretty_exceptions_enable=False,  # a traceback that shows local values could show a key
    rich_markup_mode=None,
)


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
        typer.echo(GREETING)
        raise typer.Exit
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
        command = find_command(invoked[0]) if invoked else None
        fail(f"interrupted{' — progress is saved; run the command again to resume' if command and command.resumes else ''}")
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
    command = find_command(invoked[0]) if invoked else None
    if code == INTERRUPTED_EXIT_CODE or (command and command.ends_at_once):  # do not wait for threads, as `sys.exit` would
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
