"""The one way to the model: render, make it fit, call, validate, repair once, read the confidence, book the cost."""

import asyncio
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ramify.nodes.asking.budget import CURRENT, Booking, Work
from ramify.nodes.asking.fit import Request, fit, once_more
from ramify.nodes.settings import Settings
from ramify.nodes.state import Replies, Usage, furthest
from ramify.nodes.tree import ConfidenceSource, Passage
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError, MalformedError, WindowError
from ramify.tools.models import Model, ModelOptions, Structured, resolve
from ramify.tools.models.confidence import span_confidence
from ramify.tools.models.reply_parsing import KEPT
from ramify.tools.models.structured_call import REQUEST
from ramify.tools.quoting import brief
from ramify.tools.scrub import scrub

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated reply, how sure the model was of its answer, and the passages it was shown."""

    value: T
    confidence: float
    confidence_source: ConfidenceSource
    passages: tuple[Passage, ...]

    def cited(self) -> tuple[str, ...]:
        """Give the ids of the passages that the reply cites by number; a number that is not there is passed over."""
        numbers: list[int] = getattr(self.value, "citations", [])
        return tuple(dict.fromkeys(self.passages[number - 1].id for number in numbers if 0 < number <= len(self.passages)))

    def shown(self) -> tuple[str, ...]:
        """Give the ids of the passages that the model was shown."""
        return tuple(passage.id for passage in self.passages)


async def ask(prompt: Prompt[T], passages: tuple[Passage, ...] | None = None, field: str = "answer", **slots: Any) -> Reply[T]:
    """Ask the model one thing; the confidence is that of the reply's `field`.

    Where the prompt turns out to have filled the window, its reply is not used, and the model is asked once more with fewer passages.

    BudgetError where the budget does not allow the call, MalformedError where the reply stays so, ModelError where there is no model.
    """
    work = CURRENT.get()
    prompt = prompt.told_with(work.settings.thought, work.settings.shots)
    model, request = await asyncio.to_thread(_prepare, prompt, passages, slots, work)
    try:
        reply = await _call(model, prompt, request, work)
    except WindowError:  # its tokens were counted too low, and are counted higher from now on
        filled = request
        model, request = await asyncio.to_thread(_prepare, prompt, passages, slots, work)
        if request.messages == filled.messages:
            raise
        reply = await _call(model, prompt, request, work)
    work.shown = furthest(work.shown, request.lengths)
    if reply.parsed is None:
        reply = await _repair(model, prompt, request, reply, work)
    else:
        work.spent += _form(prompt, valid=1)
    value = prompt.reply.model_validate(reply.parsed)
    measured = span_confidence(reply.raw, field)
    if measured is not None:
        return Reply(value, measured, model.confidence_source, request.shown)
    stated = min(1.0, max(0.0, float(getattr(value, "confidence", 1.0))))
    return Reply(value, stated, "stated", request.shown)


def current_model(settings: Settings) -> Model:
    """Find the model that the settings name; blocking."""
    return resolve(settings.model, ModelOptions(**{name: getattr(settings, name) for name in ModelOptions.__dataclass_fields__}))


def _prepare(prompt: Prompt[T], passages: tuple[Passage, ...] | None, slots: dict[str, Any], work: Work) -> tuple[Model, Request]:
    """Do all that may block before a call in one go: find the model, count, render; the last call makes do with what is left."""
    model = current_model(work.settings)
    return model, fit(prompt, passages, slots, work.settings, model, work.ledger.tokens, work.ledger.last)


async def _call(model: Model, prompt: Prompt[T], request: Request, work: Work) -> Structured:
    booking = Booking(work, request.tokens, request.longest, model.thought_tokens)
    counting = REQUEST.set(booking.request)
    try:
        async with asyncio.timeout(booking.seconds):
            reply = await model.reply(request.messages, prompt.reply, request.longest)
    except TimeoutError:
        raise BudgetError("seconds", work.settings.max_seconds or 0) from None
    finally:
        REQUEST.reset(counting)
        booking.close()
        work.ledger.told |= dict.fromkeys(model.told)
    if told := reply.raw.usage_metadata:  # the server's own figures
        cost = Usage(llm_calls=1, prompt_tokens=told["input_tokens"], completion_tokens=told["output_tokens"])
    else:
        written = f"{reply.raw.additional_kwargs.get(KEPT) or ''}{reply.raw.content}"
        cost = Usage(llm_calls=1, prompt_tokens=request.tokens, completion_tokens=await asyncio.to_thread(model.count, written))
    booking.cost(cost)
    return reply


def _form(prompt: Prompt[Any], **counts: int) -> Usage:
    return Usage(replies={prompt.name: Replies(**counts)})


async def _repair(model: Model, prompt: Prompt[T], request: Request, reply: Structured, work: Work) -> Structured:
    """Ask once more, showing what was wrong; MalformedError where that does not help."""
    said, error = str(reply.raw.content), reply.error or "it is not the JSON object asked for"
    again = await asyncio.to_thread(once_more, request, said, error, work.settings, model)
    reply = await _call(model, prompt, again, work)
    work.spent += _form(prompt, repaired=int(reply.parsed is not None), malformed=int(reply.parsed is None))
    if reply.parsed is None:
        said = brief(scrub(str(reply.raw.content)), 200)
        what = f"the model's reply to {prompt.name!r} is malformed, also when asked again: {said!r} ({reply.error})"
        raise MalformedError(what, reply.remedy)
    return reply
