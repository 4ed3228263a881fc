"""The settings of a strategy as fields to fill in: those that matter most, each as text with its default and what it does."""

from collections.abc import Mapping
from typing import Any

from ipywidgets import HTML, Text, VBox

from ramify.graphs.strategies import MEANINGS, arguments_of, build
from ramify.nodes.settings import Settings
from ramify.studio.commands.settings import written
from ramify.studio.console.key_values import read_value
from ramify.tools.markup import element, safe

COMMON = ("model", "index", "k", "max_calls", "max_seconds")
"""What every strategy knows and people reach for; the strategy's own come before these."""


def shown(strategy: str) -> list[str]:
    """List the settings that get a field of their own."""
    fields = build(strategy).settings.model_fields
    return [name for name in fields if name not in Settings.model_fields] + list(COMMON)


def purpose(strategy: str, name: str) -> str:
    """Say what a setting or an argument does."""
    field = build(strategy).settings.model_fields.get(name)
    return (field.description or "") if field else MEANINGS.get(name, "")


def defaults(strategy: str) -> dict[str, str]:
    """List everything that can be set with its default: settings, and arguments of the wiring."""
    settings = {name: written(field.default) for name, field in build(strategy).settings.model_fields.items()}
    return {**settings, **{name: written(parameter.default) for name, parameter in arguments_of(strategy).items()}}


def listing(strategy: str) -> str:
    """Write everything that can be set, folded, for those who look further."""
    rows = "".join(
        element("tr", element("th", safe(name)) + element("td", safe(default)) + element("td", safe(purpose(strategy, name))))
        for name, default in defaults(strategy).items()
    )
    table = element("div", element("table", rows), class_="listing")
    return element("details", element("summary", "All that can be set") + table)


class Field(VBox):
    """One setting: its name, its value as text, empty for the default, and what it does."""

    def __init__(self, strategy: str, name: str, value: Any = None) -> None:
        self.name = name
        self._object = None if _writable(value) else value
        text = "" if value is None else written(value) if self._object is None else f"{type(value).__name__}, given in code"
        default = defaults(strategy)[name]
        self.box = Text(
            value=text,
            placeholder=f"{default} (default)",
            description=name,
            tooltip=purpose(strategy, name),
            disabled=self._object is not None,
            continuous_update=False,
        )
        super().__init__([self.box, HTML(element("small", safe(purpose(strategy, name))))])
        self.add_class("ramify-field")

    @property
    def given(self) -> Mapping[str, Any]:
        """Give the setting if it was filled in."""
        if self._object is not None:
            return {self.name: self._object}
        text = self.box.value.strip()
        return {self.name: read_value(text)} if text else {}


def _writable(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))
