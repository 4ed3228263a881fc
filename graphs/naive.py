"""Naive RAG (Native-RAG): retrieve once, answer."""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer_finally as answer
from ramify.nodes.finalize import conclude
from ramify.nodes.plant import plant
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import Settings


def build() -> Wiring[Settings]:
    """Wire naive RAG."""
    graph = Wiring(Settings)
    graph.sequence(START, plant("open"), retrieve, answer, conclude, END)
    return graph
