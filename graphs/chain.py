"""Chain of retrieval (CoR-RAG): one sub-question after another, each asked with the answers so far."""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.finalize import finalize
from ramify.nodes.next_question import next_question
from ramify.nodes.plant import plant
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import ChainSettings


def build() -> Wiring[ChainSettings]:
    """Wire the chain."""
    graph = Wiring(ChainSettings)
    graph.sequence(START, plant("growing"), next_question)
    graph.when(next_question, {"a new question": retrieve}, ("history suffices, or L asked", finalize))
    graph.sequence(retrieve, answer)
    graph.when(answer, {"answered": next_question}, ("nothing to go on with", finalize))
    graph.sequence(finalize, END)
    return graph
