"""The result of a question: the answer, what it rests on, the tree and what it cost."""

from typing import Any

from pydantic import Field

from ramify.nodes.state import Citation, Search, StoppedBy, Usage
from ramify.nodes.tree import Passage, Tree, Value, row


class Cost(Usage):
    """What a question cost, with the seconds it took."""

    wall_s: float = 0.0
    loading_s: float = 0.0
    """How many of them it waited while encoder, index and reader were loaded: these count against no budget."""


class Result(Value):
    """What came of a question."""

    question: str
    strategy: str
    model: str
    tau: float | None = None
    """The confidence above which an answer was accepted; none where the strategy knows no such threshold."""
    index: str = ""
    """What was searched, in a line; empty where nothing was."""
    answer: str
    confidence: float
    confidence_source: str | None = None
    citations: list[Citation] = Field(default_factory=list)
    closest: list[Citation] = Field(default_factory=list)
    """Sentences that come closest to a question that the embedded model does not answer, or hardly, the best first."""
    tree: Tree
    usage: Cost
    stopped_by: StoppedBy
    explanation: str = ""
    settled_by: str = ""
    notices: list[str] = Field(default_factory=list)
    passages: dict[str, Passage] = Field(default_factory=dict, repr=False)
    shown: dict[str, int] = Field(default_factory=dict, repr=False)
    """The passages that the model was shown, by id, and how many characters of each."""
    search: Search | None = Field(default=None, repr=False)
    """What the loop of Iterative RAG remembers."""

    @classmethod
    def from_state(cls, state: dict[str, Any], strategy: str, seconds: float) -> "Result":
        """Read the result off a graph's final state."""
        names = cls.model_fields.keys() & state.keys() - {"usage"}
        cost = Cost(**state["usage"].model_dump(), wall_s=round(seconds, 3), loading_s=round(state.get("loading_s", 0.0), 3))
        return cls(**{name: state[name] for name in names}, strategy=strategy, usage=cost)

    def to_json(self) -> dict[str, Any]:
        """Give the object that `ramify ask --json` prints."""
        told = self.model_dump(exclude={"tree", "passages", "shown", "search"})
        return {**told, "tree": [row(branch) for branch in self.tree.values()]}
