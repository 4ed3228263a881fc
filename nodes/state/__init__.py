"""What a graph carries from step to step, and gives back: the `state`; and the `turns` of a conversation."""

from ramify.nodes.citation import NOT_CITED, Citation, Source
from ramify.nodes.state.state import (
    Answer,
    IterativeState,
    Question,
    Replied,
    Replies,
    Search,
    Spoken,
    State,
    StoppedBy,
    Usage,
    evidence_of,
    furthest,
    pool,
)

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
