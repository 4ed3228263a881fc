"""The state that a graph carries: the question, the tree, the passages, what it cost and the answer; and the turns of a conversation."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ramify.nodes.tree import DROPPED, Branch, FrozenModel, Passage, Tree, is_unknown, merge_branches
from ramify.nodes.tree.citation import Citation, Sentence, Source
from ramify.prompts import Turn
from ramify.tools.english import are_persons, descriptions, find_names, person_asked_for, person_named_by

StoppedBy = Literal["finished", "calls", "tokens", "seconds", "rounds", "error"]


class Replies(FrozenModel):
    """Numbers of valid and malformed replies to one prompt."""

    valid: int = 0
    """At once."""
    repaired: int = 0
    """When asked again, with the error."""
    malformed: int = 0
    """Not even then."""

    def __add__(self, other: "Replies") -> "Replies":
        return Replies(**{name: getattr(self, name) + getattr(other, name) for name in Replies.model_fields})


NO_REPLIES = Replies()


class Usage(FrozenModel):
    """What a question has cost so far."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retrievals: int = 0
    critical_path_calls: int = 0
    """Calls made one after another: over supersteps, the most within one task."""
    replies: dict[str, Replies] = Field(default_factory=dict)
    """Counts of valid and malformed replies by prompt name."""
    superstep: int = Field(default=-1, exclude=True)
    """The LangGraph superstep of the latest addition."""
    longest: int = Field(default=0, exclude=True)
    """The critical path of that superstep: the longest of concurrent steps counts."""

    def __add__(self, other: "Usage") -> "Usage":
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        names = dict.fromkeys((*self.replies, *other.replies))
        return Usage(**counts, replies={name: self.replies.get(name, NO_REPLIES) + other.replies.get(name, NO_REPLIES) for name in names})

    def __sub__(self, other: "Usage") -> "Usage":
        return self.model_copy(update={name: getattr(self, name) - getattr(other, name) for name in COUNTS})

    @property
    def tokens(self) -> int:
        """Sum prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


COUNTS = ("llm_calls", "prompt_tokens", "completion_tokens", "retrievals", "critical_path_calls")


class Search(FrozenModel):
    """The memory of Iterative RAG's filter loop."""

    round: int = 0
    lost: int = 0
    """Rounds without a valid reply."""
    seen: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The sources that the model finds promising."""
    pages: tuple[str, ...] = ()
    """Of these, the pages that it names: a source and a page each, as in `Passage.place`."""
    relevances: tuple[float, ...] = ()
    """How relevant each round was, since the last query was added."""
    suggested: str = ""
    """The query that the last round suggests to search next; empty where it was searched already, or none was suggested."""
    sufficient: bool = False
    given_up: bool = False
    """Whether reading ended early, because the model is not available or a budget is used up."""

    @property
    def support(self) -> tuple[str, ...]:
        """Return the ids of the passages to answer from: the relevant ones, or all that were read if facts came without numbers."""
        return self.relevant or (self.seen if self.facts else ())


def merge_passages(passages: Mapping[str, Any] | None, more: Mapping[str, Any] | None) -> dict[str, Passage]:
    """Reducer: return passages merged by id; duplicates get their best score and value."""
    merged = {key: Passage.model_validate(value) for key, value in (passages or {}).items()}
    for key, value in (more or {}).items():
        passage = Passage.model_validate(value)
        if (old := merged.get(key)) is not None:
            best = {"score": max(old.score, passage.score), "value": max(old.value, passage.value)}
            passage = old.model_copy(update=best)
        merged[key] = passage
    return merged


def merge_max(shown: Mapping[str, int] | None, more: Mapping[str, int] | None) -> dict[str, int]:
    """Reducer: return the maximum characters shown of each passage."""
    merged = dict(shown or {})
    for key, length in (more or {}).items():
        merged[key] = max(length, merged.get(key, 0))
    return merged


def add_usage(usage: Any, more: Any) -> Usage:
    """Reducer: return the sum of usages; of concurrent steps in one superstep, the longest critical path counts."""
    before, spent = Usage.model_validate(usage or {}), Usage.model_validate(more or {})
    total, path = before + spent, spent.critical_path_calls
    if spent.superstep < 0 or spent.superstep != before.superstep:
        return total.model_copy(update={"superstep": spent.superstep, "longest": path})
    counted = total.critical_path_calls - min(path, before.longest)
    return total.model_copy(update={"superstep": spent.superstep, "longest": max(path, before.longest), "critical_path_calls": counted})


def latest(old: Any, new: Any) -> Any:
    """Reducer: return the newer value; concurrent steps may both write one."""
    return new


def latest_time(old: float | None, new: float | None) -> float:
    """Reducer: return the later timestamp (seconds)."""
    return max(old or 0.0, new or 0.0)


def append_new(old: list[str] | None, new: list[str] | None) -> list[str]:
    """Reducer: return the list with new items appended, without duplicates."""
    return list(dict.fromkeys((*(old or ()), *(new or ()))))


def first_stop(old: Any, new: Any) -> Any:
    """Reducer: return the first reason why a question was stopped; an error or a new question ("finished") replaces it."""
    return new if new in ("finished", "error") or old in (None, "finished") else old


class GraphInput(TypedDict):
    """Input of a graph."""

    question: str


class ChatInput(TypedDict):
    """Input of a conversation's graph: a question, or messages of which the last one is the question."""

    question: NotRequired[str]
    messages: NotRequired[Annotated[list[AnyMessage], add_messages]]


class Answer(TypedDict):
    """Output of a graph."""

    question: str
    answer: str
    """The short, exact answer."""
    text: str
    """The answer in sentences for a reader, each with the numbers of its citations; empty with `style=short`."""
    sentences: list[Sentence]
    confidence: float | None
    """How likely the answer is right; None beside Unknown."""
    explanation: str
    """Why the answer is Unknown, in words; beside an answer, how it follows, where a model says so."""
    citations: list[Citation]
    tree: Annotated[Tree, merge_branches]
    stopped_by: Annotated[StoppedBy, first_stop]


class ConversationOutput(Answer):
    """Output of a conversation's graph: the last message has the answer, too."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The messages of a conversation; empty without one."""


class State(ConversationOutput):
    """State shared by the steps of a graph."""

    passages: Annotated[dict[str, Passage], merge_passages]
    shown: Annotated[dict[str, int], merge_max]
    """The passages that the model was shown, by id, and how many characters of each."""
    usage: Annotated[Usage, add_usage]
    started: Annotated[float, latest_time]
    """When work on the question began, in seconds since the epoch, later by what it then waited for loading: the budget of seconds
    counts from here, and survives a resume."""
    loading_s: Annotated[float, latest_time]
    """Seconds spent loading encoder, index and reader."""
    model: str
    tau: float | None
    """The confidence above which an answer is accepted; None if the strategy has no such threshold."""
    reconsider: bool | None
    """Whether the model reconsiders an unsure answer, with a hint."""
    ask_first: NotRequired[str]
    """What a person reviews before it is used."""
    index: Annotated[str, latest]
    """Description of the index that was searched; empty if none was."""
    notices: Annotated[list[str], append_new]
    asked_back: NotRequired[str]
    """A clarifying question instead of an answer: whom a pronoun means; empty if there is none."""
    quoted: bool
    """Whether the text is quoted from the passages word for word."""
    confidence_source: str | None
    withheld: NotRequired[str]
    """Which answer a profile withheld, and why; empty if none."""
    settled_by: str
    error: Annotated[str, latest]
    """Why the model became unavailable, with what to do; empty if it did not."""


class IterativeState(State):
    """The state of Iterative RAG: the loop's memory beside the tree."""

    search: Search


CHECKPOINT_CLASSES = [
    *((kind.__module__, kind.__name__) for kind in (Branch, Citation, Passage, Search, Sentence, Source, Usage)),
    ("ramify.nodes.tree", "Passage"),  # its name in older checkpoints
]
"""Module and name of the classes in checkpoints, which deserialization has to allow."""

MARK = "ramify"
"""Key in a message's `additional_kwargs`: marks a question as read; for an answer, has its citations and tree."""
SURE_CONFIDENCE = 0.6
"""From this confidence on, later questions may refer to an answer: it is more likely right, even if a model is overconfident."""


def answer_id(state: State) -> str:
    """Return the id of the message with a question's answer, which its streamed chunks have, too."""
    return f"answer-{state['started']:.6f}"


def pending_message(messages: Iterable[BaseMessage]) -> HumanMessage | None:
    """Return the last message if it is a question that no turn has read yet."""
    last = next(reversed(list(messages)), None)
    return last if isinstance(last, HumanMessage) and MARK not in last.additional_kwargs else None


def mark_as_read(message: HumanMessage) -> HumanMessage:
    """Return a question marked as read, so that after a failed turn the next one does not answer it instead."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: {"read": True}}})


def answered_turns(state: State) -> list[Turn]:
    """List the answered turns of a conversation: each question as rewritten, its answer, and whether that was sure."""
    return [
        Turn(asked=asked, answer=answer, sure=_is_sure(answer, data.get("confidence")))
        for asked, answer, data in _answered_message_turns(state.get("messages") or [])
    ]


def pending_clarification(messages: Iterable[BaseMessage]) -> str | None:
    """Return the question of the last turn if that asked for clarification, otherwise None."""
    last = next(reversed(list(_turns(messages))), None)
    return last[0] if last is not None and last[2].get("asked_back") else None


_MAX_PERSON_TURNS = 20
"""Turns in which persons are looked for."""


def persons_mentioned(messages: Iterable[BaseMessage]) -> list[str]:
    """List the persons mentioned in a conversation, the latest first: by name if an answer was sure, otherwise as described. Blocking.

    Persons are the answers to "who" questions and sub-questions (an unsure one if its question does not describe the person), and names
    and descriptions in the questions that the embedded classifier recognizes as persons.
    """
    persons: list[str] = []
    for asked, answer, data in reversed(_answered_message_turns(messages)[-_MAX_PERSON_TURNS:]):
        whole = {"question": asked, "answer": answer, "confidence": data.get("confidence")}
        tree = data.get("tree")
        rows = tree if isinstance(tree, list) else ()
        for row in (whole, *(row for row in rows if isinstance(row, dict) and row.get("status") not in DROPPED)):
            if (described := person_asked_for(str(row.get("question")))) is not None:
                named = _person_answered(row)
                persons += filter(None, (named, described) if _is_sure(row.get("answer"), row.get("confidence")) else (described or named,))
        mentioned = [*find_names(asked), *([answer] if _is_sure(answer, data.get("confidence")) else []), *descriptions(asked)]
        persons += [phrase for phrase, is_person in zip(mentioned, are_persons(mentioned), strict=True) if is_person]
    return list(dict.fromkeys(persons))


def _person_answered(row: Mapping[str, Any]) -> str | None:
    answer = row.get("answer")
    return person_named_by(answer) if isinstance(answer, str) and not is_unknown(answer) else None


def clarifying_question(pronoun: str) -> str:
    """Return the question to the user whom a pronoun means."""
    return f"Who is meant by {pronoun.lower()!r}? Please give a name, or ask again with it."


_CLARIFYING = re.compile(re.escape(clarifying_question("PRONOUN")).replace("pronoun", r"\w+"))
"""A clarifying question, by which it is recognized where a client sends it back without its data."""


def has_answered_turns(messages: Iterable[BaseMessage]) -> bool:
    """Return whether a conversation has turns that did not ask for clarification."""
    return bool(_answered_message_turns(messages))


def _answered_message_turns(messages: Iterable[BaseMessage]) -> list[tuple[str, str, dict[str, Any]]]:
    """List the turns without those that asked for clarification."""
    return [turn for turn in _turns(messages) if not turn[2].get("asked_back")]


def _is_sure(answer: object, confidence: object) -> bool:
    return isinstance(answer, str) and not is_unknown(answer) and isinstance(confidence, float | int) and confidence >= SURE_CONFIDENCE


def _turns(messages: Iterable[BaseMessage]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each answered turn: its question as rewritten, its answer, and the data of its message."""
    asked = ""
    for message in messages:
        if isinstance(message, HumanMessage):
            asked = message.text
        elif isinstance(message, AIMessage) and asked:
            stored = message.additional_kwargs.get(MARK)
            data: dict[str, Any] = stored if isinstance(stored, dict) else {}
            if not data and _CLARIFYING.fullmatch(message.text.strip()):
                data = {"asked_back": message.text}
            yield str(data.get("question") or asked), str(data.get("answer") or message.text), data
