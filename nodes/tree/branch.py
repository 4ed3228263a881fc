"""A branch: a question or an entity, where it stands in the tree, what was found for it and what came of it."""

import unicodedata
from typing import Any, Literal

from pydantic import Field

from ramify.nodes.tree.value import Value, kept_as
from ramify.tools.unknown import is_unknown

Kind = Literal["question", "entity", "batch"]
"""What a branch asks: a question, what there is about a name, or what a batch of reports says of the whole question."""
Status = Literal[
    "open", "found", "waiting", "answered", "growing", "atomic", "split", "judged", "inner", "leaf", "pruned", "failed"
]  # fmt: skip
ConfidenceSource = Literal["logprobs", "stated", "reader"]

ROOT = "0"
WORKING: frozenset[str] = frozenset({"open", "found", "waiting", "answered", "growing", "atomic", "judged"})
DROPPED: frozenset[str] = frozenset({"pruned", "failed"})


@kept_as("ramify.nodes.tree")
class Branch(Value):
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


def wording(branch: Branch) -> tuple[str, str]:
    """Give what makes two questions identical: kind and words, without case, spacing and final marks."""
    text = unicodedata.normalize("NFKC", branch.question).casefold()
    return branch.kind, " ".join(text.split()).rstrip(" ?.!")
