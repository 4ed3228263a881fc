"""A person's decisions in the terminal on what is proposed (`ask_first`): yes, edit or no."""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.text import Text

from ramify.graphs.run import Reviewer
from ramify.graphs.strategies import configure
from ramify.nodes.settings import NEVER
from ramify.studio.console.live_tree import Watching
from ramify.studio.console.streams import err, one_line
from ramify.tools.errors import UsageError
from ramify.tools.scrub import scrub
from ramify.tools.typed import readable

QUESTION = "yes, edit or no (no REASON says why): "
WORDS = {"y": "approve", "yes": "approve", "e": "edit", "edit": "edit", "n": "reject", "no": "reject"}
KEPT = " (Enter keeps it): "


def reviewer_for(strategy: str, options: Mapping[str, Any], watching: Watching | None) -> Reviewer | None:
    """Return what asks the person at the terminal, None where there is none; UsageError where somebody is to be asked then."""
    _, settings = configure(strategy, options)
    if not sys.stdin.isatty():
        if settings.reviewed == NEVER:
            return None
        what = f"ask_first={settings.reviewed} asks on the terminal, and the input is none"
        raise UsageError(what, "run the command in a terminal, or leave out --ask-first")

    async def review(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # In the event loop's thread: nothing else is under way, and a thread that reads could not be stopped by Ctrl-C.
        with nullcontext() if watching is None else watching.paused(), _stopped_by_ctrl_c():
            return [_decided(action) for action in actions]

    return review


def _decided(action: Mapping[str, Any]) -> dict[str, Any]:
    """Show an action and read the decision on it."""
    name, args = action["name"], action["args"]
    for line in str(action["description"]).splitlines():
        _say(line, style="bold")
    for key, value in args.items():
        _say(f"{key}: {value}")
    word, _, reason = _read(QUESTION).partition(" ")
    while (chosen := WORDS.get(word.casefold().rstrip(",:"))) is None:
        word, _, reason = _read(QUESTION).partition(" ")
    if chosen == "approve":
        return {"type": "approve"}
    if chosen == "reject":
        return {"type": "reject", "message": reason.strip()}
    edited = {key: _read(f"{key}{KEPT}") or value for key, value in args.items()}
    return {"type": "edit", "edited_action": {"name": name, "args": edited}}


def _say(line: str, style: str = "") -> None:
    err().print(Text(scrub(one_line(line)), style=style), soft_wrap=True)


def _read(prompt: str) -> str:
    """Return the next line; the prompt goes to stderr, as what is printed to stdout may be read by a program."""
    err().print(Text(prompt), end="")
    line = sys.stdin.readline()
    if not line:
        raise UsageError("the input ended before a decision was made", "answer yes, edit or no")
    return readable(line).strip()


@contextmanager
def _stopped_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the wait for a line: an event loop only takes note of it, for when its thread is free."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
