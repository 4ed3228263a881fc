"""The graphs whose drawings are on record: each strategy, its preset of the paper, and variants of its arguments."""

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
PAPER = {"preset": "paper"}
DRAWN = [
    *((name, dict[str, Any]()) for name in graphs.STRATEGIES),
    *((name, PAPER) for name, strategy in graphs.STRATEGIES.items() if "paper" in strategy.presets),
    *VARIANTS,
]


def draw(strategy: str, options: dict[str, Any]) -> str:
    """Return a drawing in Mermaid's notation."""
    wiring, settings = graphs.configure(strategy, options)
    return wiring.draw(settings)


def file_name(strategy: str, arguments: dict[str, Any]) -> str:
    """Return the name of a drawing's file."""
    return "-".join([strategy, *(f"{key}={value}" for key, value in arguments.items())]) + ".mmd"
