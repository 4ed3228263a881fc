"""The chat in a notebook: questions, answers with their growing trees, and their export."""

import asyncio
import json
import logging
import os
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ipywidgets import HTML, Box, Button, HBox, Text, ToggleButton, VBox

from ramify.graphs import DEFAULT, Conversation, Result, configure
from ramify.graphs.run import RunTracker
from ramify.nodes.init_tree import checked
from ramify.nodes.tree.cards import Look
from ramify.nodes.tree.phrases import brief
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import answer_html, branches_html, page
from ramify.studio.drawing.phrases import cost, searched, understood
from ramify.studio.notebook._panel import Panel
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import write_atomically
from ramify.tools.pages import render_macro, style_sheet
from ramify.tools.quoting import pluralize
from ramify.tools.scrub import scrub


class Form(NamedTuple):
    """An export format."""

    media: str
    label: str
    write: Callable[[Result], str]


FORMS = {
    "json": Form("application/json", "JSON", lambda result: json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"),
    "html": Form("text/html", "HTML", page),
    "mmd": Form("text/vnd.mermaid", "Mermaid", lambda result: tree_mermaid(result.tree)),
}
"""By suffix of the file."""


def files(result: Result, name: str) -> list[tuple[str, str, str]]:
    """Return for each format its label, the turn as a data URL, and the file name."""
    return [
        (form.label, f"data:{form.media};base64,{b64encode(form.write(result).encode()).decode()}", f"{name}.{suffix}")
        for suffix, form in FORMS.items()
    ]


def save(result: Result, path: str | Path) -> Path:
    """Write the turn to a file, in the format of its suffix."""
    target = Path(path)
    form = FORMS.get(target.suffix.removeprefix("."))
    if form is None:
        raise UsageError(f"{target.name!r} has no known suffix", f"use .{', .'.join(FORMS)}")
    write_atomically(form.write(result), target)
    return target


PERIOD = 0.15
"""Seconds between two updates of a growing tree."""
FIRST = "the first question takes longer: the sentence encoder is loaded and the index opened; the demo corpus is indexed once"


class Review(VBox):
    """An action that is proposed (`ask_first`), with its arguments to edit: Go on takes them as they stand, Reject takes none."""

    def __init__(self, action: Mapping[str, Any]) -> None:
        self.name, self.args = str(action["name"]), dict(action["args"])
        self.fields = {key: Text(value=value, description=key, continuous_update=True) for key, value in self.args.items()}
        self.accept = Button(description="Go on", icon="check", button_style="primary", tooltip="Take it as it stands here")
        self.refuse = Button(description="Reject", icon="times", tooltip="Go on without it")
        self._decided: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        super().__init__(
            [HTML(_drawn("proposed", str(action["description"]).splitlines())), *self.fields.values(), HBox([self.accept, self.refuse])]
        )
        self.add_class("ramify-review")
        self.accept.on_click(self._accept)
        self.refuse.on_click(lambda button: self._decide({"type": "reject"}))

    async def decision(self) -> dict[str, Any]:
        """Return what was decided, once a button is pressed."""
        return await self._decided

    def _accept(self, button: Any) -> None:
        args = {key: field.value for key, field in self.fields.items()}
        edited = {"type": "edit", "edited_action": {"name": self.name, "args": args}}
        self._decide({"type": "approve"} if args == self.args else edited)

    def _decide(self, decision: dict[str, Any]) -> None:
        if not self._decided.done():
            self._decided.set_result(decision)


class Turn(VBox):
    """Show one turn, from the question to its answer or error."""

    def __init__(self, question: str, strategy: str, prefix: str, first: bool = False) -> None:
        self.question, self.strategy, self.prefix = question, strategy, prefix
        self.result: Result | None = None
        self._first = first
        self._run = RunTracker()
        self._began = time.monotonic()
        self._head, self._status, self._said, self._tree = (HTML() for _ in range(4))
        self.reviews = VBox()
        """What a person is asked about; empty where nobody is asked."""
        left, right = VBox([self._status, self.reviews, self._said]), VBox([self._tree])
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

    async def review(self, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Show actions until each is decided on; return the decisions."""
        asked = [Review(action) for action in actions]
        self.reviews.children = tuple(asked)
        try:
            return [await one.decision() for one in asked]
        finally:
            self.reviews.children = ()

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
        if self._run.text:
            _put(self._said, _drawn("written", self._run.text))

    def _draw_tree(self, folded: bool) -> None:
        tree, passages = (self.result or self._run).tree, (self.result or self._run).passages
        title = "How it was found" if self.result else "The tree so far"
        branches = branches_html(tree, Look(passages, self.prefix))
        self._tree.value = _drawn("found", title, pluralize(len(tree), "branch", "branches"), branches, folded) if tree else ""


def _put(widget: HTML, value: str) -> None:
    """Set the value if it changed."""
    if widget.value != value:
        widget.value = value


def _drawn(name: str, *values: Any) -> str:
    return _boxed(render_macro("turn.html", name, *values))


def _boxed(content: str) -> str:
    return str(render_macro("turn.html", "box", content))


GRACE = 0.1
"""Seconds between the Enter key and the question: a browser tells of the key first and of the text right after."""
HINT = "Ask a question, then press Enter"
BUSY = "Answering … Stop ends it; the next question can be written meanwhile"
log = logging.getLogger(__name__)
numbers = count(1)


def _named(index: Any) -> Any:
    """Return the path of a folder as text, anything else as it is."""
    return os.fspath(index) if isinstance(index, Path) else index


class Chat(VBox):
    """A conversation with an index, in a cell: `Chat(index="folder", strategy="tor")`; options as `ramify.graphs.ask` takes them.

    A list of indexes is searched as one.

    With `memory` and `thread` it is stored and can be resumed: see `Conversation`.
    """

    def __init__(
        self, index: Any = None, strategy: str = DEFAULT, *, memory: str | None = None, thread: str | None = None, **options: Any
    ) -> None:
        several = [_named(one) for one in index] if isinstance(index, (list, tuple)) else _named(index)
        given = {**options, **({} if index is None else {"index": several})}
        self.conversation = Conversation(memory, thread)
        self.conversation.recall()
        self.panel = Panel(strategy, given)
        self.running: asyncio.Task[Result] | None = None
        self._prefix = f"chat{next(numbers)}"
        self._turns = VBox()
        self.box = Text(placeholder=HINT, tooltip=HINT, continuous_update=False)
        self.send = Button(description="Ask", icon="paper-plane", button_style="primary", tooltip="Ask the question (Enter)")
        self.stop = Button(description="Stop", icon="stop", disabled=True, tooltip="Stop the question that is being answered")
        self.settings = ToggleButton(description="Settings", icon="sliders", tooltip="Show or hide the settings")
        self.said = HTML()
        super().__init__(self._laid_out())
        self.add_class("ramify-chat")
        self._say("")
        self.send.on_click(lambda button: self._submit())
        self.stop.on_click(lambda button: self.running and self.running.cancel())
        self.box.on_msg(self._key)
        self.settings.observe(self._toggle, "value")

    def __repr__(self) -> str:
        return f"a chat with {self.panel.strategy.value}, {pluralize(len(self.turns), 'turn')}; shown where Jupyter widgets are"

    @property
    def turns(self) -> list[Turn]:
        """List the turns, the oldest first."""
        return list(reversed(self._turns.children))

    @property
    def results(self) -> list[Result]:
        """List the results of answered turns, the oldest first."""
        return [turn.result for turn in self.turns if turn.result is not None]

    def save(self, path: str | Path) -> Path:
        """Write the last answered turn into a file that ends in .json, .html or .mmd."""
        if not self.results:
            raise UsageError("nothing was answered yet", "ask a question first")
        return save(self.results[-1], path)

    def ask(self, question: str) -> asyncio.Task[Result]:
        """Ask a question as from the box; awaiting it returns the result or raises the error shown."""
        if self.running is not None:
            raise UsageError("a question is being answered", "wait for it, or press Stop")
        loop, strategy, options = asyncio.get_running_loop(), self.panel.strategy.value, self.panel.options()
        configure(strategy, options)  # raise for wrong settings before a turn starts
        turn = Turn(checked(question), strategy, f"{self._prefix}-{len(self.turns) + 1}-", first=not self.results)
        if self.turns:
            self.turns[-1].fold()
        self._turns.children = (turn, *self._turns.children)
        task = loop.create_task(self._answer(turn, options))
        task.add_done_callback(partial(self._ended, turn))
        self._occupy(task)
        return task

    async def _answer(self, turn: Turn, options: dict[str, Any]) -> Result:
        growing = asyncio.create_task(turn.grow())
        try:
            return await self.conversation.ask_async(turn.question, turn.strategy, turn.watch, reviewer=turn.review, **options)
        finally:
            growing.cancel()
            with suppress(asyncio.CancelledError):
                await growing

    def _ended(self, turn: Turn, task: asyncio.Task[Result]) -> None:
        """Show the result of a turn; put an unanswered question back into the box."""
        self._occupy(None)
        if not task.cancelled() and task.exception() is None:
            turn.show(task.result())
            return
        self.box.value = self.box.value or turn.question
        if task.cancelled():
            turn.stop()
        elif error := task.exception():
            if not isinstance(error, RamifyError):
                log.error("a question failed", exc_info=error)
            turn.fail(error)

    def _occupy(self, task: asyncio.Task[Result] | None) -> None:
        self.running = task
        self.send.disabled, self.stop.disabled = task is not None, task is None
        self.box.placeholder = BUSY if task else HINT
        self._say("")

    def _laid_out(self) -> list[Any]:
        sheet = HTML(str(render_macro("turn.html", "styled", style_sheet())))
        sheet.layout.display = "none"
        row, bar = HBox([self.box, self.send, self.stop]), HBox([self.panel.strategy, self.settings])
        row.add_class("ramify-asking")
        bar.add_class("ramify-bar")
        self.panel.layout.display = "none"
        return [sheet, row, self.said, bar, self.panel, self._turns]

    def _key(self, box: Text, content: dict[str, Any], buffers: Any) -> None:
        if content.get("event") == "submit":
            asyncio.get_running_loop().call_later(GRACE, self._submit)

    def _toggle(self, change: Any) -> None:
        self.panel.layout.display = None if change.new else "none"

    def _submit(self) -> None:
        """Ask the question in the box; keep it there with the reason if that fails."""
        try:
            self.ask(self.box.value)
        except UsageError as error:
            self._say(str(error))
        else:
            self.box.value = ""

    def _say(self, message: str) -> None:
        self.said.value = _drawn("warning", message) if message else ""
        self.said.layout.display = None if message else "none"
