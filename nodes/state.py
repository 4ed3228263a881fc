"""The state that a graph carries: the question, the tree, the passages, what it cost and the answer; and the turns of a conversation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ramify.nodes.tree import DROPPED, FrozenModel, Passage, Tree, is_unknown, merge_branches
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.prompts import Turn
from ramify.tools.english import MIN_PERSON_PROBABILITY, find_names, person_asked_for, person_named_by, person_probabilities

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
    """The short, exact answer."""
    text: str
    """The answer in sentences for a reader, each with the numbers of its citations; empty with `style=short`."""
    sentences: list[Sentence]
    confidence: float | None
    """How likely the answer is right; None beside Unknown."""
    citations: list[Citation]
    tree: Annotated[Tree, merge_branches]
    stopped_by: Annotated[StoppedBy, first_stop]


class Replied(Answer):
    """What a graph that holds a conversation gives back: the answer is the last message, too."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The turns of a conversation; empty where none is held."""


class State(Replied):
    """What the steps of a graph share."""

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
    quoted: bool
    """Whether the text is quoted from the passages word for word."""
    confidence_source: str | None
    explanation: str
    withheld: NotRequired[str]
    """Which answer a profile withheld, and why; empty where none was."""
    settled_by: str
    error: Annotated[str, latest]
    """Why the model was not asked any more, with what to do: it could not be reached, or is not there. Empty where it was asked."""


class IterativeState(State):
    """The state of Iterative RAG: the loop's memory beside the tree."""

    search: Search


MARK = "ramify"
"""Under this name a message carries what the toolkit knows of it: a question that it was heard, an answer its citations and tree."""
SURE = 0.6
"""An answer of this confidence may stand for what it answers: clearly rather right than wrong, also where a model is somewhat too sure."""


def answer_id(state: State) -> str:
    """Return the id of the message that says a question's answer: also of its parts, where they are streamed before it is whole."""
    return f"answer-{state['started']:.6f}"


def pending_message(messages: Iterable[BaseMessage]) -> HumanMessage | None:
    """Give the last message if it is a question that no turn has taken up yet."""
    last = next(reversed(list(messages)), None)
    return last if isinstance(last, HumanMessage) and MARK not in last.additional_kwargs else None


def heard(message: HumanMessage) -> HumanMessage:
    """Mark a question as taken up: a turn that then fails does not answer it again instead of the next one."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: {"heard": True}}})


def earlier(state: State) -> list[Turn]:
    """List the answered turns of a conversation: each question as it was understood, with its answer and whether that was sure."""
    return [
        Turn(asked=asked, answer=answer, sure=_sure(answer, told.get("confidence")))
        for asked, answer, told in _answered(state.get("messages") or [])
    ]


def left_open(messages: Iterable[BaseMessage]) -> str | None:
    """Return the question of the last turn where that one asked back whom it means; None where it did not."""
    last = next(reversed(list(_turns(messages))), None)
    return last[0] if last is not None and last[2].get("asked_back") else None


def persons(messages: Iterable[BaseMessage], turns: int) -> list[str]:
    """List the persons that the last turns told of, the latest first: by name where an answer was sure, else as described. Blocking.

    A person is who a question or sub-question with "who" asks for, and whom the embedded classifier takes for one.
    """
    found: list[str] = []
    for asked, answer, told in reversed(_answered(messages)[-turns:]):
        whole = {"question": asked, "answer": answer, "confidence": told.get("confidence")}
        tree = told.get("tree")
        rows = tree if isinstance(tree, list) else ()
        for row in (whole, *(row for row in rows if isinstance(row, dict) and row.get("status") not in DROPPED)):
            if (described := person_asked_for(str(row.get("question")))) is not None:
                sure = person_named_by(row["answer"]) if _sure(row.get("answer"), row.get("confidence")) else None
                found += filter(None, (sure, described))
        named = [*find_names(asked), *([answer] if _sure(answer, told.get("confidence")) else [])]
        found += [name for name, likely in zip(named, person_probabilities(named), strict=True) if likely >= MIN_PERSON_PROBABILITY]
    return list(dict.fromkeys(found))


def asked_of(messages: Iterable[BaseMessage], turns: int) -> list[str]:
    """List the questions of the last turns, as they were understood."""
    return [asked for asked, _, _ in _answered(messages)[-turns:]]


def _answered(messages: Iterable[BaseMessage]) -> list[tuple[str, str, dict[str, Any]]]:
    """List the turns that did not ask back."""
    return [turn for turn in _turns(messages) if not turn[2].get("asked_back")]


def _sure(answer: object, confidence: object) -> bool:
    return isinstance(answer, str) and not is_unknown(answer) and isinstance(confidence, float | int) and confidence >= SURE


def _turns(messages: Iterable[BaseMessage]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each turn that was replied to: its question as it was understood, its answer, and what the toolkit knows of it."""
    asked = ""
    for message in messages:
        if isinstance(message, HumanMessage):
            asked = message.text
        elif isinstance(message, AIMessage) and asked:
            kept = message.additional_kwargs.get(MARK)
            told: dict[str, Any] = kept if isinstance(kept, dict) else {}
            yield str(told.get("question") or asked), str(told.get("answer") or message.text), told
