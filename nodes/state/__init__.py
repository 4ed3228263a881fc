"""What a graph carries from step to step, and gives back."""

from ramify.nodes.citation import NOT_CITED, Citation, Source
from ramify.nodes.state.state import (
    Answer,
    IterativeState,
    Question,
    Replied,
    Search,
    Spoken,
    State,
    StoppedBy,
    evidence_of,
    furthest,
    pool,
)
from ramify.nodes.state.usage import Replies, Usage

__all__ = [
    "NOT_CITED",
    "Answer",
    "Citation",
    "IterativeState",
    "Question",
    "Replied",
    "Replies",
    "Search",
    "Source",
    "Spoken",
    "State",
    "StoppedBy",
    "Usage",
    "evidence_of",
    "furthest",
    "pool",
]
