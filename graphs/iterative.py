"""Iterative RAG: plan, search widely, read the most promising passages round by round, compress into an answer."""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.filter import filter, settle
from ramify.nodes.finalize import compress
from ramify.nodes.plan import plan
from ramify.nodes.plant import plant
from ramify.nodes.retrieve import retrieve_widely as retrieve
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import IterativeState


def build() -> Wiring[IterativeSettings]:
    """Wire Iterative RAG."""
    graph = Wiring(IterativeSettings, IterativeState)
    graph.sequence(START, plant("growing"), plan, retrieve, filter)
    graph.when(
        filter, {"enough, read all, or rounds used up": settle, "three poor rounds: a new query": retrieve}, ("more to read", filter)
    )
    graph.sequence(settle, compress, END)
    return graph
