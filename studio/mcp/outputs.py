"""What the MCP tools give back, as schemas that a client can hold them to."""

from typing import Any

from pydantic import BaseModel, Field

from ramify.graphs.result import Cost
from ramify.nodes.state import Citation, StoppedBy


class Researched(BaseModel):
    """What came of a question: the object of `ramify ask --json`."""

    question: str
    answer: str = Field(description="Unknown where none was found")
    confidence: float = Field(ge=0, le=1)
    citations: list[Citation]
    closest: list[Citation] = Field(
        description="where the embedded model gives no answer, or one that is in doubt: the sentences that come closest, as `quote`"
    )
    tree: list[dict[str, Any]] = Field(description="The branches: path, parent, question, kind, status, answer, confidence, note, …")
    usage: Cost
    stopped_by: StoppedBy
    notices: list[str]
    index: str = Field(description="what was searched; empty where nothing was")


class PassageFound(BaseModel):
    """A passage: an object of `ramify search --json`."""

    id: str
    source: str
    text: str
    score: float
    metadata: dict[str, Any]


class Searched(BaseModel):
    """What a search found."""

    passages: list[PassageFound]
