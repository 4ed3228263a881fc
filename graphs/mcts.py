"""Monte Carlo tree search over splits: ToR-RAG's steps, and a choice of what to split next by the judge's scores.

A simulation splits one question, answers the halves and judges them; the score counts for every split above it. The next question is
chosen by UCT, so that a split of a low value is replaced and one of a high value refined. In the end the most valued splits answer.
"""

from ramify.graphs.conditions import (
    awaited_settled,
    both_unanswered,
    expandable,
    hop_settled,
    hop_unsure,
    is_waited_for,
    judged,
    may_be_tried,
    no_answer,
    only_part_answered,
    pair_answered,
    root_answered,
    search_broken_off,
    simulations_left,
    to_search,
    unknown_hop,
    unsplit_root,
    whole_question,
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
    graph.path(START, init_tree, retrieve)
    graph.when(retrieve, {whole_question & within_depth: decompose}, otherwise=answer)
    graph.when(answer, {unknown_hop: decompose, hop_unsure: prune, hop_settled: fill})
    graph.when(answer, {both_unanswered: select, only_part_answered: select, pair_answered: judge, search_broken_off: keep_best})
    graph.when(decompose, {to_search: retrieve, unsplit_root: answer}, otherwise=select)
    graph.when(fill, {to_search: retrieve})
    graph.when(judge, {judged & is_waited_for: expand, judged: select})
    graph.when(expand, {awaited_settled: aggregate}, otherwise=finalize)
    graph.when(select, {simulations_left & may_split: decompose, simulations_left: select}, otherwise=keep_best)
    graph.when(keep_best, {no_answer: answer, root_answered: aggregate}, otherwise=finalize)
    graph.when(aggregate, {}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


def _max_calls(settings: MctsSettings) -> MaxCalls:
    """Return the maximum of simulations that all split, and the final call, or that about the question itself."""
    simulations = settings.simulations if settings.max_depth else 0
    judged = settings.judge != "confidence"
    # A first hop without an answer is split within the simulation, down to the limit, and answered from below.
    hops = max(settings.max_depth - 1, 0) if settings.dependent else 0
    return MaxCalls((3 + judged + (4 + judged) * hops) * simulations + 1, (2 + 2 * hops) * simulations + 1)


STRATEGY = Strategy(
    "mcts",
    build,
    description="Monte Carlo tree search: answers a question from the indexed documents; tries several splits of it, guided by the judge's "
    "scores, and answers by the most valued ones.",
    max_calls=_max_calls,
)
