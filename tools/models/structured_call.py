"""Make one call whose reply is an object of a given type, with its JSON schema and the thinking mode of the model.

The prompts ask for a short explicit thought. Hidden thinking uses tokens of the reply, which may then be cut off.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, message_chunk_to_message
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence
from pydantic import BaseModel, ValidationError

from ramify.tools.models.reply_parsing import Structured, read_reply

Feature = Literal["form", "logprobs", "system", "turns", "temperature"]
"""Features that a call omits if its server refuses them: the schema, log probabilities, the role of the task, examples as turns of a
conversation, and the temperature."""
GRAMMAR_CLIENTS = frozenset({"ChatOllama", "BaseChatOpenAI"})
"""Models whose server enforces a JSON schema while the reply is generated; an 8B model needs that."""
INCOMPLETE_OUTPUT_MESSAGE = "output that does not match the expected"
"""llama.cpp's error, with status 500, for a reply that reaches the token limit before its JSON is closed."""
_NO_STREAM = RunnableConfig(tags=["nostream"])
"""Excludes the JSON of a reply from LangGraph's message stream, which is for the answer."""
NO_CHUNKS_MESSAGE = "No generation chunks"
"""LangChain's error for an empty stream."""
THOUGHT_DIVISOR = 4
"""A thought may take the window divided by this."""
MAX_THOUGHT_TOKENS = 4096
REQUEST_CONTEXT: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("ramify_request", default=nullcontext)
"""The context manager for each request to a model; set it to count requests, or to prevent one by raising."""
ON_TEXT: ContextVar[Callable[[str], None] | None] = ContextVar("ramify_on_text", default=None)
"""Called with the reply's text so far each time it grows; replies are streamed if it is set."""
ON_PROGRESS: ContextVar[Callable[[], None] | None] = ContextVar("ramify_on_progress", default=None)
"""Called at each part of a reply, and at each report that a part of the prompt was read; replies are streamed if it is set."""


async def call_structured(
    chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], without: Collection[Feature] = ()
) -> Structured:
    """Return a reply with an object of the schema's type, called `without` refused features; a malformed reply is not an error."""
    on_text, on_progress = ON_TEXT.get(), ON_PROGRESS.get()
    streams = on_text is not None or on_progress is not None
    if streams:  # without stream_usage OpenAI's protocol reports no tokens of a stream
        streaming = {"disable_streaming": False, "stream_usage": True}
        chat = chat.model_copy(update={name: value for name, value in streaming.items() if name in type(chat).model_fields})
    omitted = [name for name in ("logprobs", "temperature") if name in without and name in type(chat).model_fields]
    chat = chat.model_copy(update=dict.fromkeys(omitted)) if omitted else chat
    messages = merge_messages(messages, without)
    bound = None if "form" in without else _with_schema(chat, schema)
    asked = bound or chat  # without a schema, only the prompt describes the format
    try:
        reply = await _request(lambda: _stream(asked, messages, on_text, on_progress)) if streams else None
        if reply is None:  # not streamed, or not supported by the server
            reply = await _request(lambda: asked.ainvoke(list(messages), _NO_STREAM))
    except ValidationError as error:
        # Perhaps only the log probabilities cannot be read by Ollama's client.
        if "logprobs" in without or any(fault["loc"][:1] != ("logprobs",) for fault in error.errors()):
            raise
        return await call_structured(chat, messages, schema, {*without, "logprobs"})
    return read_reply(reply, None, schema) if isinstance(reply, AIMessage) else read_reply(reply["raw"], reply.get("parsed"), schema)


def merge_messages(messages: Sequence[BaseMessage], without: Collection[Feature]) -> list[BaseMessage]:
    """Return messages for a server that refuses the role `system`, or any turns: the task then begins the first message of the user.

    Without turns the worked examples are left out. Messages of the user that follow one another are joined, since such servers want
    roles to alternate.
    """
    if not {"system", "turns"} & set(without):
        return list(messages)
    replies = [number for number, message in enumerate(messages) if isinstance(message, AIMessage)]
    asked = [*messages[:1], *messages[replies[-1] + 1 :]] if replies and "turns" in without else messages
    merged: list[BaseMessage] = []
    for message in asked:
        if isinstance(message, AIMessage):
            merged.append(message)
        elif merged and isinstance(merged[-1], HumanMessage):
            merged[-1] = HumanMessage(f"{merged[-1].text}\n\n{message.text}")
        else:
            merged.append(HumanMessage(message.text))
    return merged


async def _request(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Make one request and count it; return the reply also if the client raised an error for it."""
    with REQUEST_CONTEXT.get()():
        try:
            return await ask()
        except Exception as error:
            if (raw := _reply_in_error(error)) is None:
                raise
            return raw


async def _stream(
    bound: Runnable[Any, Any],
    messages: Sequence[BaseMessage],
    on_text: Callable[[str], None] | None,
    on_progress: Callable[[], None] | None,
) -> Any:
    """Send one request and pass the reply's text on while it is received; return the same as `ainvoke`, None if nothing was received."""
    whole: Any = None
    try:
        async for part in bound.astream(list(messages), _NO_STREAM):
            whole = part if whole is None else whole + part
            if on_progress is not None:
                on_progress()
            if on_text is None:
                continue
            raw = whole.get("raw") if isinstance(whole, dict) else whole
            if isinstance(raw, AIMessage):
                on_text(raw.text)
    except (ValueError, AssertionError) as error:  # OpenAI's client asserts that a stream has a chunk
        if whole is not None or (isinstance(error, ValueError) and NO_CHUNKS_MESSAGE not in str(error)):
            raise
        return None
    if isinstance(whole, dict):
        return {name: message_chunk_to_message(part) if isinstance(part, AIMessageChunk) else part for name, part in whole.items()}
    return message_chunk_to_message(whole) if isinstance(whole, AIMessageChunk) else whole


def _with_schema(chat: BaseChatModel, schema: type[BaseModel]) -> Runnable[Any, Any] | None:
    """Return the model bound to the reply's schema, in the way that the client supports; None if it supports none."""
    try:
        if GRAMMAR_CLIENTS & {kind.__name__ for kind in type(chat).__mro__}:
            # A JSON schema: with the class, clients would parse by themselves, raise, and complete truncated replies.
            # OpenAI's own service, which is used without an address, refuses schemas with maxLength.
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
    """Return the model without LangChain's parser, which is quadratic in the reply's length and runs in a thread that cannot be cancelled.

    When streaming, the surrounding runnables would also continue a cancelled call.
    """
    first = bound.first if isinstance(bound, RunnableSequence) else None
    return first.steps__["raw"] if isinstance(first, RunnableParallel) and first.steps__.keys() == {"raw"} else bound


def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema, with the class name as title, which OpenAI's protocol uses as its name."""
    return {**schema.model_json_schema(), "title": schema.__name__}


def _reply_in_error(error: Exception) -> AIMessage | None:
    """Return the reply from an error that a client or server raised because it was cut off or malformed; None for other errors."""
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
    """The options with which a model that may think is called."""

    think: bool | str | None = None
    """Ollama's `think` option; None to omit it."""
    thinks: bool = False
    """Whether tokens are reserved for thinking."""
    sends_schema: bool = True
    """Whether the reply's schema is sent."""
    notice: str = ""
    """The notice in the result."""


DEFAULT_MODE = ThinkingMode()
THINKING_OFF = ThinkingMode(False)
THINKING_ON = ThinkingMode(True, thinks=True)
OFF_WITHOUT_FORM = ThinkingMode(
    False,
    sends_schema=False,
    notice="{name} does not enforce the schema of its replies while thinking is off: they are parsed from its text",
)
THINKS_ANYWAY = ThinkingMode(True, thinks=True, notice="{name} thinks although thinking is turned off: {more}")
THINKING_REQUIRED = ThinkingMode(
    True, thinks=True, notice="{name} does not reply in JSON while thinking is off: thinking is turned on, and {more}"
)
THINK_LITTLE = ThinkingMode("low", thinks=True, notice="{name} cannot turn thinking off: it is set to the lowest level, and {more}")
NO_OPTION = ThinkingMode(thinks=True, notice="{name} has no option for thinking: {more}")
THINKS_UNASKED = ThinkingMode(thinks=True, notice="{name} thinks before it replies: {more}")

MODE_ON_REFUSAL = {
    THINKING_OFF: THINK_LITTLE,
    OFF_WITHOUT_FORM: THINK_LITTLE,
    THINKS_ANYWAY: THINK_LITTLE,
    THINKING_REQUIRED: THINK_LITTLE,
    THINK_LITTLE: NO_OPTION,
}
"""The mode to use after a server has refused the thinking option of the key."""
TOKEN_LIMIT_OPTIONS = ("num_predict", "max_tokens", "max_output_tokens")
"""The options of clients that limit the tokens of a reply."""


def with_mode(chat: BaseChatModel, mode: ThinkingMode, max_tokens: int) -> BaseChatModel:
    """Return the model in a thinking mode, for a reply of at most `max_tokens` tokens."""
    wanted = dict.fromkeys(TOKEN_LIMIT_OPTIONS, max_tokens) | ({} if mode.think is None else {"reasoning": mode.think})
    return chat.model_copy(update={name: value for name, value in wanted.items() if name in type(chat).model_fields})


def next_mode(mode: ThinkingMode, asked: Structured) -> ThinkingMode:
    """Return the mode for the next call, given a reply."""
    if mode is DEFAULT_MODE:
        return THINKS_UNASKED if asked.thought and asked.cut_off else DEFAULT_MODE
    if mode not in (THINKING_OFF, OFF_WITHOUT_FORM):
        return mode
    if asked.thought:
        return THINKS_ANYWAY
    if asked.parsed is None and not (asked.cut_off and asked.bare):  # a complete reply with an enforced schema could be parsed
        return THINKING_REQUIRED
    return mode if asked.bare else OFF_WITHOUT_FORM


def thinking_allowance(window: int | None) -> int:
    """Return the number of tokens for a thought in a window."""
    return min((window or 0) // THOUGHT_DIVISOR, MAX_THOUGHT_TOKENS)
