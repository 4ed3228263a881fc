"""Naive RAG (Native-RAG): retrieve once, answer."""

from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import Settings


def build() -> Wiring[Settings]:
    """Wire naive RAG."""
    graph = Wiring(Settings, final_call=False)
    graph.path(START, init_tree, retrieve, answer, finalize, END)
    return graph


STRATEGY = Strategy(
    "naive",
    build,
    description="Naive RAG, a baseline: answers a question from the indexed documents; searches once.",
    max_calls=lambda settings: MaxCalls(1, 1),
)
