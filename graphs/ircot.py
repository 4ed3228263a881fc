"""IRCoT (Trivedi et al. 2023, figure 2): each sentence of a chain of thought is searched for, and a reader answers from what was found."""

from ramify.graphs.conditions import concluded, to_search, within_depth
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.chain import next_thought
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import IrcotSettings


def build() -> Wiring[IrcotSettings]:
    """Wire IRCoT."""
    graph = Wiring(IrcotSettings)
    graph.path(START, init_tree, retrieve)
    graph.when(retrieve, {within_depth: next_thought})
    graph.when(next_thought, {to_search: retrieve, concluded.with_label('"answer is"'): finalize})
    graph.path(finalize, END)
    return graph


STRATEGY = Strategy(
    "ircot",
    build,
    description="IRCoT, a baseline: answers a question from the indexed documents; searches for each sentence of a chain of thought.",
    paper="IRCoT, arXiv 2212.10509",
    max_calls=lambda settings: MaxCalls(settings.max_depth + 1, settings.max_depth + 1),
)
