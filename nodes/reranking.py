"""What reorders the passages that a search found: as it is set, else the reader for the embedded model alone."""

from ramify.nodes.settings import EMBEDDED, IterativeSettings, Settings
from ramify.tools.relevance import NONE, READER

AUTO = "auto"


def reranker(settings: Settings, model: str) -> str:
    """Name what reranks for a model; none where a filter reads what was found, round by round."""
    if isinstance(settings, IterativeSettings):
        return NONE
    if settings.rerank == AUTO:
        return READER if model == EMBEDDED else NONE
    return settings.rerank
