"""Output of the command line: results on stdout, everything else on stderr."""

import codecs
import io
import json
import sys
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from ramify.tools.quoting import escape_invisible, one_line, truncate_message
from ramify.tools.scrub import scrub


def escape_unencodable() -> None:
    """From now on, print characters that the terminal's encoding lacks as escapes, which are valid in JSON, too."""
    codecs.register_error("ramify.escape", _escape_character)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="ramify.escape")


def _escape_character(error: UnicodeError) -> tuple[str, int]:
    """Return the escapes of what an encoder rejects, as in JSON, and the position after it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def out() -> Console:
    """Return the console for results."""
    return Console(file=sys.stdout, highlight=False)


def err() -> Console:
    """Return the console for progress and notices."""
    return Console(file=sys.stderr, highlight=False)


def say(line: str) -> None:
    """Print a line of results on stdout, however long it is."""
    out().print(line, soft_wrap=True, markup=False)


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout: exact, with invisible characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    typer.echo(escape_invisible(text, lambda character: json.dumps(character)[1:-1]))


def note(message: str) -> None:
    """Print a notice on stderr, in one line, without secrets."""
    err().print(Text(scrub(one_line(message)), style="dim"), soft_wrap=True)


def fail(message: object) -> None:
    """Print an error on stderr, in one line, without secrets."""
    line = Text("error: ", style="bold red")
    err().print(line.append(truncate_message(scrub(one_line(message))), style="not bold default"), soft_wrap=True)
