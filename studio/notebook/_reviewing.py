"""What a person decides in the notebook's chat on what is proposed (`ask_first`)."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Button, HBox, Text, VBox

from ramify.tools.pages import part


class Review(VBox):
    """An action with its arguments to edit: Go on takes them as they stand, Reject takes none."""

    def __init__(self, action: Mapping[str, Any]) -> None:
        self.name, self.args = str(action["name"]), dict(action["args"])
        self.fields = {key: Text(value=value, description=key, continuous_update=True) for key, value in self.args.items()}
        self.accept = Button(description="Go on", icon="check", button_style="primary", tooltip="Take it as it stands here")
        self.refuse = Button(description="Reject", icon="times", tooltip="Go on without it")
        self._decided: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        super().__init__([HTML(_described(action)), *self.fields.values(), HBox([self.accept, self.refuse])])
        self.add_class("ramify-review")
        self.accept.on_click(lambda button: self._decide(self._as_it_stands()))
        self.refuse.on_click(lambda button: self._decide({"type": "reject"}))

    async def decision(self) -> dict[str, Any]:
        """Return what was decided, once a button is pressed."""
        return await self._decided

    def _as_it_stands(self) -> dict[str, Any]:
        args = {key: field.value for key, field in self.fields.items()}
        return {"type": "approve"} if args == self.args else {"type": "edit", "edited_action": {"name": self.name, "args": args}}

    def _decide(self, decision: dict[str, Any]) -> None:
        if not self._decided.done():
            self._decided.set_result(decision)


def _described(action: Mapping[str, Any]) -> str:
    return str(part("turn.html", "box", part("turn.html", "proposed", str(action["description"]).splitlines())))
