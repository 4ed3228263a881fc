"""Right replies survive: a perfect reader's question of every shape ends in the right answer with its citations, in every wiring."""

from functools import cache
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import library
from tests.graphs.shapes.reader import Shape, reading
from tests.graphs.shapes.table import NOISE, SHAPES

WIRINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "tor": ("tor", {"max_depth": 4}),
    "tor rubric": ("tor", {"max_depth": 4, "rubric": True}),
    "tor unjudged": ("tor", {"max_depth": 4, "judged": False}),
    "mcts": ("mcts", {"max_depth": 4}),
    "prune joint single": ("prune", {"max_depth": 4}),
    "prune joint recursive": ("prune", {"max_depth": 4, "backtrace": "recursive"}),
    "prune staged single": ("prune", {"max_depth": 4, "joint": False}),
    "prune staged recursive": ("prune", {"max_depth": 4, "joint": False, "backtrace": "recursive"}),
    "chain": ("chain", {"max_depth": 6}),
    "ircot": ("ircot", {"max_depth": 12}),
    "self-ask": ("self-ask", {"max_depth": 6}),
    "react": ("react", {}),
    "iterative": ("iterative", {"top_k": 40}),
}
ALWAYS = ("tor", "mcts", "prune joint single", "chain", "ircot", "self-ask", "react", "iterative")
"""One wiring of each strategy, in which every shape is asked; of the others, each shape in one, by turns (all: test_shapes_page.py)."""
BY_TURNS = [wiring for wiring in WIRINGS if wiring not in ALWAYS]
CASES = [
    pytest.param(
        shape,
        wiring,
        id=f"{shape.name}-{wiring}",
        marks=() if wiring in (*ALWAYS, BY_TURNS[number % len(BY_TURNS)]) else pytest.mark.combination,
    )
    for number, shape in enumerate(SHAPES)
    for wiring in WIRINGS
]


@cache
def asked(name: str, wiring: str, thrifty: bool = False) -> graphs.Result:
    """Ask the question of a shape in a wiring, once for this file and for test_shapes_page.py."""
    [shape] = [shape for shape in SHAPES if shape.name == name]
    strategy, arguments = WIRINGS[wiring]
    return graphs.ask(shape.question, strategy, model=reading(shape, thrifty), index=library(*shape.texts, *NOISE), **arguments)


@pytest.mark.parametrize(("shape", "wiring"), CASES)
def test_right_replies_survive(shape: Shape, wiring: str) -> None:
    result = asked(shape.name, wiring)
    cannot = next((why for beginning, why in shape.cannot.items() if wiring.startswith(beginning)), "")
    if cannot:
        assert result.answer in (shape.answer, "Unknown"), f"it cannot know ({cannot}), and says something else"
        return
    assert result.answer == shape.answer, "\n".join(map(str, result.tree.values()))
    if shape.answer != "Unknown":
        cited = {citation.text for citation in result.citations if citation.cited}
        telling = {fact.text for fact in shape.facts.values()}
        assert cited
        assert cited <= telling
        split = shape.splits.get(shape.question)
        if split is None or split.how is None:
            assert {fact.text for fact in shape.facts.values() if fact.answer == shape.answer} <= cited


@pytest.mark.parametrize(("shape", "wiring"), [case for case in CASES if WIRINGS[str(case.values[1])][0] in ("tor", "prune")])
def test_right_replies_survive_where_only_what_is_missing_is_asked(shape: Shape, wiring: str) -> None:
    result, in_full = asked(shape.name, wiring, True), asked(shape.name, wiring)
    assert result.answer == in_full.answer
    assert result.usage.llm_calls <= in_full.usage.llm_calls
