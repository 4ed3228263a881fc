"""ramify graph: print a strategy's graph as Mermaid text."""

from typing import Annotated

import typer

from ramify.studio.console.options import Preset, StrategyArgument, merge_options

Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An argument of the strategy's graph, such as joint=false.")
]


def graph_command(strategy: StrategyArgument, settings: Settings = None, preset: Preset = None) -> None:
    """Print a strategy's graph as Mermaid text: its steps, and the conditions between them."""
    from ramify.graphs.strategies import configure

    wiring, chosen = configure(strategy, merge_options(settings, preset=preset))
    typer.echo(wiring.draw(chosen), nl=False)
