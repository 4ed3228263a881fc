"""ramify graph: the drawing of a strategy's graph."""

from typing import Annotated

import typer

from ramify.studio.console.options import Preset, StrategyNamed, options_of

Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An argument of the strategy's graph, such as joint=false.")
]


def graph(strategy: StrategyNamed, settings: Settings = None, preset: Preset = None) -> None:
    """Print a strategy's graph as Mermaid text: its steps, and the conditions between them."""
    from ramify.graphs.strategies import configure

    wiring, chosen = configure(strategy, options_of(settings, preset=preset))
    typer.echo(wiring.compile(chosen).get_graph().draw_mermaid())
