"""The growing tree in the terminal: each branch with its current step."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ramify.graphs.run import RunTracker
from ramify.nodes.tree import DROPPED, Branch
from ramify.nodes.tree.phrases import kind_of
from ramify.studio.console.streams import note
from ramify.studio.drawing.terminal import style_of
from ramify.tools.quoting import one_line


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
