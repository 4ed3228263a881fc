"""Chain of retrieval (CoR-RAG): one sub-question after another, each asked with the answers so far."""

from ramify.graphs.conditions import chain_may_continue, to_search
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.chain import next_question
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import RetrievalChainSettings


def build() -> Wiring[RetrievalChainSettings]:
    """Wire the chain."""
    graph = Wiring(RetrievalChainSettings)
    graph.path(START, init_tree, next_question)
    graph.when(next_question, {to_search: retrieve}, otherwise=finalize)
    graph.path(retrieve, answer)
    graph.when(answer, {chain_may_continue: next_question}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


STRATEGY = Strategy(
    "chain",
    build,
    description="CoR-RAG: answers a question from the indexed documents; asks one sub-question after another, with the answers so far.",
    paper="chain of retrieval, as in the ToR-RAG paper",
    presets={"paper": {"splitter": "model", "hybrid": False}},
    max_calls=lambda settings: MaxCalls(2 * settings.max_depth + 1, settings.max_depth),
)
