"""Split first: a small writer splits, the model reads, arithmetic combines.

The question is split before anything is searched; each part is answered from its own passages in one call; the answers are combined as the
split says (a bridge, a comparison, the same or not). Where they settle nothing, the question is answered from passages of its own.
"""

from ramify.graphs.conditions import children_settled, hop_settled, hop_unsure, never_split, to_search, within_depth
from ramify.graphs.strategies import MaxCalls, Strategy
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import aggregate, answer
from ramify.nodes.decompose import decompose
from ramify.nodes.fill import fill
from ramify.nodes.finalize import finalize
from ramify.nodes.init_tree import init_tree
from ramify.nodes.prune import prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import SplitSettings


def build() -> Wiring[SplitSettings]:
    """Wire it."""
    graph = Wiring(SplitSettings, final_call=False)
    may_split = within_depth & never_split & to_search
    graph.path(START, init_tree, decompose)
    graph.when(decompose, {may_split: decompose, to_search: retrieve})
    graph.path(retrieve, answer)
    graph.when(answer, {hop_unsure: prune, hop_settled: fill, children_settled: aggregate}, otherwise=finalize)
    graph.when(fill, {may_split: decompose}, otherwise=retrieve)
    graph.when(aggregate, {to_search.with_label("nothing settled"): retrieve}, otherwise=finalize)
    graph.path(finalize, END)
    return graph


def _max_calls(settings: SplitSettings) -> MaxCalls:
    """Return the maximum of a full tree: each question is answered at most once, and split by the model if the writer does not."""
    inner = 2**settings.max_depth - 1
    questions = 2 * inner + 1
    return MaxCalls(questions + inner * (settings.splitter != "embedded"), questions)


STRATEGY = Strategy(
    "split",
    build,
    description="Split first: answers a question from the indexed documents; an embedded writer splits it, the model reads each part, "
    "arithmetic combines the answers.",
    max_calls=_max_calls,
)
