"""The values of a tree: a branch, which is a question or a name and what came of it; a passage, which is a piece of a document."""

import unicodedata
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.english import is_unknown

Kind = Literal["question", "entity", "batch"]
"""What a branch asks: a question, what there is about a name, or what a batch of reports says of the whole question."""
Status = Literal["open", "waiting", "answered", "split", "inner", "leaf", "pruned", "failed"]
"""What came of a branch: to be searched or answered, waiting for its sibling, answered, divided; or settled (the last four)."""
ConfidenceSource = Literal["logprobs", "stated", "reader"]

ROOT = "0"
WORKING: frozenset[str] = frozenset({"open", "waiting", "answered"})
DROPPED: frozenset[str] = frozenset({"pruned", "failed"})
INTERNAL = {"next", "sent", "proposal", "objection", "reconsidered", "aggregated"}
"""The fields of a branch that only the steps of a graph read."""


class FrozenModel(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Proposal(FrozenModel):
    """How a question may be divided, as a decision proposed it: sub-questions, or names to look up."""

    questions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    together: str = ""


class Point(FrozenModel):
    """One thing that a batch of reports says of the question."""

    text: str
    score: float = Field(ge=0, le=1)
    """How much it helps to answer the question."""
    cited: tuple[str, ...] = ()
    """The ids of the reports that it rests on."""


class Branch(FrozenModel):
    """A vertex of the tree: a question or an entity, what was found and what came of it."""

    path: str = Field(pattern=r"^0(\.\d+)*$")
    question: str
    kind: Kind = "question"
    status: Status = "open"
    evidence: tuple[str, ...] = ()
    """Passage ids, as retrieved."""
    cited: tuple[str, ...] = ()
    """The passage ids that the answer rests on."""
    answer: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    confidence_source: ConfidenceSource | None = None
    points: tuple[Point, ...] = ()
    """What a batch contributes, the most helpful first; its score is that of the first."""
    score: float | None = Field(default=None, ge=0, le=1)
    """The judge's score of the fork below."""
    weaker: str | None = None
    """The path of the child that helps less, as the judge found."""
    attempts: int = Field(default=0, ge=0)
    """How often it has been split."""
    awaits: str | None = Field(default=None, pattern=r"^0(\.\d+)+$")
    """The sibling whose answer belongs, or was put, into its question: it is the second hop of a bridge."""
    together: str = ""
    """How the answers below it are brought together: bridge, earlier, same, …; empty where the model decides."""
    note: str = ""
    """Why it was pruned, what was filled in, what went wrong."""
    next: str = ""
    """The step that takes it up next; empty where it is settled, or waits for others."""
    sent: int = -1
    """The superstep of LangGraph in which it was sent there."""
    proposal: Proposal | None = None
    """How it is to be divided, where that was decided already."""
    objection: str = ""
    """Why what came of it was not accepted; empty where it was, or is still to be looked at."""
    reconsidered: bool = False
    """Whether it was decided on again in the light of an objection."""
    aggregated: bool = False
    """Whether its answer is that of its children, brought together."""

    @property
    def depth(self) -> int:
        """Count the edges between it and the root."""
        return self.path.count(".")

    @property
    def parent(self) -> str | None:
        """Give the parent's path; None for the root."""
        return self.path.rpartition(".")[0] or None

    @property
    def known(self) -> bool:
        """Tell whether it has an answer that says something."""
        return self.answer is not None and not is_unknown(self.answer)

    def noted(self, more: str) -> str:
        """Give its note with more behind it."""
        return "; ".join(filter(None, (self.note, more)))

    def to(self, status: Status, **changes: Any) -> "Branch":
        """Copy with another status and other changes, validated."""
        return Branch.model_validate({**self.model_dump(), **changes, "status": status})

    def __str__(self) -> str:
        parts = [self.path, self.status, self.question]
        if self.answer is not None:
            parts.append(f"-> {self.answer}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


def normalized_key(branch: Branch) -> tuple[str, str]:
    """Give what makes two questions identical: kind and words, without case, spacing and final marks."""
    text = unicodedata.normalize("NFKC", branch.question).casefold()
    return branch.kind, " ".join(text.split()).rstrip(" ?.!")


class Passage(FrozenModel):
    """A retrieved piece of a document."""

    id: str
    text: str
    source: str
    score: float
    """Cosine similarity to the question that found it, always."""
    value: float = 0.0
    """What MMR gave it when it was picked; the cosine where MMR was off."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name the document it is from."""
        return str(self.metadata.get("title", ""))

    @property
    def place(self) -> str:
        """Say where it stands: its source, with the page where it has one."""
        page = self.metadata.get("page")
        return self.source if page is None else f"{self.source}:{page}"

    def __str__(self) -> str:
        return f"{self.title or self.source}: {self.text}"
