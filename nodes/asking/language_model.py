"""A language model as an answerer: render, make it fit, call, validate, repair once, read the confidence, book the cost."""

import asyncio
from collections.abc import Callable
from typing import Any

from ramify.nodes.asking.answerer import Answerer, OnText, Reply, T
from ramify.nodes.asking.budget import CURRENT, Booking, CallContext
from ramify.nodes.asking.fit import Request, fit, once_more
from ramify.nodes.state import Replies, Usage, merge_max
from ramify.nodes.tree import Passage
from ramify.prompts.prompt import Prompt
from ramify.tools.errors import BudgetError, MalformedError, WindowError
from ramify.tools.models import Model, Structured
from ramify.tools.models.reply_parsing import KEPT, span_confidence, text_so_far
from ramify.tools.models.structured_call import ON_TEXT, REQUEST
from ramify.tools.quoting import brief
from ramify.tools.scrub import scrub


class LanguageModel(Answerer):
    """A chat model, reached through LangChain's interface."""

    def __init__(self, model: Model) -> None:
        """Take a model that was found."""
        self.model = model
        self.name, self.num_ctx, self.connecting_s = model.name, model.num_ctx, model.client_s

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take beside `num_predict`, as far as calls have shown that the model thinks first."""
        return self.model.thought_tokens

    @property
    def notices(self) -> list[str]:
        """Say what the user should know of it before it is asked."""
        return self.model.notices

    def count(self, text: str) -> int:
        """Count the tokens of a text; may block, because a server may be asked."""
        return self.model.count(text)

    def load(self) -> float:
        """Load what it needs in this process; return the seconds that took, 0 where all was there. Blocks."""
        return self.model.load()

    async def answer(
        self,
        prompt: Prompt[T],
        slots: dict[str, Any],
        passages: tuple[Passage, ...] | None = None,
        field: str = "answer",
        on_text: OnText | None = None,
    ) -> Reply[T]:
        """Answer one prompt within the budget; the confidence is that of the reply's `field`, whose text `on_text` gets as it comes.

        Where the prompt turns out to have filled the window, its reply is not used, and it is asked once more with fewer passages.
        """
        context = CURRENT.get()
        prompt = prompt.told_with(context.settings.thought, context.settings.shots)

        def fitted() -> Request:  # the last call makes do with what is left
            return fit(prompt, passages, slots, context.settings, self, context.budget.tokens, context.budget.last)

        handing_on = ON_TEXT.set(None if on_text is None else _reading(field, on_text))
        try:
            request = await asyncio.to_thread(fitted)
            try:
                reply = await self._call(request, prompt, context)
            except WindowError:  # its tokens were counted too low, and are counted higher from now on
                filled, request = request, await asyncio.to_thread(fitted)
                if request.messages == filled.messages:
                    raise
                reply = await self._call(request, prompt, context)
            context.shown = merge_max(context.shown, request.lengths)
            if reply.parsed is None:
                reply = await self._repair(request, prompt, reply, context)
            else:
                context.spent += Usage(replies={prompt.name: Replies(valid=1)})
        finally:
            ON_TEXT.reset(handing_on)
        value = prompt.reply.model_validate(reply.parsed)
        measured = span_confidence(reply.raw, field)
        if measured is not None:
            return Reply(value, measured, "logprobs", request.shown)
        stated = min(1.0, max(0.0, float(getattr(value, "confidence", 1.0))))
        return Reply(value, stated, "stated", request.shown)

    async def _call(self, request: Request, prompt: Prompt[T], context: CallContext) -> Structured:
        booking = Booking(context, request.tokens, request.longest, self.thought_tokens)
        counting = REQUEST.set(booking.request)
        try:
            async with asyncio.timeout(booking.seconds):
                reply = await self.model.reply(request.messages, prompt.reply, request.longest)
        except TimeoutError:
            raise BudgetError("seconds", context.settings.max_seconds or 0) from None
        finally:
            REQUEST.reset(counting)
            booking.close()
            context.budget.told |= dict.fromkeys(self.model.learned_notices)
        if told := reply.raw.usage_metadata:  # the server's own figures
            cost = Usage(llm_calls=1, prompt_tokens=told["input_tokens"], completion_tokens=told["output_tokens"])
        else:
            written = f"{reply.raw.additional_kwargs.get(KEPT) or ''}{reply.raw.content}"
            cost = Usage(llm_calls=1, prompt_tokens=request.tokens, completion_tokens=await asyncio.to_thread(self.count, written))
        booking.cost(cost)
        return reply

    async def _repair(self, request: Request, prompt: Prompt[T], reply: Structured, context: CallContext) -> Structured:
        """Ask once more, showing what was wrong; MalformedError where that does not help."""
        said, error = str(reply.raw.content), reply.error or "it is not the JSON object asked for"
        again = await asyncio.to_thread(once_more, request, said, error, context.settings, self)
        reply = await self._call(again, prompt, context)
        counts = Replies(repaired=int(reply.parsed is not None), malformed=int(reply.parsed is None))
        context.spent += Usage(replies={prompt.name: counts})
        if reply.parsed is None:
            said = brief(scrub(str(reply.raw.content)), 200)
            what = f"the model's reply to {prompt.name!r} is malformed, also when asked again: {said!r} ({reply.error})"
            raise MalformedError(what, reply.remedy)
        return reply


def _reading(field: str, on_text: OnText) -> Callable[[str], None]:
    """Read one text field out of a reply while it is written, and hand on what has come of it, where more has."""
    before = ""

    def read(written: str) -> None:
        nonlocal before
        text = text_so_far(written, field)
        if text and text != before:
            before = text
            on_text(text)

    return read
