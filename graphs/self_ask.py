"""Self-Ask (Press et al. 2023, figure 3): one follow-up question after another, each looked up, until the final answer."""

from ramify.graphs.conditions import chain_may_continue, concluded, to_search
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.chain import follow_up
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import ChainSettings


def build() -> Wiring[ChainSettings]:
    """Wire Self-Ask."""
    graph = Wiring(ChainSettings)
    graph.path(START, init_tree, follow_up)
    graph.when(follow_up, {to_search: retrieve, concluded.with_label("final answer"): finalize})
    graph.path(retrieve, answer)
    graph.when(answer, {chain_may_continue: follow_up}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


STRATEGY = Strategy(
    "self-ask",
    build,
    description="Self-Ask, a baseline: answers a question from the indexed documents; asks follow-up questions until the final answer.",
    paper="Self-Ask, arXiv 2210.03350",
    max_calls=lambda settings: MaxCalls(2 * settings.max_depth + 1, settings.max_depth),
)
