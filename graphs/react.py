"""A search agent like ReAct (Yao et al. 2023), wired as Search-o1 (Li et al. 2025, figure 2): think, search, condense, again."""

from ramify.graphs.conditions import chain_may_continue, concluded, to_search
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.chain import condense, search_or_answer
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import ReactSettings


def build() -> Wiring[ReactSettings]:
    """Wire the agent."""
    graph = Wiring(ReactSettings)
    graph.path(START, init_tree, search_or_answer)
    graph.when(search_or_answer, {to_search: retrieve, concluded.with_label("answers"): finalize})
    graph.path(retrieve, condense)
    graph.when(condense, {chain_may_continue: search_or_answer}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


STRATEGY = Strategy(
    "react",
    build,
    description="ReAct, a baseline: answers a question from the indexed documents; thinks, searches, condenses, until it answers.",
    paper="ReAct, arXiv 2210.03629, as in Search-o1, arXiv 2501.05366",
    max_calls=lambda settings: MaxCalls(2 * settings.max_depth + 1, settings.max_depth),
)
