"""Where the command line speaks: results on stdout, everything else on stderr."""

import sys

from rich.console import Console
from rich.text import Text

from ramify.tools.quoting import one_line as one_line  # said at every door
from ramify.tools.quoting import shortened
from ramify.tools.scrub import scrub


def out() -> Console:
    """Give the console for results."""
    return Console(file=sys.stdout, highlight=False)


def err() -> Console:
    """Give the console for progress and notices."""
    return Console(file=sys.stderr, highlight=False)


def note(message: str) -> None:
    """Print a notice on stderr, in one line."""
    err().print(Text(one_line(message), style="dim"), soft_wrap=True)


def fail(message: object) -> None:
    """Print what went wrong on stderr, in one line."""
    line = Text("error: ", style="bold red")
    err().print(line.append(shortened(scrub(one_line(message))), style="not bold default"), soft_wrap=True)
