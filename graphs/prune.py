"""PruneRAG: a confidence-guided tree of decompositions (arXiv 2601.11024).

Joint: one call a branch answers, or proposes to decompose or to look up entities. Staged: answer, then decompose, then name entities. An
answer is accepted when its confidence is above tau. Way up: one final call over the tree (single), or branch by branch (recursive).
"""

from typing import Literal

from ramify.graphs.conditions import (
    Edges,
    above_tau,
    awaited_settled,
    cannot_be_split,
    children_settled,
    hop_settled,
    hop_unsure,
    is_entity,
    is_root,
    is_waited_for,
    known,
    may_reconsider,
    no_answer,
    proposes_entities,
    proposes_split,
    root_answered,
    to_search,
    within_depth,
)
from ramify.graphs.strategies import MaxCalls, Strategy, writing_calls
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import aggregate, answer
from ramify.nodes.decide import decide
from ramify.nodes.decompose import decompose, extract_entities
from ramify.nodes.fill import fill
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.prune import prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import TAU, PruneSettings

Backtrace = Literal["single", "recursive"]
root_or_awaited = (is_root | is_waited_for).with_label(lambda settings: "the root, or waited for" if settings.dependent else "the root")
"""Such a branch is answered, because no other one answers its question."""


def build(
    joint: bool = True,
    backtrace: Backtrace = "single",
    adaptive: bool = True,
    answers: bool = True,
    confidence: bool = True,
    entities: bool = True,
) -> Wiring[PruneSettings]:
    """Wire PruneRAG; the last four are the paper's ablations: always decompose, never answer early, accept any answer, no entities."""
    graph = Wiring(PruneSettings, final_call=backtrace == "single")
    graph.module("Confidence-guided pruning", retrieve, answer, prune)
    graph.module("Adaptive node expansion", decide, decompose)
    graph.module("Fine-grained retrieval", extract_entities)
    graph.module("Backtrace", fill, aggregate, finalize)
    accepted = {above_tau if confidence else known: finalize} if adaptive and answers else {}
    settled: Edges = {hop_unsure: prune, hop_settled: fill, children_settled: aggregate}
    if backtrace == "single":
        settled = {hop_unsure: prune, hop_settled: fill, root_answered: aggregate, awaited_settled: aggregate}
    named = adaptive and entities
    wire = _joint if joint else _staged
    wire(graph, accepted, settled, named, adaptive and answers)
    graph.when(fill, {to_search: retrieve})
    graph.when(aggregate, {}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


def _joint(graph: Wiring[PruneSettings], accepted: Edges, settled: Edges, named: bool, early: bool) -> None:
    """One call a branch; at the depth limit a branch is only searched, unless something else builds on it."""
    graph.path(START, init_tree, retrieve)
    graph.when(retrieve, {is_entity: answer, within_depth: decide, root_or_awaited: answer})
    proposed: Edges = {proposes_split: decompose, **({proposes_entities: extract_entities} if named else {})}
    unanswered: Edges = {no_answer & root_or_awaited: answer, no_answer: finalize}
    again: Edges = {within_depth & may_reconsider: retrieve} if early else {}
    graph.when(decide, {**proposed, **unanswered, **accepted}, otherwise=prune if early else finalize)
    graph.when(answer, {**accepted, **settled}, otherwise=prune)
    graph.when(prune, again)
    for divide in (decompose, extract_entities) if named else (decompose,):
        graph.when(divide, {to_search: retrieve, no_answer & root_or_awaited: answer})


def _staged(graph: Wiring[PruneSettings], accepted: Edges, settled: Edges, named: bool, early: bool) -> None:
    """Answer, then decompose what was not accepted, then name entities where that cannot be split."""
    graph.path(START, init_tree, retrieve, answer)
    graph.when(answer, {**accepted, **settled}, otherwise=prune)
    graph.when(prune, {within_depth: decompose})
    graph.when(decompose, {to_search: retrieve, **({cannot_be_split: extract_entities} if named else {})})
    if named:
        graph.when(extract_entities, {to_search: retrieve})


def _max_calls(
    settings: PruneSettings, joint: bool, backtrace: Backtrace, adaptive: bool, answers: bool, entities: bool, confidence: bool
) -> MaxCalls:
    """Return the maximum of a full tree: a branch's own calls, and those of two halves or two names below it."""
    if settings.max_depth == 0:  # the root is answered itself
        return MaxCalls(1 if backtrace == "recursive" else 1 + writing_calls(settings), 1)
    aggregates, reconsiders = backtrace == "recursive", adaptive and answers and settings.reconsider is not False
    # Calls of a branch at the depth limit, of one whose answer another needs, of two names, and of a branch above the limit itself.
    branch, awaited, names, own = (0, 1, 2, 1 + reconsiders) if joint else (1, 1, 3, 2)
    if not (adaptive and entities):
        names = 0
    for _ in range(settings.max_depth):
        halves = (awaited if settings.dependent else branch) + branch
        branch, awaited = own + max(halves, names) + aggregates, own + max(2 * awaited, names) + 1
    if joint:  # the root is answered itself where nothing that was named can be asked
        branch = max(branch, 2 + reconsiders)
    searches = 2 ** (settings.max_depth + 1) - 1 + (2**settings.max_depth - 1) * (joint and reconsiders)  # again for the next k passages
    return MaxCalls(branch + (not aggregates), searches)


STRATEGY = Strategy(
    "prune",
    build,
    description="PruneRAG: answers a question from the indexed documents; splits it where no answer is sure enough (above tau).",
    paper="PruneRAG, arXiv 2601.11024",
    arguments={
        "joint": "true (joint): one call answers a branch or proposes sub-questions or names; false (staged): one call for each",
        "backtrace": "how answers are combined: single: by one final call; recursive: branch by branch, from the leaves to the root",
        "adaptive": "false: always decompose (ablation)",
        "answers": "false: never answer before the depth limit (ablation)",
        "confidence": "false: accept any answer, whatever its confidence (ablation)",
        "entities": "false: never look up names (ablation)",
    },
    presets={
        "paper": {
            "joint": False,
            "backtrace": "recursive",
            "dependent": False,
            "hybrid": False,
            "tau": TAU,
            "splitter": "model",
            "thought": False,
        }
    },
    max_calls=_max_calls,
)
