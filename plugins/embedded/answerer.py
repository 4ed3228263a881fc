"""The embedded model as an answerer: it is called directly with a prompt's name and slots; nothing is rendered or parsed."""

import asyncio
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from ramify.embedded.encoders.mpnet import READER
from ramify.embedded.reader.calibration import TAU
from ramify.nodes.asking.answerer import Answerer, Combined, OnText, Quotation, Reply, T
from ramify.nodes.asking.budget import CALL_CONTEXT, Booking
from ramify.nodes.asking.language_model import limit_passages, most_relevant, to_quote
from ramify.nodes.settings import EMBEDDED, LARGE, Settings
from ramify.nodes.state import Replies, Usage, merge_max
from ramify.nodes.tree import Passage, is_unknown
from ramify.prompts.prompt import Finding, Prompt, Quote
from ramify.tools.errors import BudgetError, UsageError
from ramify.tools.models.concurrency import DEFAULT_CONCURRENCY, get_cap
from ramify.tools.models.tokens import estimate_tokens, passage_length

LOW_CONFIDENCE = 0.3
"""Below this confidence an answer is more likely wrong than right: the closest sentences are quoted in addition."""
_DIGITS = 6
"""Decimal places of a confidence; further ones depend on the encoder's batch."""


class Extractive(Answerer):
    """Small trained networks and arithmetic that quote passages; `notice` says why no language model is used."""

    tau = TAU
    writes = False
    splits = True

    def __init__(self, settings: Settings, notice: str = "") -> None:
        """Prepare for calls with these settings; nothing is loaded yet. ModelError if the large reader is requested and not installed."""
        self.name = settings.model.strip() if notice == "" and isinstance(settings.model, str) else EMBEDDED
        if self.name not in (EMBEDDED, LARGE):
            raise UsageError(f"there is no model {self.name!r}", f"write {EMBEDDED} or {LARGE}")
        if self.name == LARGE:
            READER.path()
        self._notice = notice
        self._cap = get_cap((EMBEDDED, "", None), settings.max_concurrency or DEFAULT_CONCURRENCY)

    @property
    def notices(self) -> list[str]:
        """Return the notice that no language model was found, if so."""
        return [self._notice] if self._notice else []

    def count(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return estimate_tokens(text)

    async def answer(
        self,
        prompt: Prompt[T],
        slots: dict[str, Any],
        passages: tuple[Passage, ...] | None = None,
        field: str = "answer",
        on_text: OnText | None = None,
    ) -> Reply[T]:
        """Answer a prompt by its name; the tokens are those of the slots it reads and of the fields it writes."""
        from ramify.embedded.extractive.model import reply_to

        context = CALL_CONTEXT.get()
        settings, budget = context.settings, context.budget
        shown, given, tokens = await asyncio.to_thread(_select_passages, slots, passages, settings, budget.tokens if budget.last else inf)
        booking = Booking(context, tokens, settings.num_predict, 0)
        try:
            async with asyncio.timeout(booking.seconds), self._cap:
                with booking.request():
                    fields = await asyncio.to_thread(reply_to, prompt.name, given)
        except TimeoutError:
            raise BudgetError("seconds", settings.max_seconds or 0) from None
        finally:
            booking.close()
        booking.record(Usage(llm_calls=1, prompt_tokens=tokens, completion_tokens=_tokens(fields)))
        lengths = {passage.id: len(quoted["text"]) for passage, quoted in zip(shown, given.get("passages", ()), strict=False)}
        context.shown = merge_max(context.shown, lengths)
        context.spent += Usage(replies={prompt.name: Replies(valid=1)})
        if on_text is not None and isinstance(text := fields.get(field), str):
            on_text(text)
        confidence = float(fields.get("confidence", 1.0))
        return Reply(prompt.reply.model_validate(fields), round(min(1.0, confidence), _DIGITS), "reader", shown)

    def load(self) -> float:
        """Load the encoder and the networks; return the seconds that took, 0 if they were loaded already. Blocks."""
        from ramify.embedded.extractive.model import load_models

        return load_models(large=self.name == LARGE)

    @staticmethod
    def objection(question: str) -> str | None:
        """Return that a question is not in English, and what to do; None if it is."""
        from ramify.embedded.extractive.questions import unreadable_reason

        return unreadable_reason(question)

    @staticmethod
    def unclear_reference(question: str) -> str:
        """Return that a pronoun is all that a question asks about; empty if it also names or describes something."""
        from ramify.embedded.extractive.references import unclear_reference

        return unclear_reference(question)

    @staticmethod
    def why_unquoted(question: str) -> str:
        """Return why nothing was quoted for a question that no phrase answers; empty for other questions; blocks."""
        from ramify.embedded.extractive.questions import why_unquoted

        return why_unquoted(question)

    @staticmethod
    def compute(prompt: Prompt[T], slots: dict[str, Any]) -> T | None:
        """Return the reply of writer, encoder and rules to a prompt without passages; None for a question it cannot read; blocks."""
        from ramify.embedded.extractive.model import reply_to

        return None if Extractive.objection(str(slots["question"])) else prompt.reply.model_validate(reply_to(prompt.name, slots))

    @staticmethod
    def combine(question: str, findings: Sequence[Finding]) -> Combined | None:
        """Return the answer that follows by comparing dates, numbers and names, None if none does; blocks."""
        from ramify.embedded.extractive.model import reply_to

        said = reply_to("aggregate", {"question": question, "findings": list(findings), "passages": []})
        return None if is_unknown(said["answer"]) else Combined(said["answer"], said["confidence"])

    def needs_quotation(self, answer: str, confidence: float | None) -> bool:
        """Return whether an answer is unknown or has a low confidence."""
        return is_unknown(answer) or (confidence is not None and confidence < LOW_CONFIDENCE)

    def find_quotation(self, question: str, passages: Sequence[Quote], answer: str) -> Quotation | None:
        """Return the steps or items that an unanswered question asks for, otherwise the closest sentences; blocks."""
        from ramify.embedded.extractive.quotations import closest_sentences, quote_lines
        from ramify.embedded.reader.selection import select_passages

        question, selected = select_passages(question, passages)
        read, numbers = [item.passage for item in selected], [item.number for item in selected]

        def numbered(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
            return [(numbers[number - 1], line) for number, line in lines]

        if is_unknown(answer) and (quoted := quote_lines(question, read)) is not None:
            return Quotation(numbered(quoted.lines), True, quoted.confidence)
        return Quotation(numbered(closest_sentences(question, read)) if read else closest_sentences(question, passages), False, 0.0)

    def is_overview_question(self, question: str) -> bool:
        """Return whether a question is about all documents rather than something in them; blocks."""
        from ramify.embedded.extractive.overviews import is_overview_question

        return is_overview_question(question)


def _select_passages(
    slots: dict[str, Any], passages: tuple[Passage, ...] | None, settings: Settings, left: float
) -> tuple[tuple[Passage, ...], dict[str, Any], int]:
    """Choose the passages that are read, within `left` tokens beside the reply; return them, the slots with them, and the tokens of all."""
    if passages is None:
        return (), slots, _tokens(slots)
    shown = limit_passages(passages, settings)
    quotes: dict[str, Quote] = {passage.id: {**to_quote(passage, settings), "version": passage.version} for passage in shown}
    beside, lengths = _tokens(slots), {passage: _tokens(quoted) for passage, quoted in quotes.items()}
    room = left - settings.num_predict - beside
    if sum(lengths.values()) > room:
        shown = most_relevant(shown, room, lambda kept: sum(lengths[passage.id] for passage in kept))
    tokens = beside + sum(lengths[passage.id] for passage in shown)
    return shown, {**slots, "passages": [quotes[passage.id] for passage in shown]}, tokens


def _tokens(value: Any) -> int:
    """Sum the tokens of all texts in a value, as an index counts them."""
    if isinstance(value, str):
        return passage_length(value)
    if isinstance(value, Mapping):
        return sum(map(_tokens, value.values()))
    return sum(map(_tokens, value)) if isinstance(value, Sequence) else 0
