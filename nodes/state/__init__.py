"""What a graph carries from step to step, and gives back: the `state`; and the `turns` of a conversation."""

from ramify.nodes.state.state import (
    Answer,
    ChatInput,
    IterativeState,
    Question,
    Replied,
    Replies,
    Search,
    State,
    StoppedBy,
    Usage,
    evidence_of,
    merge_max,
    pool,
)
from ramify.nodes.tree.citation import NOT_CITED, Citation, Sentence, Source

__all__ = [
    "NOT_CITED",
    "Answer",
    "ChatInput",
    "Citation",
    "IterativeState",
    "Question",
    "Replied",
    "Replies",
    "Search",
    "Sentence",
    "Source",
    "State",
    "StoppedBy",
    "Usage",
    "evidence_of",
    "merge_max",
    "pool",
]
