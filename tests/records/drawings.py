"""The graphs whose drawings are on record: each strategy, and variants of its arguments."""

from typing import Any

import ramify.graphs as graphs

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("tor", {"rubric": True}),
    ("tor", {"judged": False}),
    ("prune", {"backtrace": "recursive"}),
    ("prune", {"joint": False}),
    ("prune", {"joint": False, "backtrace": "recursive"}),
    ("prune", {"joint": False, "entities": False}),
]
DRAWN = [*((name, dict[str, Any]()) for name in graphs.STRATEGIES), *VARIANTS]


def draw(strategy: str, arguments: dict[str, Any]) -> str:
    """Return a drawing in Mermaid's notation."""
    return str(graphs.build(strategy, **arguments).compile().get_graph().draw_mermaid())


def file_name(strategy: str, arguments: dict[str, Any]) -> str:
    """Return the name of a drawing's file."""
    return "-".join([strategy, *(f"{key}={value}" for key, value in arguments.items())]) + ".mmd"
