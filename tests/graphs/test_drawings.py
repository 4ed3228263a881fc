"""The drawings: modules of the paper, named conditions, and no edge that the settings exclude."""

import re
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.drawing import DrawnEdge
from tests.records.drawings import DRAWN, PAPER, draw

drawn = pytest.mark.parametrize(("strategy", "options"), DRAWN)
MODULES = {
    "tor": ["Query Decomposer", "Retriever & Answer Generator", "LLM-as-a-Judge", "Pruner & Expander", "Finalizer"],
    "prune": ["Confidence-guided pruning", "Adaptive node expansion", "Fine-grained retrieval", "Backtrace"],
    "iterative": ["Plan", "Wide search", "Filter loop", "Compress"],
}
AT_MOST = {"tor": 12, "prune": 10, "iterative": 8}
"""Edges of the preset of a paper, which its figure has, too."""


def edges_of(strategy: str, **options: Any) -> list[DrawnEdge]:
    wiring, settings = graphs.configure(strategy, options)
    return wiring.drawn_edges(settings)


@drawn
def test_every_step_is_reached_and_every_condition_has_a_name_that_is_no_step(strategy: str, options: dict[str, Any]) -> None:
    wiring, settings = graphs.configure(strategy, options)
    edges = wiring.drawn_edges(settings)
    labels = [edge.label for edge in edges if edge.kind != "always"]
    assert all(labels)
    assert not set(labels) & wiring.steps.keys()
    parts = [part for label in labels for part in re.split(r", | or ", label)]
    assert all(len(part.split()) <= 8 for part in parts), "a drawing breaks longer ones"
    assert all(len(set(told)) == len(told) for label in labels for told in [label.split(" or ")]), "nothing is said twice"
    assert not [label for label in labels if "not not" in label]
    text = draw(strategy, options)
    assert [step for edge in edges for step in (edge.source, edge.target) if step in wiring.steps and step not in text] == []


@pytest.mark.parametrize("strategy", MODULES)
def test_a_paper_s_preset_has_the_modules_of_its_figure(strategy: str) -> None:
    text = draw(strategy, PAPER)
    assert re.findall(r'subgraph \w+\["(.*)"\]', text) == MODULES[strategy]
    arrows = [line for line in text.splitlines() if "-->" in line or "-.->" in line]
    assert 0 < len(arrows) <= AT_MOST[strategy]


def test_what_the_settings_exclude_is_not_drawn() -> None:
    def steps(strategy: str, **options: Any) -> set[str]:
        return {edge.target for edge in edges_of(strategy, **options)}

    assert {"fill", "aggregate"} <= steps("tor")
    assert not {"fill", "aggregate"} & steps("tor", dependent=False)
    assert "decide" not in steps("prune", max_depth=0)
    tries = [[edge for edge in edges_of("tor", redecompositions=number) if "attempts" in edge.label] for number in (1, 0)]
    assert tries[0]
    assert not tries[1]


def test_what_waits_is_told_from_what_decides() -> None:
    kinds = {(edge.source, edge.target): edge.kind for edge in edges_of("tor", **PAPER)}
    assert kinds["answer", "judge"] == "wait"
    assert kinds["judge", "prune"] == kinds["judge", "expand"] == kinds["expand", "decompose"] == "decision"
    assert kinds["retrieve", "answer"] == "always"


def test_langgraph_draws_the_same_edges() -> None:
    wiring, settings = graphs.configure("tor", PAPER)
    graph = wiring.compile(settings).get_graph()
    assert {(edge.source, edge.target) for edge in graph.edges} == {edge[:2] for edge in wiring.drawn_edges(settings)}
    assert "fill" not in graph.nodes


def test_a_first_hop_s_least_confidence_is_the_embedded_model_s_alone() -> None:
    def hop(**options: Any) -> list[str]:
        return [edge.label for edge in edges_of("prune", **options) if "first hop has no answer" in edge.label]

    assert all("below" in label for label in hop(model="extractive"))
    assert not any("below" in label for label in hop(model="ollama:llama3.2"))
    assert all("below 0.4" in label for label in hop(model="ollama:llama3.2", min_hop_confidence=0.4))
