"""One turn of the chat: the question, what is being done about it, the answer, and the tree beside it."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Box, VBox

from ramify.graphs.result import Result
from ramify.studio.drawing.answer import answer_html, sources_html
from ramify.studio.drawing.cards import branches_html
from ramify.studio.drawing.phrases import brief, cost, searched, understood
from ramify.studio.drawing.tree_view import Look
from ramify.studio.events import Following
from ramify.studio.notebook.export import links_html
from ramify.tools.errors import RamifyError
from ramify.tools.markup import element, safe
from ramify.tools.scrub import scrub

PERIOD = 0.15
"""Seconds between two drawings of a growing tree: as fast as an eye follows, and little traffic."""
FIRST = "the first question takes longer: the sentence encoder is loaded and the index opened; the demo corpus is indexed once"


class Turn(VBox):
    """Show one turn, from the question to its answer or error."""

    def __init__(self, question: str, strategy: str, prefix: str, first: bool = False) -> None:
        self.question, self.strategy, self.prefix = question, strategy, prefix
        self.result: Result | None = None
        self._first = first
        self._run = Following()
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
        """Take in an event of the run; `grow` draws what came of it."""
        self._run(kind, event)

    async def grow(self) -> None:
        """Draw the run until cancelled."""
        while True:
            self._draw_status()
            self._draw_growing()
            await asyncio.sleep(PERIOD)

    def show(self, result: Result) -> None:
        """Show what came of the question."""
        self.result = result
        self._run.question = result.question
        self._draw_head()
        self._status.value = ""
        name = f"ramify-{self.prefix.rstrip('-')}"
        index = element("p", safe(searched(result, 'Chat(index="FOLDER")')), class_="cost") if result.index else ""
        foot = index + element("p", safe(f"{cost(result)} · {result.strategy} · {result.model}"), class_="cost") + links_html(result, name)
        self._said.value = _ramify(answer_html(result, self.prefix) + sources_html(result, self.prefix) + foot)
        self._draw_tree(folded=False)

    def fail(self, error: BaseException) -> None:
        """Show that nothing came of it, and why; what had grown stays."""
        what, remedy = (error.what, error.remedy) if isinstance(error, RamifyError) else _unforeseen(error)
        parts = element("p", safe(what), class_="what") + element("p", safe(remedy), class_="remedy")
        self._end(element("section", parts, class_="error", role="alert"))

    def stop(self) -> None:
        """Show that it was stopped; what had grown stays."""
        told = f"Stopped after {time.monotonic() - self._began:.1f} s. The conversation is as it was before the question."
        self._end(element("section", element("p", told), class_="stopped"))

    def fold(self) -> None:
        """Make room for the turns that follow: the tree folds to its summary."""
        if self._run.tree or self.result:
            self._draw_tree(folded=True)

    def _end(self, said: str) -> None:
        self._status.value = ""
        self._said.value = _ramify(said)
        self._draw_tree(folded=False)

    def _draw_head(self) -> None:
        asked = element("p", safe(brief(self.question)), class_="asked", dir="auto")
        if told := understood(self.question, self._run.question or self.question):
            asked += element("p", safe(told), class_="understood", dir="auto")
        self._head.value = _ramify(asked)

    def _draw_status(self) -> None:
        seconds = time.monotonic() - self._began
        told = element("span", f"{self._run.doing} …", class_="doing") + element("span", f"{seconds:.0f} s", class_="clock")
        if self._first and not self._run.passages:
            told += element("span", FIRST, class_="hint")
        told += "".join(element("span", safe(notice), class_="hint") for notice in self._run.notices)
        _put(self._status, _ramify(element("div", told, class_="progress", role="status")))

    def _draw_growing(self) -> None:
        _put(self._tree, _ramify(branches_html(self._run.tree, Look(prefix=self.prefix, busy=self._run.busy))))

    def _draw_tree(self, folded: bool) -> None:
        tree = self.result.tree if self.result else self._run.tree
        passages = self.result.passages if self.result else self._run.passages
        count = f"{len(tree)} {'branch' if len(tree) == 1 else 'branches'}"
        title = "How it was found" if self.result else "What had grown"
        inner = element("summary", f"{title} · {count}") + branches_html(tree, Look(passages, self.prefix))
        self._tree.value = _ramify(element("details", inner, class_="found", open=None if folded else "")) if tree else ""


def _put(widget: HTML, value: str) -> None:
    """Send what changed, and nothing else."""
    if widget.value != value:
        widget.value = value


def _ramify(content: str) -> str:
    return element("div", content, class_="ramify")


def _unforeseen(error: BaseException) -> tuple[str, str]:
    return scrub(f"unexpected: {type(error).__name__}: {error}"), "the traceback is in the log of the kernel; ask again, or report it"
