"""ToR-RAG: a tree of retrieval (Yoo and Moon 2025, figure 1).

Decompose in two, retrieve and answer each, judge the fork, prune what scores below theta, expand what holds, finalize from the leaves.
"""

from ramify.graphs.call_counts import count_tor
from ramify.graphs.conditions import (
    at_least_theta,
    attempts_left,
    below_theta,
    half_settled,
    hop_settled,
    hop_unsure,
    invalid_pair,
    is_waited_for,
    known,
    may_come_from_below,
    never_split,
    new_pair,
    no_answer,
    nothing_known,
    pair_answered,
    root_answered,
    split_in_vain,
    to_search,
    valid_pair,
    within_depth,
    worth_growing,
)
from ramify.graphs.strategies import Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.aggregate import aggregate
from ramify.nodes.answer import answer
from ramify.nodes.decompose import decompose
from ramify.nodes.expand import expand
from ramify.nodes.fill import fill
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.judge import judge
from ramify.nodes.prune import prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.score_pair import score_pair
from ramify.nodes.settings import TorSettings


def build(rubric: bool = False, judged: bool = True) -> Wiring[TorSettings]:
    """Wire ToR-RAG; `rubric` scores each pair before retrieval, `judged=False` leaves the judge out."""
    graph = Wiring(TorSettings)
    graph.path(START, init_tree, decompose)
    if rubric:
        graph.when(decompose, {new_pair: score_pair, split_in_vain: retrieve}, otherwise=finalize)
        graph.when(score_pair, {invalid_pair: prune, valid_pair: retrieve})
    else:
        graph.when(decompose, {to_search: retrieve}, otherwise=finalize)
    graph.path(retrieve, answer)
    graph.when(answer, {unknown_hop: decompose, hop_unsure: prune, hop_settled: fill})
    if judged:
        graph.when(answer, {may_come_from_below: expand, nothing_known: prune, pair_answered: judge})
        graph.when(judge, {at_least_theta: expand, below_theta: prune})
    else:
        graph.when(answer, {pair_answered: expand})
    graph.when(prune, {attempts_left: decompose, no_answer: retrieve} if judged or rubric else {}, otherwise=finalize)
    graph.when(fill, {to_search: retrieve}, otherwise=finalize)
    graph.when(expand, {grows: decompose, root_answered: aggregate, half_settled: aggregate}, otherwise=finalize)
    graph.when(aggregate, {hop_unsure: prune, hop_settled: fill}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


grows = within_depth & worth_growing & never_split
unknown_hop = (is_waited_for & ~known & within_depth & never_split).called("no answer, and another waits for it")
"""It may still be answered from below: it grows before its fork is judged."""


STRATEGY = Strategy(
    "tor",
    build,
    description="ToR-RAG: answers a question from the indexed documents; splits it in two, judges each fork, "
    "prunes what scores below theta.",
    paper="ToR-RAG, Yoo and Moon 2025",
    arguments={
        "rubric": "true: score each pair of sub-questions before anything is retrieved for it",
        "judged": "false: keep every fork without scoring it (ablation)",
    },
    presets={"paper": {"rubric": True, "dependent": False, "hybrid": False, "grow_sure": True, "informed": False}},
    max_calls=count_tor,
)
