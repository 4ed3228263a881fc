"""ramify graph: the drawing of a strategy's graph."""

from typing import Annotated

import typer

from ramify.studio.console.options import StrategyNamed, options_of

Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An argument of the wiring, such as joint=false.")]


def graph(strategy: StrategyNamed, settings: Settings = None) -> None:
    """Print a strategy's graph as Mermaid text: its steps, and the named conditions between them."""
    from ramify.graphs.strategies import configure

    wiring, _ = configure(strategy, options_of(settings))
    typer.echo(wiring.compile().get_graph().draw_mermaid())
