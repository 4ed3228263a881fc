"""The panel of the chat: strategy and settings as text fields with default and description."""

import json
from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Box, Dropdown, Text, Textarea, VBox

from ramify.graphs.strategies import build, configure, describe_max_calls, find_strategy, load_strategies
from ramify.nodes.settings import Settings
from ramify.studio.console.options import format_value, read_pairs, read_value
from ramify.tools.errors import UsageError
from ramify.tools.pages import render_macro

COMMON_SETTINGS = ("model", "index", "k", "max_calls", "max_seconds")
"""Frequent settings of every strategy, shown after the strategy's own."""


def panel_settings(strategy: str) -> list[str]:
    """Return the names of the settings that have a field of their own."""
    fields = build(strategy).settings.model_fields
    return [name for name in fields if name not in Settings.model_fields] + list(COMMON_SETTINGS)


def settings_help(strategy: str) -> dict[str, tuple[str, str]]:
    """Return default and description of every setting and graph argument."""
    settings = {
        name: (format_value(field.default), field.description or "") for name, field in build(strategy).settings.model_fields.items()
    }
    arguments = find_strategy(strategy).arguments
    return {
        **settings,
        **{name: (format_value(given.default), arguments.get(name, "")) for name, given in find_strategy(strategy).parameters.items()},
    }


class Panel(VBox):
    """The settings of the chosen strategy; values are preserved when another strategy with the same setting is chosen."""

    def __init__(self, strategy: str, options: Mapping[str, Any]) -> None:
        configure(strategy, options)  # raise for an invalid option immediately
        self.strategy = Dropdown(options=list(load_strategies()), value=strategy, description="Strategy", tooltip="How a question is split")
        without_field = {name: value for name, value in options.items() if name not in panel_settings(strategy)}
        self.others = Textarea(
            value="\n".join(f"{name}={json.dumps(value)}" for name, value in without_field.items()),
            description="others",
            placeholder="KEY=VALUE, one a line, such as num_ctx=16384",
            tooltip="Any other setting or argument of the strategy",
            continuous_update=False,
            rows=2,
        )
        self.fields: dict[str, SettingField] = {}
        self._entered = dict(options)
        self._grid, self._cost_html = Box(), HTML()
        self._grid.add_class("ramify-fields")
        self.others.add_class("ramify-others")
        super().__init__([self._grid, self.others, self._cost_html])
        self.add_class("ramify-panel")
        self.strategy.observe(self._on_strategy_change, "value")
        self.others.observe(self._update_cost, "value")
        self._create_fields()

    def options(self) -> dict[str, Any]:
        """Return the options entered; raise UsageError for invalid lines and repeated settings."""
        fields = {name: value for field in self.fields.values() for name, value in field.values.items()}
        lines = [line for line in self.others.value.splitlines() if line.strip()]
        others = read_pairs(lines, "the line")
        if repeated := sorted(fields.keys() & others.keys()):
            raise UsageError(f"{repeated[0]!r} is given both in its field and in a line", "keep one of them")
        return {**fields, **others}

    def _on_strategy_change(self, change: Any) -> None:
        self._entered |= {name: value for field in self.fields.values() for name, value in field.values.items()}
        self._entered = {name: value for name, value in self._entered.items() if name not in self.fields or self.fields[name].values}
        self._create_fields()

    def _create_fields(self) -> None:
        """Create the fields of the strategy with the values entered before."""
        names = panel_settings(self.strategy.value)
        self.fields = {name: SettingField(self.strategy.value, name, self._entered.get(name)) for name in names}
        for field in self.fields.values():
            field.box.observe(self._update_cost, "value")
        self._grid.children = tuple(self.fields.values())
        self._update_cost()

    def _update_cost(self, change: Any = None) -> None:
        """Show the maximum cost of a question with these settings, or their error."""
        strategy, cost, problem = self.strategy.value, "", ""
        try:
            cost = describe_max_calls(strategy, self.options())
        except UsageError as error:
            problem = str(error)
        rows = [(name, *both) for name, both in settings_help(strategy).items()]
        self._cost_html.value = str(render_macro("turn.html", "box", render_macro("turn.html", "settings", cost, problem, rows)))


class SettingField(VBox):
    """The field of one setting: name, value as text (empty for the default), description."""

    def __init__(self, strategy: str, name: str, value: Any = None) -> None:
        self.name = name
        is_names = isinstance(value, (list, tuple)) and all(isinstance(name_item, str) for name_item in value)
        self._object = None if value is None or is_names or isinstance(value, (str, int, float)) else value
        text_value = json.dumps(value) if is_names else "" if value is None else format_value(value)
        text = text_value if self._object is None else f"{type(value).__name__}, given in code"
        default, description = settings_help(strategy)[name]
        self.box = Text(
            value=text,
            placeholder=f"{default} (default)",
            description=name,
            tooltip=description,
            disabled=self._object is not None,
            continuous_update=False,
        )
        super().__init__([self.box, HTML(str(render_macro("turn.html", "purpose", description)))])
        self.add_class("ramify-field")

    @property
    def values(self) -> Mapping[str, Any]:
        """Return the setting with its value; empty if none was entered."""
        if self._object is not None:
            return {self.name: self._object}
        text = self.box.value.strip()
        return {self.name: read_value(text)} if text else {}
