"""One turn of the chat: question, progress, answer, and the tree beside it."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Box, VBox

from ramify.graphs.result import Result
from ramify.graphs.run import RunTracker
from ramify.nodes.tree.cards import Look
from ramify.nodes.tree.phrases import brief
from ramify.studio.drawing.page import answer_html, branches_html
from ramify.studio.drawing.phrases import cost, searched, understood
from ramify.studio.notebook.export import files
from ramify.tools.errors import RamifyError
from ramify.tools.pages import part
from ramify.tools.quoting import many
from ramify.tools.scrub import scrub

PERIOD = 0.15
"""Seconds between two updates of a growing tree."""
FIRST = "the first question takes longer: the sentence encoder is loaded and the index opened; the demo corpus is indexed once"


class Turn(VBox):
    """Show one turn, from the question to its answer or error."""

    def __init__(self, question: str, strategy: str, prefix: str, first: bool = False) -> None:
        self.question, self.strategy, self.prefix = question, strategy, prefix
        self.result: Result | None = None
        self._first = first
        self._run = RunTracker()
        self._began = time.monotonic()
        self._head, self._status, self._said, self._tree = (HTML() for _ in range(4))
        left, right = VBox([self._status, self._said]), VBox([self._tree])
        for box, name in ((left, "ramify-said"), (right, "ramify-tree")):
            box.add_class(name)
        columns = Box([left, right])
        columns.add_class("ramify-columns")
        super().__init__([self._head, columns])
        self.add_class("ramify-turn")
        self._draw_head()
        self._draw_status()

    def watch(self, kind: str, event: Mapping[str, Any]) -> None:
        """Process an event of the run; `grow` draws the result."""
        self._run(kind, event)

    async def grow(self) -> None:
        """Draw the run until cancelled."""
        while True:
            self._draw_status()
            self._draw_growing()
            await asyncio.sleep(PERIOD)

    def show(self, result: Result) -> None:
        """Show the result."""
        self.result = result
        self._run.question = result.question
        self._draw_head()
        self._status.value = ""
        index = searched(result, 'Chat(index="FOLDER")') if result.index else ""
        spent = f"{cost(result)} · {result.strategy} · {result.model}"
        links = files(result, f"ramify-{self.prefix.rstrip('-')}")
        self._said.value = _drawn("answered", answer_html(result, self.prefix), index, spent, links)
        self._draw_tree(folded=False)

    def fail(self, error: BaseException) -> None:
        """Show an error; the tree so far is kept."""
        what = scrub(f"unexpected: {type(error).__name__}: {error}")
        remedy = "the traceback is in the log of the kernel; ask again, or report it"
        if isinstance(error, RamifyError):
            what, remedy = error.what, error.remedy
        self._end(_drawn("failed", what, remedy))

    def stop(self) -> None:
        """Show that it was stopped; the tree so far is kept."""
        self._end(_drawn("stopped", time.monotonic() - self._began))

    def fold(self) -> None:
        """Fold the tree to its summary."""
        if self._run.tree or self.result:
            self._draw_tree(folded=True)

    def _end(self, said: str) -> None:
        self._status.value = ""
        self._said.value = said
        self._draw_tree(folded=False)

    def _draw_head(self) -> None:
        self._head.value = _drawn("head", brief(self.question), understood(self.question, self._run.question or self.question))

    def _draw_status(self) -> None:
        hints = [*([FIRST] if self._first and not self._run.passages else []), *self._run.notices]
        _put(self._status, _drawn("status", self._run.doing, time.monotonic() - self._began, hints))

    def _draw_growing(self) -> None:
        _put(self._tree, _boxed(branches_html(self._run.tree, Look(prefix=self.prefix, busy=self._run.busy))))

    def _draw_tree(self, folded: bool) -> None:
        tree, passages = (self.result or self._run).tree, (self.result or self._run).passages
        title = "How it was found" if self.result else "The tree so far"
        branches = branches_html(tree, Look(passages, self.prefix))
        self._tree.value = _drawn("found", title, many(len(tree), "branch", "branches"), branches, folded) if tree else ""


def _put(widget: HTML, value: str) -> None:
    """Set the value if it changed."""
    if widget.value != value:
        widget.value = value


def _drawn(name: str, *values: Any) -> str:
    return _boxed(part("turn.html", name, *values))


def _boxed(content: str) -> str:
    return str(part("turn.html", "box", content))
