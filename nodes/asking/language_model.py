"""The answerer for language models: fits the prompt to the context window, makes one call, and repeats it once if malformed."""

import asyncio
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ramify.nodes.asking.answerer import Answerer, OnText, Reply, T
from ramify.nodes.asking.budget import CALL_CONTEXT, Booking, CallContext
from ramify.nodes.settings import Settings, Think
from ramify.nodes.state import Replies, Usage, merge_max
from ramify.nodes.tree import Passage
from ramify.prompts.lenient_types import TEXT, THOUGHT
from ramify.prompts.prompt import Prompt, Quote
from ramify.tools.english import fold
from ramify.tools.errors import BudgetError, MalformedError, ReplyError, WindowError
from ramify.tools.models import Model, Structured
from ramify.tools.models.reply_parsing import THOUGHT_FIELD, span_confidence, text_so_far
from ramify.tools.models.structured_call import ON_TEXT, REQUEST_CONTEXT
from ramify.tools.models.tokens import passage_length, truncate_to_tokens
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import scrub
from ramify.tools.steps import in_step_order
from ramify.tools.versions import versions_among

Count = Callable[[str], int]

MARGIN_TOKENS = 64
"""Tokens left free for what a chat template adds around the messages."""


@dataclass(frozen=True)
class Request:
    """Messages that fit the window, their tokens, the longest reply, and the passages in them with the characters shown."""

    messages: list[BaseMessage]
    tokens: int
    max_reply_tokens: int
    shown: tuple[Passage, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)


def fit_prompt(
    prompt: Prompt[Any],
    passages: tuple[Passage, ...] | None,
    slots: dict[str, Any],
    settings: Settings,
    model: Answerer,
    left: float = float("inf"),
    last: bool = False,
) -> Request:
    """Render a prompt with as many of its passages as fit into the window beside the reply, the `last` one into what is `left` of a budget.

    Worked examples are dropped before passages. Blocking, since counting may call the server. ReplyError if it does not fit into
    the window even without passages.
    """
    window = prompt_room(settings, model)
    affordable = min(window, left - settings.num_predict - model.thought_tokens)
    room = affordable if last else window
    shown = None if passages is None else limit_passages(passages, settings)
    quotes = to_quotes(shown or (), settings)

    def with_passages(kept: tuple[Passage, ...]) -> Request:
        quoted = {} if shown is None else {"passages": [quotes[passage.id] for passage in kept]}
        messages = prompt.render({**slots, **quoted})
        return Request(
            messages, count_tokens(messages, model.count), 0, kept, {passage.id: len(quotes[passage.id]["text"]) for passage in kept}
        )

    request = with_passages(shown or ())
    if prompt.shots and request.tokens > affordable:
        prompt = replace(prompt, shots=0)
        request = with_passages(shown or ())
    if request.tokens > room:
        request = with_passages(most_relevant(shown or (), room, lambda kept: with_passages(kept).tokens))
    if request.tokens > window:
        what = (
            f"the prompt of {request.tokens} tokens does not fit into num_ctx {_window(settings, model) + MARGIN_TOKENS} beside the reply"
        )
        raise ReplyError(what, "shorten the question, raise num_ctx, or lower num_predict")
    return replace(request, max_reply_tokens=max_reply_tokens(request.tokens, settings, model, left))


def most_relevant(passages: tuple[Passage, ...], room: float, tokens: Callable[[tuple[Passage, ...]], int]) -> tuple[Passage, ...]:
    """Return the most relevant passages, in their order, that have at most `room` tokens together; fewer than all."""
    least_first = sorted(passages, key=lambda passage: passage.score)

    def best(number: int) -> tuple[Passage, ...]:
        dropped = {passage.id for passage in least_first[: len(least_first) - number]}
        return tuple(passage for passage in passages if passage.id not in dropped)

    # By halves and not one by one, because a server may be asked for each count.
    fitting = bisect_right(range(len(passages)), room, key=lambda number: tokens(best(number)))
    return best(max(0, fitting - 1))


def repair_request(request: Request, reply_text: str, error: str, settings: Settings, model: Answerer) -> Request:
    """Return a request that quotes the malformed reply and its error; without examples, or without both, if the window is too small."""
    complaint = HumanMessage(
        f"Your reply was:\n{truncate_to_tokens(reply_text, 200, model.count)}\nIt is not valid: {error}\n"
        "Reply again with the JSON object alone."
    )
    asked, *_, last = request.messages
    bare = [asked, last]  # without the worked examples
    for messages in ([*request.messages, complaint], [*bare, complaint], bare):
        tokens = count_tokens(messages, model.count)
        if tokens <= prompt_room(settings, model):
            break
    return replace(request, messages=messages, tokens=tokens, max_reply_tokens=max_reply_tokens(tokens, settings, model))


def prompt_room(settings: Settings, model: Answerer) -> int:
    """Return the tokens that a prompt may have, which the reply and its reasoning leave in the window."""
    return _window(settings, model) - settings.num_predict - model.thought_tokens


def max_reply_tokens(tokens: int, settings: Settings, model: Answerer, left: float = float("inf")) -> int:
    """Return the maximum tokens of the reply to a prompt of so many: with reasoning, as far as window and budget allow."""
    room = min(_window(settings, model), left) - tokens
    return int(max(settings.num_predict, min(settings.num_predict + model.thought_tokens, room)))


def _window(settings: Settings, model: Answerer) -> int:
    return min(settings.num_ctx, model.num_ctx or settings.num_ctx) - MARGIN_TOKENS


def limit_passages(passages: tuple[Passage, ...], settings: Settings) -> tuple[Passage, ...]:
    """Return the first passages of at most `context_tokens` together, at least one; those of a procedure in the order of its steps."""
    kept: list[Passage] = []
    total = 0
    for passage in passages:
        total += min(passage_length(passage.text), settings.passage_tokens)
        if kept and total > settings.context_tokens:
            break
        kept.append(passage)
    return tuple(in_step_order(kept, lambda passage: passage))


def to_quote(passage: Passage, settings: Settings) -> Quote:
    """Return a passage as prompts show it, cut to `passage_tokens`."""
    text = truncate_to_tokens(passage.text, settings.passage_tokens, passage_length)
    quote = Quote(title=passage.title, source=passage.place, text=text)
    return {**quote, "heading": passage.heading} if passage.heading else quote


def to_quotes(passages: Sequence[Passage], settings: Settings) -> dict[str, Quote]:
    """Return passages as prompts show them, by id; those of which another version is shown say their version."""
    quotes = {passage.id: to_quote(passage, settings) for passage in passages}
    for place in {place for pair in versions_among([passage.with_version() for passage in passages]) for place in pair}:
        quotes[passages[place].id]["version"] = passages[place].version
    return quotes


def count_tokens(messages: list[BaseMessage], count: Count) -> int:
    """Count the tokens of messages."""
    return sum(count(str(message.content)) for message in messages)


class LanguageModel(Answerer):
    """A chat model, reached through LangChain's interface."""

    def __init__(self, model: Model, think: Think = "off") -> None:
        """Wrap a model that was found, with the calls before which it is to think."""
        self.model = model
        self._think = think
        self.name, self.num_ctx, self.parameters, self.connecting_s = model.name, model.num_ctx, model.parameters, model.client_s

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take in addition to `num_predict`, if the model is to reason first, or does so anyway."""
        return self.model.thought_tokens if self._think == "off" or not self.model.can_think else self.model.thought_room

    @property
    def notices(self) -> list[str]:
        """Return what the user should know about the model before it is called."""
        unheard = f"{self.name} has no option for thinking here: think={self._think} changes nothing"
        return [*self.model.notices, *([unheard] if self._think != "off" and not self.model.can_think else [])]

    def count(self, text: str) -> int:
        """Count the tokens of a text; may block, because a server may be asked."""
        return self.model.count(text)

    def load(self) -> float:
        """Load what the model needs in this process; return the seconds that took, 0 if it was already loaded. Blocks."""
        return self.model.load()

    async def answer(
        self,
        prompt: Prompt[T],
        slots: dict[str, Any],
        passages: tuple[Passage, ...] | None = None,
        field: str = "answer",
        on_text: OnText | None = None,
    ) -> Reply[T]:
        """Answer one prompt within the budget; the confidence is that of the reply's `field`, whose text is streamed to `on_text`.

        If the prompt has filled the window, the reply is discarded and the call repeated with fewer passages.
        """
        context = CALL_CONTEXT.get()
        settings = context.settings
        prompt = prompt.with_options(settings.thought, settings.shots, self.writes_text(settings.style), stated=not self.model.measures)

        def fitted(shown: Prompt[T] = prompt) -> Request:  # the last call makes do with what is left
            return fit_prompt(shown, passages, slots, context.settings, self, context.budget.tokens, context.budget.last)

        handing_on = ON_TEXT.set(None if on_text is None else _text_reader(TEXT if TEXT in prompt.reply.model_fields else field, on_text))
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
            if repeats_example(reply.parsed, request.messages):
                bare = replace(prompt, shots=0)
                request, reply = await self._ask_without_examples(partial(fitted, bare), bare, (request, reply), context)
        finally:
            ON_TEXT.reset(handing_on)
        value = prompt.reply.model_validate(reply.parsed)
        measured = span_confidence(reply.raw, field)
        if measured is not None:
            return Reply(value, measured, "logprobs", request.shown, tuple(request.messages))
        stated = min(1.0, max(0.0, float(getattr(value, "confidence", 1.0))))
        return Reply(value, stated, "stated", request.shown, tuple(request.messages))

    async def _call(self, request: Request, prompt: Prompt[T], context: CallContext) -> Structured:
        booking = Booking(context, request.tokens, request.max_reply_tokens, self.thought_tokens)
        counting = REQUEST_CONTEXT.set(booking.request)
        try:
            async with asyncio.timeout(booking.seconds):
                thinks = self._think == "on" or (self._think == "plan" and prompt.plans)
                reply = await self.model.reply(request.messages, prompt.reply, request.max_reply_tokens, thinks)
        except TimeoutError:
            raise BudgetError("seconds", context.settings.max_seconds or 0) from None
        finally:
            REQUEST_CONTEXT.reset(counting)
            booking.close()
            context.budget.notices |= dict.fromkeys(self.model.learned_notices)
        if usage := reply.raw.usage_metadata:  # the server's own figures
            cost = Usage(llm_calls=1, prompt_tokens=usage["input_tokens"], completion_tokens=usage["output_tokens"])
        else:
            written = f"{reply.raw.additional_kwargs.get(THOUGHT_FIELD) or ''}{reply.raw.content}"
            cost = Usage(llm_calls=1, prompt_tokens=request.tokens, completion_tokens=await asyncio.to_thread(self.count, written))
        booking.record(cost)
        return reply

    async def _ask_without_examples(
        self, fitted: Callable[[], Request], prompt: Prompt[T], before: tuple[Request, Structured], context: CallContext
    ) -> tuple[Request, Structured]:
        """Repeat the call without examples; return the request and reply of before if the budget or the model does not give another."""
        try:
            request = await asyncio.to_thread(fitted)
            reply = await self._call(request, prompt, context)
        except (BudgetError, ReplyError):
            return before
        if reply.parsed is None:
            return before
        context.shown = merge_max(context.shown, request.lengths)
        return request, reply

    async def _repair(self, request: Request, prompt: Prompt[T], reply: Structured, context: CallContext) -> Structured:
        """Repeat the call with the error in the prompt; MalformedError if the reply is malformed again."""
        said, error = str(reply.raw.content), reply.error or "it is not the JSON object asked for"
        again = await asyncio.to_thread(repair_request, request, said, error, context.settings, self)
        reply = await self._call(again, prompt, context)
        counts = Replies(repaired=int(reply.parsed is not None), malformed=int(reply.parsed is None))
        context.spent += Usage(replies={prompt.name: counts})
        if reply.parsed is None:
            said = truncate_line(scrub(str(reply.raw.content)), 200)
            what = f"the model's reply to {prompt.name!r} is malformed, also when asked again: {said!r} ({reply.error})"
            raise MalformedError(what, reply.remedy)
        return reply


def repeats_example(value: Any, messages: list[BaseMessage]) -> bool:
    """Return whether the thought of a reply is that of a worked example in the messages: the model has copied it."""
    thought = fold(str(getattr(value, THOUGHT, "") or ""))
    return bool(thought) and any(
        isinstance(message, AIMessage) and fold(str(json.loads(message.text).get(THOUGHT, ""))) == thought for message in messages
    )


def _text_reader(field: str, on_text: OnText) -> Callable[[str], None]:
    """Return a callback that parses one text field of a partial reply and passes it to `on_text` when it has grown."""
    before = ""

    def read(written: str) -> None:
        nonlocal before
        text = text_so_far(written, field)
        if text and text != before:
            before = text
            on_text(text)

    return read
