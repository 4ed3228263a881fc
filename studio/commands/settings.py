"""ramify settings: what a strategy can be told."""

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from ramify.studio.console.key_values import read_pairs, written
from ramify.studio.console.streams import note, out

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Strategy = Annotated[str, typer.Argument(metavar="STRATEGY", help="prune, tor, iterative, chain, naive, global or closed-book.")]
Given = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Show the ceiling of calls with this value.")]


def settings(strategy: Strategy = "prune", given: Given = None) -> None:
    """Show the settings of a strategy and the arguments of its wiring, with their defaults; `ask --set` takes both."""
    from rich.table import Table

    from ramify.graphs.strategies import MEANINGS, arguments_of, build
    from ramify.studio.console.ceilings import most

    most_told = most(strategy, read_pairs(given or [], "--set"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("setting", no_wrap=True, style="bold")
    table.add_column("default", max_width=12)
    table.add_column("what it does", overflow="fold")
    fields = build(strategy).settings.model_fields
    own = {name: field for name, field in fields.items() if _differs(name, field)}
    for name, field in own.items():
        table.add_row(name, written(field.default), _meaning(field))
    for name, parameter in arguments_of(strategy).items():
        table.add_row(name, written(parameter.default), f"{MEANINGS[name]} ({_allowed(parameter)})")
    table.add_row()
    for name in (name for name in fields if name not in own):
        table.add_row(name, written(fields[name].default), _meaning(fields[name]))
    out().print(table)
    note(most_told)


def _differs(name: str, field: "FieldInfo") -> bool:
    """Tell whether a setting is the strategy's own, or has its own default."""
    from ramify.nodes.settings import Settings

    common = Settings.model_fields.get(name)
    return common is None or common.default != field.default


def _meaning(field: "FieldInfo") -> str:
    return f"{field.description or ''}{_bounds(field.metadata)}"


def _bounds(limits: list[Any]) -> str:
    signs = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    told = [f"{word} {value:g}" for limit in limits for sign, word in signs.items() if (value := getattr(limit, sign, None)) is not None]
    return f" ({', '.join(told)})" if told else ""


def _allowed(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    return " or ".join(map(str, get_args(annotation) if get_origin(annotation) is Literal else ("true", "false")))
