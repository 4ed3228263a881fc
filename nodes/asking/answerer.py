"""The interface of a model that answers prompts, implemented by a language model and by the embedded model."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ramify.nodes.tree import ConfidenceSource, Passage
from ramify.prompts.prompt import Finding, Prompt, Quote
from ramify.tools.english import fold
from ramify.tools.no_answer import is_unknown
from ramify.tools.supporting_sentence import contains_answer

T = TypeVar("T", bound=BaseModel)
SMALL = 4_000_000_000
"""A language model with fewer weights is small. Measured for one of 1.5 billion, see docs/results.md; not measured above that."""


class Quotation(NamedTuple):
    """Sentences quoted from passages, each with its passage's number from 1, in the order in which they are to be read."""

    lines: list[tuple[int, str]]
    answers: bool
    """Whether they are the answer; else they only come closest to the question."""
    confidence: float
    """How likely they hold what was asked."""


class Combined(NamedTuple):
    """An answer that follows from others, and how likely it is right if these are as likely as they say."""

    answer: str
    confidence: float


OnText = Callable[[str], None]
"""Called with the text of a reply's field as far as it has been generated, each time it grows."""


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated reply, the model's confidence in it, and the passages in the prompt."""

    value: T
    confidence: float
    confidence_source: ConfidenceSource
    passages: tuple[Passage, ...]
    messages: tuple[BaseMessage, ...] = ()
    """The prompt as it was sent; empty for the embedded model, which receives no messages."""

    def cited_ids(self) -> tuple[str, ...]:
        """Return the ids of the passages that the reply cites by number; numbers out of range are ignored.

        Small models often give a wrong number: if the first passage with the short answer is another one, and none of these has it, that
        one is cited.
        """
        numbers: list[int] = getattr(self.value, "citations", [])
        cited = [self.passages[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(self.passages)]
        answer = str(getattr(self.value, "answer", "")).strip()
        if cited and answer and not is_unknown(answer) and fold(answer) not in ("yes", "no"):
            holding = [passage for passage in self.passages if contains_answer(passage.text, answer)]
            cited = cited if not holding or any(passage in holding for passage in cited) else holding[:1]
        return tuple(dict.fromkeys(passage.id for passage in cited))

    def shown_ids(self) -> tuple[str, ...]:
        """Return the ids of the passages that the model was shown."""
        return tuple(passage.id for passage in self.passages)


class Answerer(ABC):
    """Base class of the models that answer prompts, with defaults.

    A plug-in's class (`ramify.models`) is called with the settings, and a notice for the result, or an empty text.
    """

    name: str
    num_ctx: int | None = None
    """Tokens of prompt and reply together; None where there is no such limit."""
    tau: float | None = None
    """The confidence above which its answers are accepted, where that was calibrated for it."""
    writes: bool = True
    """Whether it can write text of its own; otherwise it quotes, and its reply to a retry with a hint is the same."""
    parameters: int | None = None
    """The number of weights of a language model, where its file or server tells it."""
    splits: bool = False
    """Whether `compute` and `combine` are more than the defaults, so that it splits for a language model."""
    connecting_s: float = 0.0
    """Seconds spent importing and creating its client."""

    @property
    def is_small(self) -> bool:
        """Return whether it is a language model that splits and judges questions badly for its size."""
        return self.parameters is not None and self.parameters < SMALL

    def writes_text(self, style: str) -> bool:
        """Return whether it writes the text of an answer in this style (the setting), which is otherwise quoted."""
        return self.writes and (style == "full" or (style == "auto" and not self.is_small))

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take in addition to `num_predict`, because the model reasons first."""
        return 0

    @property
    def notices(self) -> list[str]:
        """Return what the user should know about the model before it is called."""
        return []

    @staticmethod
    def objection(question: str) -> str | None:
        """Return why the model cannot read a question, None if it can or if that is not known in advance; blocks."""
        return None

    @staticmethod
    def unclear_reference(question: str) -> str:
        """Return why the model does not understand what a question is about; empty if it does, or if that is not known; blocks."""
        return ""

    @staticmethod
    def why_unquoted(question: str) -> str:
        """Return why a model that quotes has no answer to a question that no phrase answers; empty for other questions; blocks."""
        return ""

    @staticmethod
    def compute(prompt: Prompt[T], slots: dict[str, Any]) -> T | None:
        """Return the reply to a prompt without passages, by no call that counts; None if there is none; blocks."""
        return None

    @staticmethod
    def combine(question: str, findings: Sequence[Finding]) -> Combined | None:
        """Return the answer that follows from those of sub-questions by arithmetic, None if none does; blocks."""
        return None

    @abstractmethod
    def count(self, text: str) -> int:
        """Count the tokens of a text; may block, because a server may be asked."""

    @abstractmethod
    async def answer(
        self,
        prompt: Prompt[T],
        slots: dict[str, Any],
        passages: tuple[Passage, ...] | None = None,
        field: str = "answer",
        on_text: OnText | None = None,
    ) -> Reply[T]:
        """Answer one prompt within the budget; the confidence is that of the reply's `field`, whose text is streamed to `on_text`.

        BudgetError if the budget does not allow the call, MalformedError if no valid reply came, ModelError if there is no model.
        """

    def load(self) -> float:
        """Load what the model needs in this process; return the seconds that took, 0 if it was already loaded. Blocks."""
        return 0.0

    def needs_quotation(self, answer: str, confidence: float | None) -> bool:
        """Return whether `find_quotation` is to be called: for an unknown or unsure answer of a model that cannot write text."""
        return False

    def find_quotation(self, question: str, passages: Sequence[Quote], answer: str) -> Quotation | None:
        """Return sentences that answer a question which no phrase answers, or that are closest to an unsurely answered one; blocks.

        None if there is nothing to quote.
        """
        return None

    def is_overview_question(self, question: str) -> bool:
        """Return whether a question is about all documents, so that reports of the largest communities answer it best; blocks."""
        return False
