"""The chat: a question box, the settings, and the turns, the newest first."""

import asyncio
import logging
import os
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ipywidgets import HTML, Button, HBox, Text, ToggleButton, VBox

from ramify.graphs import DEFAULT, Conversation, Result, configure
from ramify.nodes.init_tree import checked
from ramify.studio.notebook.export import save
from ramify.studio.notebook.panel import Panel
from ramify.studio.notebook.turn import Turn
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.pages import part, style

GRACE = 0.1
"""Seconds between the Enter key and the question: a browser tells of the key first and of the text right after."""
HINT = "Ask a question, then press Enter"
BUSY = "Answering … Stop ends it; the next question can be written meanwhile"
log = logging.getLogger(__name__)
numbers = count(1)


class Chat(VBox):
    """A conversation with an index, in a cell: `Chat(index="folder", strategy="tor")`; options as `ramify.graphs.ask` takes them.

    With `memory` and `thread` it is stored and can be resumed: see `Conversation`.
    """

    def __init__(
        self, index: Any = None, strategy: str = DEFAULT, *, memory: str | None = None, thread: str | None = None, **options: Any
    ) -> None:
        given = {**options, **({} if index is None else {"index": os.fspath(index) if isinstance(index, Path) else index})}
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
        self._listen()

    def __repr__(self) -> str:
        count = len(self.turns)
        return f"a chat with {self.panel.strategy.value}, {count} {'turn' if count == 1 else 'turns'}; shown where Jupyter widgets are"

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
            return await self.conversation.ask_async(turn.question, turn.strategy, turn.watch, **options)
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
        sheet = HTML(str(part("turn.html", "styled", style())))
        sheet.layout.display = "none"
        row, bar = HBox([self.box, self.send, self.stop]), HBox([self.panel.strategy, self.settings])
        row.add_class("ramify-asking")
        bar.add_class("ramify-bar")
        self.panel.layout.display = "none"
        return [sheet, row, self.said, bar, self.panel, self._turns]

    def _listen(self) -> None:
        self.send.on_click(lambda button: self._submit())
        self.stop.on_click(lambda button: self.running and self.running.cancel())
        self.box.on_msg(self._key)
        self.settings.observe(self._toggle, "value")

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
        self.said.value = str(part("turn.html", "box", part("turn.html", "warning", message))) if message else ""
        self.said.layout.display = None if message else "none"
