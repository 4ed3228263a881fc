"""Iterative RAG: plan, search widely, read the most promising passages round by round, compress into an answer."""

from ramify.graphs.conditions import all_read, enough, query_suggested, rounds_used_up
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.init_tree import init_tree
from ramify.nodes.iterative import MAX_QUERIES, assign_evidence, compress, filter, plan, search_suggested
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import IterativeState


def build() -> Wiring[IterativeSettings]:
    """Wire Iterative RAG."""
    graph = Wiring(IterativeSettings, IterativeState)
    graph.module("Plan", plan)
    graph.module("Wide search", retrieve, search_suggested)
    graph.module("Filter loop", filter)
    graph.module("Compress", assign_evidence, compress)
    graph.path(START, init_tree, plan, retrieve, filter)
    ends = {enough: assign_evidence, rounds_used_up: assign_evidence}
    graph.when(filter, {**ends, query_suggested: search_suggested, all_read: assign_evidence}, otherwise=filter)
    graph.path(search_suggested, retrieve)
    graph.path(assign_evidence, compress, END)
    return graph


STRATEGY = Strategy(
    "iterative",
    build,
    description="Iterative RAG: answers a question from the indexed documents; searches widely, then reads them round by round.",
    paper="Iterative RAG",
    presets={
        "paper": {
            "hybrid": False,
            "context_tokens": 20_000,
            "num_predict": 4000,
            "num_ctx": 32_768,
            "low_relevance": 0.3,
            "patience": 3,
        }
    },
    max_calls=lambda settings: MaxCalls(settings.rounds + 2, MAX_QUERIES + (settings.rounds - 1) // settings.patience),
)
