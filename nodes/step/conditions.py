"""The conditions of the papers' figures, each written once: a step selects by it; an edge asks the step whether it has anything to do."""

from ramify.nodes.settings import EMBEDDED, PruneSettings, TorSettings, TreeSettings
from ramify.nodes.tree import Branch
from ramify.tools.reader.calibration import TAU


def holds(branch: Branch, settings: TorSettings) -> bool:
    """Tell whether a fork's score reaches theta (ToR-RAG §4)."""
    return (branch.score or 0.0) >= settings.theta


def may_retry(branch: Branch, settings: TorSettings) -> bool:
    """Tell whether a weak fork may be decomposed again."""
    return branch.attempts <= settings.redecompositions


def sure(branch: Branch, settings: PruneSettings) -> bool:
    """Tell whether an answer's confidence is above tau (PruneRAG, strict)."""
    return branch.known and (branch.confidence or 0.0) > settings.threshold


def calibrated(settings: PruneSettings) -> str:
    """Name the model that tau was calibrated for, where it was."""
    return EMBEDDED if settings.model == EMBEDDED and settings.threshold == TAU else ""


def within_depth(branch: Branch, settings: TreeSettings) -> bool:
    """Tell whether a branch may have children."""
    return branch.depth < settings.max_depth
