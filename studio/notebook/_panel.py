"""The panel of the chat: strategy and settings as text fields with default and description."""

import json
from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Box, Dropdown, Text, Textarea, VBox

from ramify.graphs.strategies import STRATEGIES, build, configure, describe_max_calls, find_strategy
from ramify.nodes.settings import Settings
from ramify.studio.console.options import read_pairs, read_value, written
from ramify.tools.errors import UsageError
from ramify.tools.pages import render_macro

COMMON = ("model", "index", "k", "max_calls", "max_seconds")
"""Frequent settings of every strategy, shown after the strategy's own."""


def shown(strategy: str) -> list[str]:
    """List the settings with their own field."""
    fields = build(strategy).settings.model_fields
    return [name for name in fields if name not in Settings.model_fields] + list(COMMON)


def told(strategy: str) -> dict[str, tuple[str, str]]:
    """Return default and description of every setting and graph argument."""
    settings = {name: (written(field.default), field.description or "") for name, field in build(strategy).settings.model_fields.items()}
    told = find_strategy(strategy).arguments
    return {
        **settings,
        **{name: (written(given.default), told.get(name, "")) for name, given in find_strategy(strategy).parameters.items()},
    }


class Panel(VBox):
    """The settings of the chosen strategy; values are kept when another strategy has the setting, too."""

    def __init__(self, strategy: str, options: Mapping[str, Any]) -> None:
        configure(strategy, options)  # raise for a wrong option at once
        self.strategy = Dropdown(
            options=list(STRATEGIES), value=strategy, description="Strategy", tooltip="How the question is taken apart"
        )
        without_field = {name: value for name, value in options.items() if name not in shown(strategy)}
        self.others = Textarea(
            value="\n".join(f"{name}={json.dumps(value)}" for name, value in without_field.items()),
            description="others",
            placeholder="KEY=VALUE, one a line, such as num_ctx=16384",
            tooltip="Any other setting or argument of the strategy",
            continuous_update=False,
            rows=2,
        )
        self.fields: dict[str, Field] = {}
        self._given = dict(options)
        self._grid, self._told = Box(), HTML()
        self._grid.add_class("ramify-fields")
        self.others.add_class("ramify-others")
        super().__init__([self._grid, self.others, self._told])
        self.add_class("ramify-panel")
        self.strategy.observe(self._changed, "value")
        self.others.observe(self._tell, "value")
        self._fill()

    def options(self) -> dict[str, Any]:
        """Return the options entered; raise UsageError for invalid lines and repeated settings."""
        fields = {name: value for field in self.fields.values() for name, value in field.given.items()}
        lines = [line for line in self.others.value.splitlines() if line.strip()]
        others = read_pairs(lines, "the line")
        if both := sorted(fields.keys() & others.keys()):
            raise UsageError(f"{both[0]!r} is given both in its field and in a line", "keep one of them")
        return {**fields, **others}

    def _changed(self, change: Any) -> None:
        self._given |= {name: value for field in self.fields.values() for name, value in field.given.items()}
        self._given = {name: value for name, value in self._given.items() if name not in self.fields or self.fields[name].given}
        self._fill()

    def _fill(self) -> None:
        """Create the fields of the strategy with the values entered before."""
        names = shown(self.strategy.value)
        self.fields = {name: Field(self.strategy.value, name, self._given.get(name)) for name in names}
        for field in self.fields.values():
            field.box.observe(self._tell, "value")
        self._grid.children = tuple(self.fields.values())
        self._tell()

    def _tell(self, change: Any = None) -> None:
        """Show the maximum cost of a question with these settings, or their error."""
        strategy, cost, wrong = self.strategy.value, "", ""
        try:
            cost = describe_max_calls(strategy, self.options())
        except UsageError as error:
            wrong = str(error)
        rows = [(name, *both) for name, both in told(strategy).items()]
        self._told.value = str(render_macro("turn.html", "box", render_macro("turn.html", "settings", cost, wrong, rows)))


class Field(VBox):
    """One setting: name, value as text (empty for the default), description."""

    def __init__(self, strategy: str, name: str, value: Any = None) -> None:
        self.name = name
        names = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
        self._object = None if value is None or names or isinstance(value, (str, int, float)) else value
        plain = json.dumps(value) if names else "" if value is None else written(value)
        text = plain if self._object is None else f"{type(value).__name__}, given in code"
        default, purpose = told(strategy)[name]
        self.box = Text(
            value=text,
            placeholder=f"{default} (default)",
            description=name,
            tooltip=purpose,
            disabled=self._object is not None,
            continuous_update=False,
        )
        super().__init__([self.box, HTML(str(render_macro("turn.html", "purpose", purpose)))])
        self.add_class("ramify-field")

    @property
    def given(self) -> Mapping[str, Any]:
        """Return the setting if a value was entered."""
        if self._object is not None:
            return {self.name: self._object}
        text = self.box.value.strip()
        return {self.name: read_value(text)} if text else {}
