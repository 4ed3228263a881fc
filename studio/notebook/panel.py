"""What a question is asked with: the strategy, and its settings."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ipywidgets import HTML, Box, Dropdown, Textarea, VBox

from ramify.graphs.strategies import STRATEGIES, configure
from ramify.studio.console.ceilings import most
from ramify.studio.console.key_values import read_pairs
from ramify.studio.notebook.fields import Field, listing, shown
from ramify.tools.errors import UsageError
from ramify.tools.markup import element, safe


class Panel(VBox):
    """The settings of the chosen strategy; what is filled in stays when another strategy knows it, too."""

    def __init__(self, strategy: str, options: Mapping[str, Any]) -> None:
        configure(strategy, options)  # a wrong option is told where it was written
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
        """Give what is filled in; UsageError for a line that is no pair, or a setting that is given twice."""
        fields = {name: value for field in self.fields.values() for name, value in field.given.items()}
        lines = [line for line in self.others.value.splitlines() if line.strip()]
        others = read_pairs(lines, "the line")
        if both := sorted(fields.keys() & others.keys()):
            raise UsageError(f"{both[0]!r} is given in its field and in a line", "keep one of them")
        return {**fields, **others}

    def _changed(self, change: Any) -> None:
        self._given |= {name: value for field in self.fields.values() for name, value in field.given.items()}
        self._given = {name: value for name, value in self._given.items() if name not in self.fields or self.fields[name].given}
        self._fill()

    def _fill(self) -> None:
        """Make the fields of the strategy, with what was filled in before."""
        names = shown(self.strategy.value)
        self.fields = {name: Field(self.strategy.value, name, self._given.get(name)) for name in names}
        for field in self.fields.values():
            field.box.observe(self._tell, "value")
        self._grid.children = tuple(self.fields.values())
        self._tell()

    def _tell(self, change: Any = None) -> None:
        """Say what a question can cost with these settings, or what is wrong with them."""
        self._told.value = element("div", _outlook(self.strategy.value, self.options) + listing(self.strategy.value), class_="ramify")


def _outlook(strategy: str, options: Callable[[], dict[str, Any]]) -> str:
    try:
        return element("p", safe(most(strategy, options())), class_="note")
    except UsageError as error:
        return element("p", safe(error), class_="warning", role="alert")
