"""The state that a graph carries: the question, the tree, the passages, what it cost and the answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ramify.nodes.tree import Branch, FrozenModel, Passage, Tree, merge_branches
from ramify.nodes.tree.citation import Citation, Sentence

StoppedBy = Literal["finished", "calls", "tokens", "seconds", "rounds", "error"]


class Replies(FrozenModel):
    """How many replies to one prompt had the form asked for."""

    valid: int = 0
    """At once."""
    repaired: int = 0
    """When asked again, having been told what was wrong."""
    malformed: int = 0
    """Not even then."""

    def __add__(self, other: "Replies") -> "Replies":
        return Replies(**{name: getattr(self, name) + getattr(other, name) for name in Replies.model_fields})


NONE = Replies()


class Usage(FrozenModel):
    """What a question has cost so far."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retrievals: int = 0
    critical_path_calls: int = 0
    """Calls made one after another: over supersteps, the most within one task."""
    replies: dict[str, Replies] = Field(default_factory=dict)
    """What form the replies had, by the name of the prompt."""
    superstep: int = Field(default=-1, exclude=True)
    """The superstep of LangGraph in which it was last added to."""
    longest: int = Field(default=0, exclude=True)
    """The critical path of that superstep: of steps that run side by side the longest one counts."""

    def __add__(self, other: "Usage") -> "Usage":
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        names = dict.fromkeys((*self.replies, *other.replies))
        return Usage(**counts, replies={name: self.replies.get(name, NONE) + other.replies.get(name, NONE) for name in names})

    def __sub__(self, other: "Usage") -> "Usage":
        return self.model_copy(update={name: getattr(self, name) - getattr(other, name) for name in COUNTS})

    @property
    def tokens(self) -> int:
        """Sum prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


COUNTS = ("llm_calls", "prompt_tokens", "completion_tokens", "retrievals", "critical_path_calls")


class Search(FrozenModel):
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
    relevances: tuple[float, ...] = ()
    """How relevant each round was, since the last query was added."""
    suggested: str = ""
    """The query that the last round suggests to search next; empty where it was searched already, or none was suggested."""
    sufficient: bool = False
    given_up: bool = False
    """Whether reading ended before its time: the model cannot be asked any more, or a budget is used up."""

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


def merge_max(shown: Mapping[str, int] | None, more: Mapping[str, int] | None) -> dict[str, int]:
    """Merge how many characters of each passage the model was shown, as a new dict: the most counts."""
    merged = dict(shown or {})
    for key, length in (more or {}).items():
        merged[key] = max(length, merged.get(key, 0))
    return merged


def spend(usage: Any, more: Any) -> Usage:
    """Add what a step spent; of steps that ran side by side in one superstep, the longest path counts."""
    before, spent = Usage.model_validate(usage or {}), Usage.model_validate(more or {})
    total, path = before + spent, spent.critical_path_calls
    if spent.superstep < 0 or spent.superstep != before.superstep:
        return total.model_copy(update={"superstep": spent.superstep, "longest": path})
    counted = total.critical_path_calls - min(path, before.longest)
    return total.model_copy(update={"superstep": spent.superstep, "longest": max(path, before.longest), "critical_path_calls": counted})


def latest(old: Any, new: Any) -> Any:
    """Take the newer value; steps that run side by side may both write one."""
    return new


def later_of(old: float | None, new: float | None) -> float:
    """Take the greater one."""
    return max(old or 0.0, new or 0.0)


def append_new(old: list[str] | None, new: list[str] | None) -> list[str]:
    """Append what is not there yet."""
    return list(dict.fromkeys((*(old or ()), *(new or ()))))


def first_stop(old: Any, new: Any) -> Any:
    """Keep the first reason why a question was stopped, but for an error; a new question begins with "finished"."""
    return new if new in ("finished", "error") or old in (None, "finished") else old


class Question(TypedDict):
    """What a graph is given."""

    question: str


class ChatInput(TypedDict):
    """What a graph that holds a conversation is given: a question, or messages of which the last one asks."""

    question: NotRequired[str]
    messages: NotRequired[Annotated[list[AnyMessage], add_messages]]


class Answer(TypedDict):
    """What a graph gives back."""

    question: str
    answer: str
    text: str
    sentences: list[Sentence]
    confidence: float | None
    citations: list[Citation]
    tree: Annotated[Tree, merge_branches]
    stopped_by: Annotated[StoppedBy, first_stop]


class Replied(Answer):
    """What a graph that holds a conversation gives back: the answer is the last message, too."""

    messages: Annotated[list[AnyMessage], add_messages]


class State(TypedDict):
    """What the steps of a graph share."""

    question: str
    messages: Annotated[list[AnyMessage], add_messages]
    """The turns of a conversation; empty where none is held."""
    tree: Annotated[Tree, merge_branches]
    passages: Annotated[dict[str, Passage], pool]
    shown: Annotated[dict[str, int], merge_max]
    """The passages that the model was shown, by id, and how many characters of each."""
    usage: Annotated[Usage, spend]
    started: Annotated[float, later_of]
    """When work on the question began, in seconds since the epoch, later by what it then waited for loading: the budget of seconds
    counts from here, and survives a resume."""
    loading_s: Annotated[float, later_of]
    """Seconds that the question waited while encoder, index and reader were loaded."""
    model: str
    tau: float | None
    """The confidence above which an answer is accepted; none where the strategy knows no such threshold."""
    reconsider: bool | None
    """Whether the model is asked once more about an answer that is not sure, with a hint."""
    ask_first: NotRequired[str]
    """What a person reviews before it counts."""
    index: Annotated[str, latest]
    """What was searched; empty where nothing was."""
    notices: Annotated[list[str], append_new]
    asked_back: NotRequired[str]
    """What a conversation asks back instead of an answer: whom a pronoun means; empty where it asks nothing."""
    answer: str
    """The short, exact answer."""
    text: str
    """The answer in sentences for a reader, each with the numbers of its citations; empty with `style=short`."""
    sentences: list[Sentence]
    quoted: bool
    """Whether the text is quoted from the passages word for word."""
    confidence: float | None
    """How likely the answer is right; None beside Unknown."""
    confidence_source: str | None
    explanation: str
    withheld: NotRequired[str]
    """Which answer a profile withheld, and why; empty where none was."""
    settled_by: str
    citations: list[Citation]
    stopped_by: Annotated[StoppedBy, first_stop]
    error: Annotated[str, latest]
    """Why the model was not asked any more, with what to do: it could not be reached, or is not there. Empty where it was asked."""


class IterativeState(State):
    """The state of Iterative RAG: the loop's memory beside the tree."""

    search: Search


def evidence_of(state: State, branch: Branch) -> tuple[Passage, ...]:
    """Look up the passages that a branch holds."""
    return tuple(state["passages"][key] for key in branch.evidence if key in state["passages"])
