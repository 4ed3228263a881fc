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

from ramify.graphs import Conversation, Result, choose_strategy, configure
from ramify.graphs.run import RunTracker
from ramify.nodes.init_tree import validate_question
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import TreeView, answer_html, branches_html, result_page
from ramify.studio.drawing.phrases import cost_text, index_text, shorten_question, understood_as
from ramify.studio.notebook._panel import Panel
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import write_atomically
from ramify.tools.pages import render_macro, style_sheet
from ramify.tools.quoting import pluralize
from ramify.tools.scrub import scrub


class ExportFormat(NamedTuple):
    """A format in which a turn is exported."""

    media: str
    label: str
    write: Callable[[Result], str]


EXPORT_FORMATS = {
    "json": ExportFormat("application/json", "JSON", lambda result: json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"),
    "html": ExportFormat("text/html", "HTML", result_page),
    "mmd": ExportFormat("text/vnd.mermaid", "Mermaid", lambda result: tree_mermaid(result.tree)),
}
"""The export formats by suffix of the file."""


def export_links(result: Result, name: str) -> list[tuple[str, str, str]]:
    """Return for each format its label, the turn as a data URL, and the file name."""
    return [
        (
            export_format.label,
            f"data:{export_format.media};base64,{b64encode(export_format.write(result).encode()).decode()}",
            f"{name}.{suffix}",
        )
        for suffix, export_format in EXPORT_FORMATS.items()
    ]


def save_result(result: Result, path: str | Path) -> Path:
    """Write the turn to a file, in the format of its suffix."""
    target = Path(path)
    export_format = EXPORT_FORMATS.get(target.suffix.removeprefix("."))
    if export_format is None:
        raise UsageError(f"{target.name!r} has no known suffix", f"use .{', .'.join(EXPORT_FORMATS)}")
    write_atomically(export_format.write(result), target)
    return target


UPDATE_INTERVAL_S = 0.15
"""Seconds between two updates of a growing tree."""
FIRST_QUESTION_HINT = (
    "the first question takes longer: the sentence encoder is loaded and the index opened; the demo corpus is indexed once"
)


class ReviewWidget(VBox):
    """A proposed action (`ask_first`) with editable arguments: Go on accepts it with these arguments, Reject rejects it."""

    def __init__(self, action: Mapping[str, Any]) -> None:
        self.name, self.args = str(action["name"]), dict(action["args"])
        self.fields = {key: Text(value=value, description=key, continuous_update=True) for key, value in self.args.items()}
        self.accept = Button(description="Go on", icon="check", button_style="primary", tooltip="Accept it with these values")
        self.reject = Button(description="Reject", icon="times", tooltip="Continue without it")
        self._future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        super().__init__(
            [HTML(_render("proposed", str(action["description"]).splitlines())), *self.fields.values(), HBox([self.accept, self.reject])]
        )
        self.add_class("ramify-review")
        self.accept.on_click(self._accept)
        self.reject.on_click(lambda button: self._finish({"type": "reject"}))

    async def decision(self) -> dict[str, Any]:
        """Return the decision, once a button is pressed."""
        return await self._future

    def _accept(self, button: Any) -> None:
        args = {key: field.value for key, field in self.fields.items()}
        edited = {"type": "edit", "edited_action": {"name": self.name, "args": args}}
        self._finish({"type": "approve"} if args == self.args else edited)

    def _finish(self, decision: dict[str, Any]) -> None:
        if not self._future.done():
            self._future.set_result(decision)


class TurnWidget(VBox):
    """Displays one turn, from the question to its answer or error."""

    def __init__(self, question: str, strategy: str, prefix: str, first: bool = False) -> None:
        self.question, self.strategy, self.prefix = question, strategy, prefix
        self.result: Result | None = None
        self._first = first
        self._tracker = RunTracker()
        self._started = time.monotonic()
        self._head, self._status, self._answer_html, self._tree = (HTML() for _ in range(4))
        self.reviews = VBox()
        """The proposed actions that wait for a decision; empty if there are none."""
        left, right = VBox([self._status, self.reviews, self._answer_html]), VBox([self._tree])
        for box, name in ((left, "ramify-said"), (right, "ramify-tree")):
            box.add_class(name)
        columns = Box([left, right])
        columns.add_class("ramify-columns")
        super().__init__([self._head, columns])
        self.add_class("ramify-turn")
        self._draw_head()
        self._draw_status()

    def watch(self, kind: str, event: Mapping[str, Any]) -> None:
        """Process an event of the run, which `draw_until_cancelled` displays."""
        self._tracker(kind, event)

    async def review(self, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Show actions until there is a decision on each; return the decisions."""
        widgets = [ReviewWidget(action) for action in actions]
        self.reviews.children = tuple(widgets)
        try:
            return [await widget.decision() for widget in widgets]
        finally:
            self.reviews.children = ()

    async def draw_until_cancelled(self) -> None:
        """Update the display of the run until cancelled."""
        while True:
            self._draw_status()
            self._draw_running()
            await asyncio.sleep(UPDATE_INTERVAL_S)

    def show(self, result: Result) -> None:
        """Show the result."""
        self.result = result
        self._tracker.question = result.question
        self._draw_head()
        self._status.value = ""
        index = index_text(result, 'Chat(index="FOLDER")') if result.index else ""
        cost_line = f"{cost_text(result)} · {result.strategy} · {result.model}"
        links = export_links(result, f"ramify-{self.prefix.rstrip('-')}")
        self._answer_html.value = _render("answered", answer_html(result, self.prefix), index, cost_line, links)
        self._draw_tree(folded=False)

    def fail(self, error: BaseException) -> None:
        """Show an error; the tree so far stays visible."""
        problem = scrub(f"unexpected: {type(error).__name__}: {error}")
        remedy = "the traceback is in the log of the kernel; ask again, or report it"
        if isinstance(error, RamifyError):
            problem, remedy = error.what, error.remedy
        self._end(_render("failed", problem, remedy))

    def stop(self) -> None:
        """Show that the question was stopped; the tree so far stays visible."""
        self._end(_render("stopped", time.monotonic() - self._started))

    def fold(self) -> None:
        """Fold the tree to its summary."""
        if self._tracker.tree or self.result:
            self._draw_tree(folded=True)

    def _end(self, answer: str) -> None:
        self._status.value = ""
        self._answer_html.value = answer
        self._draw_tree(folded=False)

    def _draw_head(self) -> None:
        self._head.value = _render(
            "head", shorten_question(self.question), understood_as(self.question, self._tracker.question or self.question)
        )

    def _draw_status(self) -> None:
        hints = [*([FIRST_QUESTION_HINT] if self._first and not self._tracker.passages else []), *self._tracker.notices]
        _set_value(self._status, _render("status", self._tracker.doing, time.monotonic() - self._started, hints))

    def _draw_running(self) -> None:
        _set_value(self._tree, _wrap_html(branches_html(self._tracker.tree, TreeView(prefix=self.prefix, busy=self._tracker.busy))))
        if self._tracker.text:
            _set_value(self._answer_html, _render("written", self._tracker.text))

    def _draw_tree(self, folded: bool) -> None:
        tree, passages = (self.result or self._tracker).tree, (self.result or self._tracker).passages
        title = "How it was found" if self.result else "The tree so far"
        branches = branches_html(tree, TreeView(passages, self.prefix))
        self._tree.value = _render("found", title, pluralize(len(tree), "branch", "branches"), branches, folded) if tree else ""


def _set_value(widget: HTML, value: str) -> None:
    """Set the value if it changed."""
    if widget.value != value:
        widget.value = value


def _render(name: str, *values: Any) -> str:
    return _wrap_html(render_macro("turn.html", name, *values))


def _wrap_html(content: str) -> str:
    return str(render_macro("turn.html", "box", content))


SUBMIT_DELAY_S = 0.1
"""Seconds between the Enter key and the question: the browser sends the key event before the changed text."""
INPUT_HINT = "Ask a question, then press Enter"
BUSY_HINT = "Answering … Stop ends it; the next question can be written meanwhile"
log = logging.getLogger(__name__)
chat_numbers = count(1)


def _path_text(index: Any) -> Any:
    """Return the path of a folder as text, anything else as it is."""
    return os.fspath(index) if isinstance(index, Path) else index


class Chat(VBox):
    """A conversation with an index, in a cell: `Chat(index="folder", strategy="tor")`; options as `ramify.graphs.ask` takes them.

    A list of indexes is searched as one.

    With `memory` and `thread` it is stored and can be resumed: see `Conversation`.
    """

    def __init__(
        self, index: Any = None, strategy: str | None = None, *, memory: str | None = None, thread: str | None = None, **options: Any
    ) -> None:
        indexes = [_path_text(item) for item in index] if isinstance(index, (list, tuple)) else _path_text(index)
        panel_options = {**options, **({} if index is None else {"index": indexes})}
        self.conversation = Conversation(memory, thread)
        self.conversation.recall()
        self.panel = Panel(strategy or choose_strategy(panel_options), panel_options)
        self.running: asyncio.Task[Result] | None = None
        self._prefix = f"chat{next(chat_numbers)}"
        self._turns = VBox()
        self.box = Text(placeholder=INPUT_HINT, tooltip=INPUT_HINT, continuous_update=False)
        self.send = Button(description="Ask", icon="paper-plane", button_style="primary", tooltip="Ask the question (Enter)")
        self.stop = Button(description="Stop", icon="stop", disabled=True, tooltip="Stop the question that is being answered")
        self.settings = ToggleButton(description="Settings", icon="sliders", tooltip="Show or hide the settings")
        self.warning = HTML()
        super().__init__(self._layout())
        self.add_class("ramify-chat")
        self._show_warning("")
        self.send.on_click(lambda button: self._submit())
        self.stop.on_click(lambda button: self.running and self.running.cancel())
        self.box.on_msg(self._on_key)
        self.settings.observe(self._toggle, "value")

    def __repr__(self) -> str:
        return (
            f"a chat with {self.panel.strategy.value}, {pluralize(len(self.turns), 'turn')}; displayed where Jupyter widgets are supported"
        )

    @property
    def turns(self) -> list[TurnWidget]:
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
        return save_result(self.results[-1], path)

    def ask(self, question: str) -> asyncio.Task[Result]:
        """Ask a question as from the box; awaiting it returns the result or raises the error shown."""
        if self.running is not None:
            raise UsageError("a question is being answered", "wait for it, or press Stop")
        loop, strategy, options = asyncio.get_running_loop(), self.panel.strategy.value, self.panel.options()
        configure(strategy, options)  # raise for invalid settings before a turn starts
        turn = TurnWidget(validate_question(question), strategy, f"{self._prefix}-{len(self.turns) + 1}-", first=not self.results)
        if self.turns:
            self.turns[-1].fold()
        self._turns.children = (turn, *self._turns.children)
        task = loop.create_task(self._answer(turn, options))
        task.add_done_callback(partial(self._on_done, turn))
        self._set_running(task)
        return task

    async def _answer(self, turn: TurnWidget, options: dict[str, Any]) -> Result:
        drawing = asyncio.create_task(turn.draw_until_cancelled())
        try:
            return await self.conversation.ask_async(turn.question, turn.strategy, turn.watch, reviewer=turn.review, **options)
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing

    def _on_done(self, turn: TurnWidget, task: asyncio.Task[Result]) -> None:
        """Show the result of a turn; put an unanswered question back into the box."""
        self._set_running(None)
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

    def _set_running(self, task: asyncio.Task[Result] | None) -> None:
        self.running = task
        self.send.disabled, self.stop.disabled = task is not None, task is None
        self.box.placeholder = BUSY_HINT if task else INPUT_HINT
        self._show_warning("")

    def _layout(self) -> list[Any]:
        sheet = HTML(str(render_macro("turn.html", "styled", style_sheet())))
        sheet.layout.display = "none"
        input_row, settings_row = HBox([self.box, self.send, self.stop]), HBox([self.panel.strategy, self.settings])
        input_row.add_class("ramify-asking")
        settings_row.add_class("ramify-bar")
        self.panel.layout.display = "none"
        return [sheet, input_row, self.warning, settings_row, self.panel, self._turns]

    def _on_key(self, box: Text, content: dict[str, Any], buffers: Any) -> None:
        if content.get("event") == "submit":
            asyncio.get_running_loop().call_later(SUBMIT_DELAY_S, self._submit)

    def _toggle(self, change: Any) -> None:
        self.panel.layout.display = None if change.new else "none"

    def _submit(self) -> None:
        """Ask the question in the box; if that fails, show the reason, and leave the question in the box."""
        try:
            self.ask(self.box.value)
        except UsageError as error:
            self._show_warning(str(error))
        else:
            self.box.value = ""

    def _show_warning(self, message: str) -> None:
        self.warning.value = _render("warning", message) if message else ""
        self.warning.layout.display = None if message else "none"
