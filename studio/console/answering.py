"""A question in the terminal while it is answered: the growing tree, and what a person decides on what is proposed (`ask_first`)."""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ramify.graphs.run import Reviewer, RunTracker
from ramify.graphs.strategies import configure
from ramify.nodes.settings import NEVER
from ramify.nodes.tree import DROPPED, Branch
from ramify.nodes.tree.phrases import kind_of
from ramify.studio.console.streams import err, note
from ramify.studio.drawing.terminal import style_of
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line
from ramify.tools.scrub import scrub
from ramify.tools.user_input import check_text

QUESTION = "yes, edit or no (no REASON says why): "
WORDS = {"y": "approve", "yes": "approve", "e": "edit", "edit": "edit", "n": "reject", "no": "reject"}
KEPT = " (Enter keeps it): "


class Watching(RunTracker):
    """Show notices of a run, and on a terminal the growing tree, which is removed at the end."""

    def __init__(self, console: Console, tell: Callable[[str], None] = note) -> None:
        super().__init__(tell)
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = (
            Live(console=console, get_renderable=self.picture, transient=True, refresh_per_second=10) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the growing tree off the terminal meanwhile."""
        if self._live:
            self._live.stop()
        try:
            yield
        finally:
            if self._live:
                self._live.start()

    def picture(self) -> Group:
        """Return the current state, one line per branch."""
        busy = self.busy
        self._spinner.text = Text(f" {self.doing} · {time.monotonic() - self._began:.0f} s", style="bold")
        lines = [_line(branch, busy.get(branch.path)) for branch in self.tree.values()]
        written = [Text(), Text(self.text)] if self.text else []
        return Group(self._spinner, *lines, *written)


def _line(branch: Branch, doing: str | None) -> Text:
    line = Text("  " * (branch.depth + 1), no_wrap=True, overflow="ellipsis")
    line.append(f"{branch.path} ", style="bold")
    line.append(f"{doing} …" if doing else branch.status, style="yellow" if doing else style_of(branch.status))
    line.append(f"  {one_line(kind_of(branch))}", style="dim" if branch.status in DROPPED else "")
    if branch.answer is not None and not doing:
        line.append(f" → {one_line(branch.answer)}", style="bold")
    return line


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
    return check_text(line).strip()


@contextmanager
def _stopped_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the wait for a line: an event loop only takes note of it, for when its thread is free."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
