"""The papers that `ramify reproduce` runs, each declared in a file of its own: `tor`, `prune`, `iterative`, `graph` and `hierarchy`.

`paper` says what is declared of one, and makes its runs.
"""

from ramify.evaluation.papers.graph import GRAPH
from ramify.evaluation.papers.hierarchy import HIERARCHY
from ramify.evaluation.papers.iterative import ITERATIVE
from ramify.evaluation.papers.paper import Paper, find_paper
from ramify.evaluation.papers.prune import PRUNE
from ramify.evaluation.papers.tor import TOR

__all__ = ["PAPERS", "Paper", "find_paper"]

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (TOR, PRUNE, ITERATIVE, GRAPH, HIERARCHY)}
"""The papers by name."""
