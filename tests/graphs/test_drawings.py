"""The drawings: steps and named conditions."""

import re
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.records.drawings import DRAWN, draw


@pytest.mark.parametrize(("strategy", "arguments"), DRAWN)
def test_a_drawing_shows_steps_and_named_conditions(strategy: str, arguments: dict[str, Any]) -> None:
    drawing = draw(strategy, arguments)
    steps = graphs.build(strategy, **arguments).steps
    assert all(re.search(rf"^\t{step}\({step}[)<]", drawing, re.MULTILINE) for step in steps), "`<`: it is said to be deferred"


@pytest.mark.parametrize(("strategy", "arguments"), DRAWN)
def test_every_condition_has_a_name_of_its_own_that_is_no_step(strategy: str, arguments: dict[str, Any]) -> None:
    graph = graphs.build(strategy, **arguments)
    edges = [edge for edge in graph.compile().get_graph().edges if edge.conditional]
    labels = [str(edge.data) for edge in edges]
    assert all(edge.data for edge in edges)
    assert not set(labels) & graph.steps.keys()
    parts = [part for label in labels for part in re.split(r", | or ", label)]
    assert all(len(part.split()) <= 8 for part in parts), "a drawing breaks longer ones"
    assert all(len(set(told)) == len(told) for label in labels for told in [label.split(" or ")]), "nothing is said twice"
    assert not [label for label in labels if "not not" in label]
