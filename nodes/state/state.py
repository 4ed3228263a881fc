"""The state that a graph carries: the question, the tree, the passages, what it cost and the answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from ramify.nodes.citation import Citation
from ramify.nodes.state.usage import Usage, spend
from ramify.nodes.tree import Branch, Passage, Tree, Value, graft, kept_as

StoppedBy = Literal["finished", "calls", "tokens", "seconds", "rounds", "error"]


@kept_as("ramify.nodes.state")
class Search(Value):
    """What the filter loop of Iterative RAG remembers."""

    round: int = 0
    lost: int = 0
    """Rounds whose reply never came, or came malformed."""
    seen: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    poor_rounds: int = 0
    sufficient: bool = False

    @property
    def support(self) -> tuple[str, ...]:
        """Give the passages to answer from: the relevant ones; all that were read where facts have come without numbers."""
        return self.relevant or (self.seen if self.facts else ())


def pool(passages: Mapping[str, Any] | None, found: Mapping[str, Any] | None) -> dict[str, Passage]:
    """Merge passages by id, as a new dict; one found twice keeps its best score and value."""
    merged = {key: Passage.model_validate(value) for key, value in (passages or {}).items()}
    for key, value in (found or {}).items():
        passage = Passage.model_validate(value)
        if (old := merged.get(key)) is not None:
            best = {"score": max(old.score, passage.score), "value": max(old.value, passage.value)}
            passage = old.model_copy(update=best)
        merged[key] = passage
    return merged


def furthest(shown: Mapping[str, int] | None, more: Mapping[str, int] | None) -> dict[str, int]:
    """Merge how many characters of each passage the model was shown, as a new dict: the most counts."""
    merged = dict(shown or {})
    for key, length in (more or {}).items():
        merged[key] = max(length, merged.get(key, 0))
    return merged


class Question(TypedDict):
    """What a graph is given."""

    question: str


class Spoken(TypedDict):
    """What a graph that holds a conversation is given: a question, or messages of which the last one asks."""

    question: NotRequired[str]
    messages: NotRequired[Annotated[list[AnyMessage], add_messages]]


class Answer(TypedDict):
    """What a graph gives back."""

    question: str
    answer: str
    confidence: float
    citations: list[Citation]
    closest: list[Citation]
    tree: Annotated[Tree, graft]
    stopped_by: StoppedBy


class Replied(Answer):
    """What a graph that holds a conversation gives back: the answer is the last message, too."""

    messages: Annotated[list[AnyMessage], add_messages]


class State(TypedDict):
    """What the steps of a graph share."""

    question: str
    messages: Annotated[list[AnyMessage], add_messages]
    """The turns of a conversation; empty where none is held."""
    tree: Annotated[Tree, graft]
    passages: Annotated[dict[str, Passage], pool]
    shown: Annotated[dict[str, int], furthest]
    """The passages that the model was shown, by id, and how many characters of each."""
    usage: Annotated[Usage, spend]
    started: float
    """When work on the question began, in seconds since the epoch, later by what it then waited for loading: the budget of seconds
    counts from here, and survives a resume."""
    loading_s: float
    """Seconds that the question waited while encoder, index and reader were loaded."""
    model: str
    tau: float | None
    """The confidence above which an answer is accepted; none where the strategy knows no such threshold."""
    index: str
    """What was searched; empty where nothing was."""
    notices: list[str]
    answer: str
    confidence: float
    confidence_source: str | None
    explanation: str
    settled_by: str
    citations: list[Citation]
    closest: list[Citation]
    """What comes closest to a question that the embedded model does not answer, or hardly."""
    stopped_by: StoppedBy


class IterativeState(State):
    """The state of Iterative RAG: the loop's memory beside the tree."""

    search: Search


def evidence_of(state: State, branch: Branch) -> tuple[Passage, ...]:
    """Look up the passages that a branch holds."""
    return tuple(state["passages"][key] for key in branch.evidence if key in state["passages"])
