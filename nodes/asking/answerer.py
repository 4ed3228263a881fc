"""What a prompt is answered by: the protocol that a language model and the embedded model share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ramify.nodes.tree import ConfidenceSource, Passage
from ramify.prompts.prompt import Prompt, Quote

T = TypeVar("T", bound=BaseModel)


class Quotation(NamedTuple):
    """Sentences quoted from passages, each with its passage's number from 1, in the order in which they are to be read."""

    lines: list[tuple[int, str]]
    answers: bool
    """Whether they are the answer; else they only come closest to the question."""
    confidence: float
    """How likely they hold what was asked."""


OnText = Callable[[str], None]
"""Called with all of a reply's text field that is there so far, each time that more has come."""


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated reply, how sure the model was of its answer, and the passages it was shown."""

    value: T
    confidence: float
    confidence_source: ConfidenceSource
    passages: tuple[Passage, ...]
    messages: tuple[BaseMessage, ...] = ()
    """The prompt as it was sent; empty for the embedded model, which is sent none."""

    def cited(self) -> tuple[str, ...]:
        """Return the ids of the passages that the reply cites by number; a number that is not there is passed over."""
        numbers: list[int] = getattr(self.value, "citations", [])
        return tuple(dict.fromkeys(self.passages[number - 1].id for number in numbers if 0 < number <= len(self.passages)))

    def shown(self) -> tuple[str, ...]:
        """Return the ids of the passages that the model was shown."""
        return tuple(passage.id for passage in self.passages)


class Answerer(ABC):
    """A model that answers the toolkit's prompts; what most have in common is written here."""

    name: str
    num_ctx: int | None = None
    """Tokens of prompt and reply together; None where there is no such limit."""
    tau: float | None = None
    """The confidence above which its answers are accepted, where that was calibrated for it."""
    writes: bool = True
    """Whether it can write in words of its own; else it quotes, and says the same where it is asked again with a hint."""
    connecting_s: float = 0.0
    """Seconds that its client took to be imported and made."""

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take beside `num_predict`, because the model thinks first."""
        return 0

    @property
    def notices(self) -> list[str]:
        """Say what the user should know of it before it is asked."""
        return []

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
        """Answer one prompt within the budget; the confidence is that of the reply's `field`, whose text `on_text` gets as it comes.

        BudgetError where the budget does not allow the call, MalformedError where no valid reply came, ModelError where there is no model.
        """

    def load(self) -> float:
        """Load what it needs in this process; return the seconds that took, 0 where all was there. Blocks."""
        return 0.0

    def objection(self, question: str) -> str | None:
        """Return why a question cannot be read, where that can be told beforehand."""
        return None

    def quotes(self, answer: str, confidence: float | None) -> bool:
        """Tell whether `quotation` is to be asked for: beside no answer or a doubtful one, of a model that writes no words of its own."""
        return False

    def quotation(self, question: str, passages: Sequence[Quote], answer: str) -> Quotation | None:
        """Return sentences that answer a question no phrase answers, or come closest to one whose answer is not sure; blocks.

        None where there is nothing to quote.
        """
        return None

    def surveys(self, question: str) -> bool:
        """Tell whether a question about everything is best answered from the reports of the largest communities; blocks."""
        return False
