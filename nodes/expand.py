"""expand: let the answered children of kept forks grow in their turn (ToR-RAG)."""

from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.conditions import within_depth
from ramify.nodes.step.selection import alone
from ramify.nodes.tree import Branch


@each(alone("answered"), gives=("growing", "leaf"))
def expand(branch: Branch, settings: TorSettings) -> Growth:
    """Grow an answered branch within depth that has not been split yet; else it is a leaf."""
    grows = within_depth(branch, settings) and branch.attempts == 0
    return grow(branch.to("growing" if grows else "leaf"))
