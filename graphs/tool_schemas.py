"""What the tools ask of a calling model, and what they give it; the descriptions are all that it knows about them."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from ramify.graphs.result import Cost
from ramify.nodes.state import Citation, StoppedBy


def _lenient(value: Any) -> Any:
    """Take what small models write for nothing, and an object that was written as text."""
    if value is None or value == "":
        return {}
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


Filter = Annotated[
    dict[str, Any],
    BeforeValidator(_lenient),
    Field(
        default_factory=dict,
        description='Only passages whose metadata has these values, for example {"source": "report.pdf"}. '
        "Leave it out unless the user names a field and its value.",
    ),
]


class Asked(BaseModel):
    """A question."""

    question: str = Field(
        description="One complete question in plain words, with full names: no 'he', 'it' or 'that company' from the conversation."
    )


class AskedWithin(Asked):
    """A question, and where to look."""

    filter: Filter


class Sought(BaseModel):
    """What to search for."""

    query: str = Field(description="What to look for: a question or a few words, with full names.")


class SoughtWithin(Sought):
    """What to search for, and where."""

    filter: Filter


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
