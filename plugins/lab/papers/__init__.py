"""The papers that `ramify reproduce` runs, each declared in its own file: `tor`, `prune`, `iterative`, `graph` and `hierarchy`.

`paper` has the classes of these declarations.
"""

from ramify.lab.papers.graph import GRAPH_PAPER
from ramify.lab.papers.hierarchy import HIERARCHY_PAPER
from ramify.lab.papers.iterative import ITERATIVE_PAPER
from ramify.lab.papers.paper import Paper, find_paper
from ramify.lab.papers.prune import PRUNE_PAPER
from ramify.lab.papers.tor import TOR_PAPER

__all__ = ["PAPERS", "Paper", "find_paper"]

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (TOR_PAPER, PRUNE_PAPER, ITERATIVE_PAPER, GRAPH_PAPER, HIERARCHY_PAPER)}
"""The papers by name."""
