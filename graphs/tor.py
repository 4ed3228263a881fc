"""ToR-RAG: a tree of retrieval (Yoo and Moon 2025, figure 1).

Decompose in two, retrieve and answer each, judge the fork, prune what scores below theta, expand what holds, finalize from the leaves.
"""

from ramify.graphs.conditions import (
    Edges,
    answerable_below,
    at_least_theta,
    attempts_left,
    below_theta,
    both_unanswered,
    expandable,
    half_settled,
    hop_settled,
    hop_unsure,
    insufficient,
    invalid_pair,
    never_split,
    new_pair,
    only_part,
    only_part_answered,
    pair_answered,
    pair_kept,
    root_answered,
    to_search,
    unknown_hop,
    unsplit,
    valid_pair,
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
from ramify.nodes.judge import judge, score_pair
from ramify.nodes.prune import expand, prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import TorSettings


def build(rubric: bool = False, judged: bool = True, repair: bool = True, search_root: bool = True) -> Wiring[TorSettings]:
    """Wire ToR-RAG; `rubric` scores each pair before retrieval, `judged=False` leaves the judge out.

    `repair` and `search_root` go beyond the paper: halves without an answer are split or asked anew, and the question itself is searched
    first.
    """
    graph = Wiring(TorSettings)
    graph.module("Query Decomposer", decompose, score_pair)
    graph.module("Retriever & Answer Generator", retrieve, answer)
    graph.module("LLM-as-a-Judge", judge)
    graph.module("Pruner & Expander", prune, expand)
    graph.module("Finalizer", finalize)
    if search_root:
        graph.path(START, init_tree, retrieve)
        graph.when(retrieve, {whole_question: decompose}, otherwise=answer)
    else:
        graph.path(START, init_tree, decompose)
        graph.path(retrieve, answer)
    kept: Edges = {pair_kept: expand} if judged and repair else {}
    if rubric:
        graph.when(decompose, {**kept, new_pair: score_pair, only_part: retrieve})
        graph.when(score_pair, {invalid_pair: prune, valid_pair: retrieve})
    else:
        graph.when(decompose, {**kept, to_search: retrieve})
    graph.when(decompose, {unsplit: answer if search_root else retrieve})  # the whole question, which has been searched or not
    graph.when(answer, {unknown_hop: decompose, hop_unsure: prune, hop_settled: fill})
    if judged:
        graph.when(answer, {answerable_below: expand, both_unanswered: prune} if repair else {})
        graph.when(answer, {only_part_answered: expand, pair_answered: judge})
        graph.when(judge, {below_theta: prune, **({insufficient & attempts_left: decompose} if repair else {}), at_least_theta: expand})
    else:
        graph.when(answer, {pair_answered: expand})
    graph.when(prune, {attempts_left: decompose} if judged or rubric else {})
    graph.when(fill, {to_search: retrieve})
    graph.when(expand, {may_expand: decompose, root_answered: aggregate, half_settled: aggregate}, otherwise=finalize)
    graph.when(aggregate, {}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


may_expand = within_depth & expandable & never_split


def _max_calls(settings: TorSettings, rubric: bool, judged: bool, repair: bool, search_root: bool) -> MaxCalls:
    """Return the maximum of a full tree of forks, each split again up to `redecompositions` times."""
    depth = max(settings.max_depth, 1)  # the root is split whatever the depth
    attempts = settings.redecompositions + 1
    splits = attempts if judged or rubric else 1
    searched_pairs = attempts if judged else 1  # a pair that the rubric refuses is not searched
    # The better half of a weak pair is kept, unless it depends on the weaker one.
    answers = 2 + (searched_pairs - 1) * (1 + settings.dependent)
    first_pair = 1 + rubric + 2 + judged
    fork = splits * (1 + rubric) + answers + searched_pairs * judged
    tree = 0
    for _ in range(depth):
        # A first hop without an answer is split before its fork is judged, which is then not split again.
        grown_first = first_pair + (splits - 1) * rubric * 2 + 1 if settings.dependent and tree else 0
        tree = max(fork, grown_first) + 2 * tree
    searches = (2**depth - 1) * answers
    return MaxCalls(tree + 1, searches + 1 if search_root else max(searches, answers + judged))


STRATEGY = Strategy(
    "tor",
    build,
    description="ToR-RAG: answers a question from the indexed documents; splits it in two, judges each fork, "
    "prunes what scores below theta.",
    paper="ToR-RAG, Yoo and Moon 2025",
    arguments={
        "rubric": "true: score each pair of sub-questions before anything is retrieved for it",
        "judged": "false: keep every fork without scoring it (ablation)",
        "repair": "true: split or ask anew a half without an answer; false: judge every fork by its score alone, as in the paper",
        "search_root": "true: search the question itself before it is split; false: only its sub-questions, as in the paper",
    },
    presets={
        "paper": {
            "rubric": True,
            "judge": "scores",
            "splitter": "model",
            "repair": False,
            "search_root": False,
            "dependent": False,
            "hybrid": False,
            "expand_sure": True,
            "informed": False,
            "shots": 0,
        }
    },
    max_calls=_max_calls,
)
