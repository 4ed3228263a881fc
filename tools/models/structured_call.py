"""Make one call whose reply is an object of a given type: its JSON schema, and the thinking mode of the model.

The prompts ask for a short thought of their own. A hidden one takes tokens from the reply, which is then cut off.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence
from pydantic import BaseModel, ValidationError

from ramify.tools.models.reply_parsing import Structured, read_reply

Feature = Literal["form", "logprobs"]
"""What a call may leave out, where its server refuses it."""
GRAMMAR_CLIENTS = frozenset({"ChatOllama", "BaseChatOpenAI"})
"""Models whose server enforces a JSON schema while the reply is generated; an 8B model needs that."""
INCOMPLETE_OUTPUT_MESSAGE = "output that does not match the expected"
"""llama.cpp's error, with status 500, for a reply that reaches the token limit before its JSON is closed."""
_NO_STREAM = RunnableConfig(tags=["nostream"])
"""Keeps the JSON of a reply out of LangGraph's stream of messages, where a reader expects the answer."""
NO_CHUNKS_MESSAGE = "No generation chunks"
"""LangChain's error for a stream in which nothing came."""
THOUGHT_DIVISOR = 4
"""A thought may take one of this many parts of the window."""
MAX_THOUGHT_TOKENS = 4096
REQUEST_CONTEXT: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("ramify_request", default=nullcontext)
"""The context manager of each request to a model; set it to count requests, or to refuse one by raising."""
ON_TEXT: ContextVar[Callable[[str], None] | None] = ContextVar("ramify_on_text", default=None)
"""Called with the reply's text so far, each time it grows; where it is set, replies are streamed."""


async def call_structured(
    chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], without: Collection[Feature] = ()
) -> Structured:
    """Ask for an object of the schema's type, `without` the features that the server refuses; a malformed reply is no error."""
    if ON_TEXT.get() is not None:  # without stream_usage OpenAI's protocol reports no tokens of a stream
        streaming = {"disable_streaming": False, "stream_usage": True}
        chat = chat.model_copy(update={name: value for name, value in streaming.items() if name in type(chat).model_fields})
    if "logprobs" in without:
        chat = chat.model_copy(update={"logprobs": None})
    bound = None if "form" in without else _with_schema(chat, schema)
    asked, on_text = bound or chat, ON_TEXT.get()  # without a schema, the prompt alone says what is wanted
    try:
        reply = None if on_text is None else await _request(lambda: _stream(asked, messages, on_text))
        if reply is None:  # nothing was to be streamed, or the server streams nothing
            reply = await _request(lambda: asked.ainvoke(list(messages), _NO_STREAM))
    except ValidationError as error:
        # The log probabilities may be all that Ollama's client cannot read.
        if "logprobs" in without or any(fault["loc"][:1] != ("logprobs",) for fault in error.errors()):
            raise
        return await call_structured(chat, messages, schema, {*without, "logprobs"})
    return read_reply(reply, None, schema) if isinstance(reply, AIMessage) else read_reply(reply["raw"], reply.get("parsed"), schema)


async def _request(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Make one request, and count it; return the reply itself where the client raises over it."""
    with REQUEST_CONTEXT.get()():
        try:
            return await ask()
        except Exception as error:
            if (raw := _reply_in_error(error)) is None:
                raise
            return raw


async def _stream(bound: Runnable[Any, Any], messages: Sequence[BaseMessage], on_text: Callable[[str], None]) -> Any:
    """Send one request, and pass the reply's text on while it comes; return what `ainvoke` returns, None where nothing came."""
    whole: Any = None
    try:
        async for part in bound.astream(list(messages), _NO_STREAM):
            whole = part if whole is None else whole + part
            raw = whole.get("raw") if isinstance(whole, dict) else whole
            if isinstance(raw, AIMessage):
                on_text(raw.text)
    except ValueError as error:
        if whole is not None or NO_CHUNKS_MESSAGE not in str(error):
            raise
        return None
    if isinstance(whole, dict):
        return {name: message_chunk_to_message(one) if isinstance(one, AIMessageChunk) else one for name, one in whole.items()}
    return message_chunk_to_message(whole) if isinstance(whole, AIMessageChunk) else whole


def _with_schema(chat: BaseChatModel, schema: type[BaseModel]) -> Runnable[Any, Any] | None:
    """Bind the reply's schema, in the way that the client supports; None where it supports none."""
    try:
        if GRAMMAR_CLIENTS & {kind.__name__ for kind in type(chat).__mro__}:
            # A plain JSON schema: handed the class, the clients parse on their own, raise, and complete what was cut off.
            # OpenAI's own service, reached without an address, refuses a schema that bounds a text's length.
            openai = getattr(chat, "openai_api_base", chat) is None
            form = without_lengths(json_schema(schema)) if openai else json_schema(schema)
            return _without_parser(chat.with_structured_output(form, method="json_schema", include_raw=True, strict=True))
        return _without_parser(chat.with_structured_output(schema, include_raw=True))
    except NotImplementedError:
        return None


def without_lengths(schema: Any) -> Any:
    """Return a schema without the maximal lengths of texts."""
    if isinstance(schema, list):
        return [without_lengths(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_lengths(part) for name, part in schema.items() if name != "maxLength"}


def _without_parser(bound: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return the model alone, without LangChain's parser, which is quadratic in the reply's length, in a thread that no timeout ends.

    Streamed, what stands around the model would let a call run on that was given up.
    """
    first = bound.first if isinstance(bound, RunnableSequence) else None
    return first.steps__["raw"] if isinstance(first, RunnableParallel) and first.steps__.keys() == {"raw"} else bound


def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the schema with the title that OpenAI's protocol uses as its name."""
    return {**schema.model_json_schema(), "title": schema.__name__}


def _reply_in_error(error: Exception) -> AIMessage | None:
    """Return the reply that a client or server turned into an error, because it was cut off or malformed."""
    if INCOMPLETE_OUTPUT_MESSAGE in str(error):
        return AIMessage("", response_metadata={"finish_reason": "length"})
    completion: Any = getattr(error, "completion", None)  # of OpenAI's LengthFinishReasonError
    if completion is None:
        return None
    usage = completion.usage
    tokens = usage and UsageMetadata(
        input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens
    )
    return AIMessage(
        completion.choices[0].message.content or "",
        response_metadata={"finish_reason": "length", "model_name": completion.model, "model_provider": "openai"},
        usage_metadata=tokens,
    )


@dataclass(frozen=True)
class ThinkingMode:
    """How a model that may think is asked."""

    think: bool | str | None = None
    """The option for Ollama; None for none."""
    thinks: bool = False
    """Whether tokens are reserved for a thought."""
    sends_schema: bool = True
    """Whether the reply's schema is sent."""
    notice: str = ""
    """What the result says of it."""


DEFAULT_MODE = ThinkingMode()
THINKING_OFF = ThinkingMode(False)
OFF_WITHOUT_FORM = ThinkingMode(
    False,
    sends_schema=False,
    notice="{name} does not hold its replies to their form while its thinking is off: they are read from its text",
)
THINKS_ANYWAY = ThinkingMode(True, thinks=True, notice="{name} thinks although it was asked not to: {more}")
THINKING_REQUIRED = ThinkingMode(
    True, thinks=True, notice="{name} does not reply in JSON while its thinking is off: it is let think, and {more}"
)
THINK_LITTLE = ThinkingMode("low", thinks=True, notice="{name} cannot be asked not to think: it is asked to think little, and {more}")
NO_OPTION = ThinkingMode(thinks=True, notice="{name} cannot be told whether to think: {more}")
THINKS_UNASKED = ThinkingMode(thinks=True, notice="{name} thinks before it replies: {more}")

MODE_ON_REFUSAL = {
    THINKING_OFF: THINK_LITTLE,
    OFF_WITHOUT_FORM: THINK_LITTLE,
    THINKS_ANYWAY: THINK_LITTLE,
    THINKING_REQUIRED: THINK_LITTLE,
    THINK_LITTLE: NO_OPTION,
}
"""The mode to use where a server refuses the thinking option of another."""
TOKEN_LIMIT_OPTIONS = ("num_predict", "max_tokens", "max_output_tokens")
"""The clients' names for the token limit of a reply."""


def with_mode(chat: BaseChatModel, mode: ThinkingMode, max_tokens: int) -> BaseChatModel:
    """Return the model in a thinking mode, for a reply of at most `longest` tokens."""
    wanted = dict.fromkeys(TOKEN_LIMIT_OPTIONS, max_tokens) | ({} if mode.think is None else {"reasoning": mode.think})
    return chat.model_copy(update={name: value for name, value in wanted.items() if name in type(chat).model_fields})


def next_mode(mode: ThinkingMode, asked: Structured) -> ThinkingMode:
    """Return the mode for the next call, after a reply."""
    if mode is DEFAULT_MODE:
        return THINKS_UNASKED if asked.thought and asked.cut_off else DEFAULT_MODE
    if mode not in (THINKING_OFF, OFF_WITHOUT_FORM):
        return mode
    if asked.thought:
        return THINKS_ANYWAY
    if asked.parsed is None and not (asked.cut_off and asked.bare):  # whole and held to its form, it could have been read
        return THINKING_REQUIRED
    return mode if asked.bare else OFF_WITHOUT_FORM


def thinking_allowance(window: int | None) -> int:
    """Return how many tokens a thought may take in a window."""
    return min((window or 0) // THOUGHT_DIVISOR, MAX_THOUGHT_TOKENS)
