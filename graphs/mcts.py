"""Monte Carlo tree search over splits: ToR-RAG's steps, and a choice of what to split next by the judge's scores.

A simulation splits one question, answers the halves and judges them; the score counts for every split above it. The next question is
chosen by UCT, so that a split of a low value is replaced and one of a high value refined. In the end the most valued splits answer.
"""

from ramify.graphs.conditions import (
    both_unanswered,
    expandable,
    half_settled,
    hop_settled,
    hop_unsure,
    is_root,
    is_waited_for,
    judged,
    may_be_tried,
    only_part_answered,
    pair_answered,
    root_answered,
    search_broken_off,
    simulations_left,
    to_search,
    unknown_hop,
    within_depth,
)
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import aggregate, answer
from ramify.nodes.decompose import decompose
from ramify.nodes.fill import fill
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.judge import judge
from ramify.nodes.prune import expand, prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import MctsSettings
from ramify.nodes.tree_search import keep_best, select


def build() -> Wiring[MctsSettings]:
    """Wire it."""
    graph = Wiring(MctsSettings)
    graph.module("Selection and backpropagation", select)
    graph.module("Expansion", decompose)
    graph.module("Simulation", retrieve, answer, judge)
    may_split = within_depth & expandable & may_be_tried
    graph.path(START, init_tree, retrieve, answer)
    graph.when(answer, {is_root & may_split: decompose, unknown_hop: decompose, hop_unsure: prune, hop_settled: fill})
    graph.when(answer, {both_unanswered: select, only_part_answered: select, pair_answered: judge, search_broken_off: keep_best})
    graph.when(decompose, {to_search: retrieve}, otherwise=select)
    graph.when(fill, {to_search: retrieve})
    graph.when(judge, {judged & is_waited_for: expand, judged: select})
    graph.when(expand, {half_settled: aggregate}, otherwise=finalize)
    graph.when(select, {simulations_left & may_split: decompose, simulations_left: select}, otherwise=keep_best)
    graph.when(keep_best, {root_answered: aggregate}, otherwise=finalize)
    graph.when(aggregate, {}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


def _max_calls(settings: MctsSettings) -> MaxCalls:
    """Return the maximum of simulations that all split, after the question itself was answered, and the final call."""
    simulations = settings.simulations if settings.max_depth else 0
    # A first hop without an answer is split within the simulation, down to the limit, and answered from below.
    hops = max(settings.max_depth - 1, 0) if settings.dependent else 0
    return MaxCalls(1 + (4 + 5 * hops) * simulations + bool(simulations), 1 + (2 + 2 * hops) * simulations)


STRATEGY = Strategy(
    "mcts",
    build,
    description="Monte Carlo tree search: answers a question from the indexed documents; tries several splits of it, guided by the judge's "
    "scores, and answers by the most valued ones.",
    max_calls=_max_calls,
)
