"""ramify settings: list the settings of a strategy."""

from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

import typer

from ramify.studio.console.options import Preset, StrategyArgument, format_value, merge_options
from ramify.studio.console.streams import note, out

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

GivenSettings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Compute the maximum number of calls with this value.")
]
BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def settings_command(strategy: StrategyArgument = "prune", given_settings: GivenSettings = None, preset: Preset = None) -> None:
    """List the settings and graph arguments of a strategy with their defaults, for `--set`."""
    from rich.table import Table

    from ramify.graphs.strategies import build, describe_max_calls, find_strategy
    from ramify.nodes.settings import Settings

    cost = describe_max_calls(strategy, merge_options(given_settings, preset=preset))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("setting", no_wrap=True, style="bold")
    table.add_column("default", max_width=12)
    table.add_column("what it does", overflow="fold")
    common = Settings.model_fields
    fields = build(strategy).settings.model_fields
    shared = [name for name, field in fields.items() if name in common and common[name].default == field.default]
    for name in (name for name in fields if name not in shared):
        table.add_row(name, format_value(fields[name].default), _meaning(fields[name]))
    for name, parameter in find_strategy(strategy).parameters.items():
        allowed = get_args(parameter.annotation) if get_origin(parameter.annotation) is Literal else ("true", "false")
        what = find_strategy(strategy).arguments.get(name, "")  # a user's strategy may lack descriptions
        table.add_row(name, format_value(parameter.default), f"{what} ({' or '.join(map(str, allowed))})".strip())
    table.add_row()
    for name in shared:
        table.add_row(name, format_value(fields[name].default), _meaning(fields[name]))
    out().print(table)
    note(cost)


def _meaning(field: "FieldInfo") -> str:
    """Return the description and bounds of a setting."""
    limits = ((word, getattr(limit, sign, None)) for limit in field.metadata for sign, word in BOUNDS.items())
    bounds = [f"{word} {value:g}" for word, value in limits if value is not None]
    return (field.description or "") + (f" ({', '.join(bounds)})" if bounds else "")
