"""Closed book (Non-RAG): answer without retrieval."""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer_from_memory as answer
from ramify.nodes.finalize import conclude
from ramify.nodes.plant import plant
from ramify.nodes.settings import Settings


def build() -> Wiring[Settings]:
    """Wire the closed book."""
    graph = Wiring(Settings)
    graph.sequence(START, plant("open", searches=False), answer, conclude, END)
    return graph
