"""Global search over a graph's reports or a hierarchy's summaries (GraphRAG, Edge et al. 2024, figure 1): map, prune, reduce.

Take those of a level in batches, answer the question from each side by side, drop what helps nothing, join the rest.
"""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.map_report import map_report
from ramify.nodes.plant import plant
from ramify.nodes.prune import prune_useless as prune
from ramify.nodes.reduce import reduce
from ramify.nodes.retrieve_reports import retrieve_reports as retrieve
from ramify.nodes.settings import GlobalSettings


def build() -> Wiring[GlobalSettings]:
    """Wire global search."""
    graph = Wiring(GlobalSettings)
    graph.sequence(START, plant("open", searches=False), retrieve, map_report, prune, reduce, END)
    return graph
