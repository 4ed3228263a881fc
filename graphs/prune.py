"""PruneRAG: a confidence-guided tree of decompositions (arXiv 2601.11024).

Joint: one call a branch answers, decomposes or names entities. Staged: answer, then decompose, then name entities. An answer is accepted
when its confidence is above tau. Way up: one final call over the tree (single), or branch by branch (recursive).
"""

from typing import Literal

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.aggregate import aggregate
from ramify.nodes.answer import answer
from ramify.nodes.decide import WAYS, decide
from ramify.nodes.decompose import decompose_or_name, decompose_searched
from ramify.nodes.extract_entities import extract_entities
from ramify.nodes.fill import fill
from ramify.nodes.finalize import conclude, finalize
from ramify.nodes.plant import plant
from ramify.nodes.prune import Accept, acceptance, prune_unsure, reconsider
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import PruneSettings
from ramify.nodes.step import Step

Backtrace = Literal["single", "recursive"]
Ways = dict[str, Step]


def build(
    joint: bool = True,
    backtrace: Backtrace = "single",
    adaptive: bool = True,
    answers: bool = True,
    confidence: bool = True,
    entities: bool = True,
) -> Wiring[PruneSettings]:
    """Wire PruneRAG; the last four are the paper's ablations: always decompose, never answer early, accept any answer, no entities."""
    graph = Wiring(PruneSettings)
    accept = acceptance(early=adaptive and answers, confidence=confidence)
    named = adaptive and entities
    if joint:
        ways = tuple(way for way, on in zip(WAYS, (adaptive and answers, True, named), strict=True) if on)
        prune, grows = _joint(graph, accept, ways)
    else:
        prune, grows = _staged(graph, accept, named)
    _way_up(graph, prune, grows, backtrace)
    return graph


def _joint(graph: Wiring[PruneSettings], accept: Accept, ways: tuple[str, ...]) -> tuple[Step, Ways]:
    prune = reconsider(accept)
    graph.sequence(START, plant("open"), retrieve, decide(ways), prune)
    graph.sequence(fill, retrieve)
    return prune, {"some split, or ≤ τ within depth": retrieve}


def _staged(graph: Wiring[PruneSettings], accept: Accept, named: bool) -> tuple[Step, Ways]:
    prune = prune_unsure(accept)
    split = decompose_or_name if named else decompose_searched
    graph.sequence(START, plant("open"), retrieve, answer, prune)
    if named:
        graph.when(split, {"cannot be split": extract_entities}, ("all split", retrieve))
        graph.sequence(extract_entities, retrieve)
    else:
        graph.sequence(split, retrieve)
    graph.when(fill, {"some ≤ τ within depth": split}, ("all filled", retrieve))
    return prune, {"some ≤ τ within depth": split, "some open": retrieve}


def _way_up(graph: Wiring[PruneSettings], prune: Step, grows: Ways, backtrace: Backtrace) -> None:
    filled: Ways = {"a sibling's answer is in": fill}
    if backtrace == "single":
        graph.when(prune, {**filled, **grows}, ("all settled", finalize))
        graph.sequence(finalize, END)
        return
    graph.when(prune, {**grows, "all children settled": aggregate, **filled}, ("root settled", conclude))
    graph.when(aggregate, {"its parent too": aggregate, **filled}, ("root settled", conclude))
    graph.sequence(conclude, END)
