"""Display of a question in the terminal while it is answered, and a person's decisions on proposed actions (`ask_first`)."""

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
from ramify.studio.console.streams import err, note
from ramify.studio.drawing.phrases import kind_of
from ramify.studio.drawing.terminal import status_style
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line
from ramify.tools.scrub import scrub
from ramify.tools.user_input import check_text

DECISION_PROMPT = "yes, edit or no (no REASON says why): "
DECISIONS_BY_WORD = {"y": "approve", "yes": "approve", "e": "edit", "edit": "edit", "n": "reject", "no": "reject"}
KEEP_HINT = " (Enter keeps it): "


class LiveTree(RunTracker):
    """Prints the notices of a run, and on a terminal displays the growing tree, which is removed at the end."""

    def __init__(self, console: Console, on_notice: Callable[[str], None] = note) -> None:
        super().__init__(on_notice)
        self._started = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = (
            Live(console=console, get_renderable=self.render, transient=True, refresh_per_second=10) if console.is_terminal else None
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
        """Hide the tree while the block runs."""
        if self._live:
            self._live.stop()
        try:
            yield
        finally:
            if self._live:
                self._live.start()

    def render(self) -> Group:
        """Return the current state, one line per branch."""
        busy = self.busy
        self._spinner.text = Text(f" {self.doing} · {time.monotonic() - self._started:.0f} s", style="bold")
        lines = [_line(branch, busy.get(branch.path)) for branch in self.tree.values()]
        answer_lines = [Text(), Text(self.text)] if self.text else []
        return Group(self._spinner, *lines, *answer_lines)


def _line(branch: Branch, doing: str | None) -> Text:
    line = Text("  " * (branch.depth + 1), no_wrap=True, overflow="ellipsis")
    line.append(f"{branch.path} ", style="bold")
    line.append(f"{doing} …" if doing else branch.status, style="yellow" if doing else status_style(branch.status))
    line.append(f"  {one_line(kind_of(branch))}", style="dim" if branch.status in DROPPED else "")
    if branch.answer is not None and not doing:
        line.append(f" → {one_line(branch.answer)}", style="bold")
    return line


def terminal_reviewer(strategy: str, options: Mapping[str, Any], live_tree: LiveTree | None) -> Reviewer | None:
    """Return a reviewer that asks on the terminal, or None if stdin is not one; raise UsageError if `ask_first` needs one."""
    _, settings = configure(strategy, options)
    if not sys.stdin.isatty():
        if settings.reviewed == NEVER:
            return None
        what = f"ask_first={settings.reviewed} asks on the terminal, but the standard input is not a terminal"
        raise UsageError(what, "run the command in a terminal, or omit --ask-first")

    async def review_actions(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # In the event loop's thread: nothing else is running, and Ctrl-C could not stop another thread that reads.
        with nullcontext() if live_tree is None else live_tree.paused(), _interruptible_input():
            return [_read_decision(action) for action in actions]

    return review_actions


def _read_decision(action: Mapping[str, Any]) -> dict[str, Any]:
    """Print an action, and return the decision that is entered."""
    name, args = action["name"], action["args"]
    for line in str(action["description"]).splitlines():
        _print_line(line, style="bold")
    for key, value in args.items():
        _print_line(f"{key}: {value}")
    word, _, reason = _read(DECISION_PROMPT).partition(" ")
    while (decision := DECISIONS_BY_WORD.get(word.casefold().rstrip(",:"))) is None:
        word, _, reason = _read(DECISION_PROMPT).partition(" ")
    if decision == "approve":
        return {"type": "approve"}
    if decision == "reject":
        return {"type": "reject", "message": reason.strip()}
    edited = {key: _read(f"{key}{KEEP_HINT}") or value for key, value in args.items()}
    return {"type": "edit", "edited_action": {"name": name, "args": edited}}


def _print_line(line: str, style: str = "") -> None:
    err().print(Text(scrub(one_line(line)), style=style), soft_wrap=True)


def _read(prompt: str) -> str:
    """Return the next line of input; the prompt goes to stderr, because a program may read stdout."""
    err().print(Text(prompt), end="")
    line = sys.stdin.readline()
    if not line:
        raise UsageError("the input ended before a decision was made", "answer yes, edit or no")
    return check_text(line).strip()


@contextmanager
def _interruptible_input() -> Iterator[None]:
    """Let Ctrl-C interrupt the wait for input: an event loop handles it only when its thread is free."""
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
