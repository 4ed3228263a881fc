"""Where the command line speaks: results on stdout, everything else on stderr."""

import re
import sys

from rich.console import Console
from rich.text import Text

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What a terminal would take for a command, or could not show."""


def out() -> Console:
    """Give the console for results."""
    return Console(file=sys.stdout, highlight=False)


def err() -> Console:
    """Give the console for progress and notices."""
    return Console(file=sys.stderr, highlight=False)


def one_line(message: object) -> str:
    """Put a text on one line: no word from a document or a model may steer the terminal."""
    return " ".join(CONTROL.sub(" ", str(message)).split())


def note(message: str) -> None:
    """Print a notice on stderr, in one line."""
    err().print(Text(one_line(message), style="dim"), soft_wrap=True)


def fail(message: object) -> None:
    """Print what went wrong on stderr, in one line."""
    line = Text("error: ", style="bold red")
    err().print(line.append(one_line(message), style="not bold default"), soft_wrap=True)
