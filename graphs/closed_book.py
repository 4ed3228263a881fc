"""Closed book (Non-RAG): answer without retrieval."""

from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.settings import Settings


def build() -> Wiring[Settings]:
    """Wire the closed book."""
    graph = Wiring(Settings, final_call=False)
    graph.path(START, init_tree, answer, finalize, END)
    return graph


STRATEGY = Strategy(
    "closed-book",
    build,
    description="Closed book, a baseline: answers a question from the model's memory, without the documents.",
    max_calls=lambda settings: MaxCalls(1, 0),
)
