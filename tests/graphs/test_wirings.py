"""The few wirings that stand for all: every two values of a strategy's arguments meet in one of them."""

from itertools import combinations

import pytest

from ramify.graphs.strategies import STRATEGIES
from tests.graphs.wirings import cases, every, pairwise


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_two_values_meet_in_one_of_the_few(strategy: str) -> None:
    wirings, few = every(strategy), pairwise(every(strategy))
    assert few
    assert all(wiring in wirings for wiring in few)
    for one, other in combinations(wirings[0][1], 2):
        wanted = {(arguments[one], arguments[other]) for _, arguments in wirings}
        assert {(arguments[one], arguments[other]) for _, arguments in few} == wanted, f"{one} and {other}"


def test_the_few_are_few_and_the_same_each_time() -> None:
    assert len(every("prune")) == 64
    assert len(pairwise(every("prune"))) <= 8
    assert pairwise(every("prune")) == pairwise(every("prune"))


def test_the_others_are_kept_for_the_run_of_all_combinations() -> None:
    everywhere, marked = cases("prune"), [case for case in cases("prune") if case.marks]
    assert [case.values[0] for case in everywhere] == every("prune")
    assert [case.values[0] for case in marked] == [wiring for wiring in every("prune") if wiring not in pairwise(every("prune"))]
