"""Every wiring there is: each strategy with each combination of its build arguments."""

import inspect
from itertools import product
from typing import Any, get_args

from ramify.graphs.strategies import STRATEGIES, arguments_of


def _choices(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return get_args(parameter.annotation) or (True, False)


def _combinations(name: str) -> list[tuple[str, dict[str, Any]]]:
    parameters = arguments_of(name)
    values = product(*(_choices(parameter) for parameter in parameters.values()))
    return [(name, dict(zip(parameters, chosen, strict=True))) for chosen in values]


WIRINGS = [wiring for name in STRATEGIES for wiring in _combinations(name)]


def named(wiring: tuple[str, dict[str, Any]]) -> str:
    """Name a wiring for a test's title."""
    return wiring[0] + "".join(f" {key}={value}" for key, value in wiring[1].items())
