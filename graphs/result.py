"""The result of a question: the answer, what it rests on, the tree and what it cost; and why there is no answer."""

from typing import Any

from pydantic import Field

from ramify.nodes.settings import EMBEDDED
from ramify.nodes.state import Citation, Search, StoppedBy, Usage
from ramify.nodes.tree import DROPPED, ROOT, FrozenModel, Passage, Tree, is_unknown, row
from ramify.tools.extractive.question_kinds import open_ended
from ramify.tools.quoting import brief
from ramify.tools.scrub import without_known

ASKED_FOR_MORE = {
    "how to": "it asks how something is done, and the embedded model quotes single facts",
    "list": "it asks for a list, and the embedded model quotes single facts",
}
"""Why the embedded model has no phrase for a question."""
NAME = 80
"""Characters of an answer or question that are shown."""


class Cost(Usage):
    """What a question cost, with the seconds it took."""

    wall_s: float = 0.0
    loading_s: float = 0.0
    """The part of them spent loading encoder, index and reader, which counts against no budget."""


class Result(FrozenModel):
    """The result of a question."""

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
    """Sentences closest to a question that the embedded model does not answer, or is unsure of, the best first."""
    tree: Tree
    usage: Cost
    stopped_by: StoppedBy
    asked_back: str = ""
    """What a conversation asks instead of answering: whom a pronoun means. The answer is Unknown then."""
    error: str = ""
    """Why the model was asked no more, with what to do; empty where nothing failed."""
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
        """Return the object that `ramify ask --json` prints, without known secrets."""
        told = self.model_dump(exclude={"tree", "passages", "shown", "search"})
        found: dict[str, Any] = without_known({**told, "tree": [row(branch) for branch in self.tree.values()]})
        return found


def could_not_ask(result: Result) -> str:
    """Return why a question could not be asked to its end, empty where it could, even if its answer is Unknown."""
    if result.error:
        return result.error
    if result.stopped_by != "error" or not is_unknown(result.answer) or any(branch.known for branch in result.tree.values()):
        return ""
    reasons = (*reversed(result.notices), result.explanation, *(branch.note for branch in result.tree.values()))
    return next(filter(None, reasons), "the model gave no usable reply")


def why_unknown(result: Result) -> str:
    """Return why a question that was asked has no answer: nothing found, no phrase for it, or what was read and how sure that was."""
    if not is_unknown(result.answer) or result.stopped_by == "error" or result.asked_back:
        return ""
    embedded = result.model == EMBEDDED
    if result.index and not result.passages:
        return "nothing was found"
    if embedded and (kind := open_ended(result.question)):
        return ASKED_FOR_MORE[kind]
    asked = [b for b in result.tree.values() if b.kind == "question" and b.status not in DROPPED]
    missing = [b for b in asked if b.answer is not None and not b.known and b.question != result.question]
    lacking = next((b for b in missing if not any(other.path.startswith(f"{b.path}.") for other in missing)), None)
    if lacking is not None:
        return f"unsure: no answer was found to {brief(lacking.question, NAME)!r}"
    if not result.index:
        return ""
    if embedded and (known := [b for b in asked if b.known]):
        weakest = min(known, key=lambda branch: branch.confidence or 0.0)
        return f"unsure: {brief(weakest.answer, NAME)!r} was withheld, only {weakest.confidence or 0.0:.2f} sure"
    read = next((b for b in asked if b.path == ROOT and b.confidence), None)
    if read is None:
        return ""
    if embedded:
        return f"unsure: what was read is only {read.confidence:.2f} sure, and was withheld"
    return f"the model finds no answer in what was found ({read.confidence:.2f} sure)"
