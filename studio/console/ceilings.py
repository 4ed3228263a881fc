"""The ceiling of a setting, as the command line tells it."""

from collections.abc import Mapping
from typing import Any

from ramify.graphs.ceiling import ceiling
from ramify.graphs.strategies import arguments_of, configure


def most(strategy: str, options: Mapping[str, Any]) -> str:
    """Say what a question can cost at most with these options."""
    _, settings = configure(strategy, options)
    arguments = {name: value for name, value in options.items() if name in arguments_of(strategy)}
    told = f"{strategy}: {ceiling(strategy, settings, arguments)}"
    if getattr(settings, "dependent", False):
        told += "; a sub-question that needs its sibling's answer waits for it: one more level"
    return told
