"""Every wiring there is: each strategy with each combination of its build arguments, and a few in which every two of their values meet."""

import inspect
from itertools import product
from typing import Any, get_args

import pytest

from ramify.graphs.strategies import STRATEGIES, find_strategy
from tests import combinations

Wiring = tuple[str, dict[str, Any]]


def _choices(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return get_args(parameter.annotation) or (True, False)


def every(name: str) -> list[Wiring]:
    """List a strategy with each combination of its arguments."""
    parameters = find_strategy(name).parameters
    values = product(*(_choices(parameter) for parameter in parameters.values()))
    return [(name, dict(zip(parameters, chosen, strict=True))) for chosen in values]


def pairwise(wirings: list[Wiring]) -> list[Wiring]:
    """Choose few wirings of a strategy in which every two values meet that meet in any."""
    few = combinations.choose_pairwise([arguments for _, arguments in wirings])
    return [wiring for wiring in wirings if wiring[1] in few]


def named(wiring: Wiring) -> str:
    """Name a wiring for a test's title."""
    return wiring[0] + "".join(f" {key}={value}" for key, value in wiring[1].items())


def cases(*strategies: str) -> list[Any]:
    """List every wiring of some strategies for `parametrize`: those that `pairwise` leaves out are marked `combination`."""
    return [
        pytest.param(wiring, id=named(wiring), marks=() if wiring in chosen else pytest.mark.combination)
        for name in strategies
        for chosen in [pairwise(every(name))]
        for wiring in every(name)
    ]


WIRINGS = [wiring for name in STRATEGIES for wiring in every(name)]
SEARCHING = [name for name in STRATEGIES if name != "closed-book"]
