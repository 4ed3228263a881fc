"""ToR-RAG: a tree of retrieval (Yoo and Moon 2025, figure 1).

Decompose in two, retrieve and answer each, judge the fork, prune what scores below theta, expand what holds, finalize from the leaves.
"""

from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.answer import answer
from ramify.nodes.decompose import decompose
from ramify.nodes.expand import expand
from ramify.nodes.fill import fill
from ramify.nodes.finalize import finalize_leaves as finalize
from ramify.nodes.judge import judge
from ramify.nodes.judge import rubric as score_pair
from ramify.nodes.plant import plant
from ramify.nodes.prune import keep_all, prune
from ramify.nodes.retrieve import retrieve
from ramify.nodes.settings import TorSettings


def build(rubric: bool = False, judged: bool = True) -> Wiring[TorSettings]:
    """Wire ToR-RAG; `rubric` judges each pair before retrieval, `judged=False` leaves the judge out."""
    graph = Wiring(TorSettings)
    graph.sequence(START, plant("growing"), decompose)
    if rubric:
        graph.sequence(decompose, score_pair)
        graph.when(score_pair, {"a pair is invalid": decompose}, ("pairs are valid", retrieve))
    else:
        graph.sequence(decompose, retrieve)
    graph.sequence(retrieve, answer)

    verdict = judge if judged else keep_all
    graph.when(answer, {"a sibling's answer is in": fill}, ("both answered", verdict))
    graph.sequence(fill, retrieve)
    graph.sequence(verdict, prune, expand) if judged else graph.sequence(verdict, expand)
    graph.when(expand, {"≥ θ within depth, or tried again": decompose, "root alone": retrieve}, ("all settled", finalize))
    graph.sequence(finalize, END)
    return graph
