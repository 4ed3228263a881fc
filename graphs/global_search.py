"""Global search over a graph's reports or a hierarchy's summaries (GraphRAG, Edge et al. 2024, figure 1): map, prune, reduce.

Take those of a level in batches, answer the question from each side by side, drop what helps nothing, join the rest.
"""

from ramify.graphs.conditions import is_helpful, is_searched
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.init_tree import init_tree
from ramify.nodes.prune import prune
from ramify.nodes.reduce import reduce
from ramify.nodes.reports import map_report, retrieve_reports
from ramify.nodes.settings import GlobalSettings


def build() -> Wiring[GlobalSettings]:
    """Wire global search."""
    graph = Wiring(GlobalSettings)
    graph.module("Community answers (map)", map_report, prune)
    graph.module("Global answer (reduce)", reduce)
    graph.path(START, init_tree, retrieve_reports)
    graph.when(retrieve_reports, {is_searched: reduce}, otherwise=map_report)
    graph.when(map_report, {is_helpful: reduce}, otherwise=prune)
    graph.path(prune, reduce, END)
    return graph


STRATEGY = Strategy(
    "global",
    build,
    description="GraphRAG's global search: answers a question about all of the documents, such as their main themes, from reports on them.",
    paper="GraphRAG, Edge et al. 2024",
    presets={"paper": {"max_batches": 1000, "num_ctx": 8192}},
    max_calls=lambda settings: MaxCalls((1 if settings.over == "search" else settings.max_batches) + 1, 1),
)
