"""One call that is to come back as an object of a given type: the form it is asked for in, and how a model that thinks is asked.

The prompts ask for a short thought of their own. One beside it takes tokens from the reply, which is then cut off.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence
from pydantic import BaseModel, ValidationError

from ramify.tools.models.reply_parsing import Structured, read

Feature = Literal["form", "logprobs"]
"""What a call may be made without, where its server refuses it."""
BY_GRAMMAR = frozenset({"ChatOllama", "BaseChatOpenAI"})
"""Models whose server holds the reply to a JSON schema while it is being written; an 8B model needs that."""
NOT_IN_FORM = "output that does not match the expected"
"""llama.cpp answers so, with status 500, when a reply reaches the token limit before its JSON is closed."""
SHARE = 4
"""A thought may take one token of so many in the window."""
MOST = 4096
REQUEST: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("ramify_request", default=nullcontext)
"""What each request to a model is sent in, whatever it is sent for: whoever counts requests sets it, and may refuse one by raising."""
ON_TEXT: ContextVar[Callable[[str], None] | None] = ContextVar("ramify_on_text", default=None)
"""Called with all that a reply's text has so far, each time that more has come: where it is set, replies are streamed."""


async def call(
    chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], without: Collection[Feature] = ()
) -> Structured:
    """Ask for an object of the schema's type, `without` what its server refuses; a malformed reply is a value, not an error."""
    if ON_TEXT.get() is not None:  # without stream_usage OpenAI's protocol tells no tokens of a stream
        streaming = {"disable_streaming": False, "stream_usage": True}
        chat = chat.model_copy(update={name: value for name, value in streaming.items() if name in type(chat).model_fields})
    if "logprobs" in without:
        chat = chat.model_copy(update={"logprobs": None})
    asked = None if "form" in without else _asked(chat, schema)
    try:
        told = await _send(asked or chat, messages)  # where the client has no form for it, the prompt says what is wanted
    except ValidationError as error:
        # The log probabilities may be all that Ollama's client cannot read.
        if "logprobs" in without or any(told["loc"][:1] != ("logprobs",) for told in error.errors()):
            raise
        return await call(chat, messages, schema, {*without, "logprobs"})
    return read(told, None, schema) if isinstance(told, AIMessage) else read(told["raw"], told.get("parsed"), schema)


async def _send(asked: Runnable[Any, Any], messages: Sequence[BaseMessage]) -> Any:
    """Send one request and give what the client makes of the reply; of one that it turned into an error, the reply itself."""
    with REQUEST.get()():
        try:
            on_text = ON_TEXT.get()
            return await (asked.ainvoke(list(messages)) if on_text is None else _streamed(asked, messages, on_text))
        except Exception as error:
            if (raw := _malformed(error)) is None:
                raise
            return raw


async def _streamed(asked: Runnable[Any, Any], messages: Sequence[BaseMessage], on_text: Callable[[str], None]) -> Any:
    """Send one request, and hand its reply's text on while it comes; return what `ainvoke` returns."""
    whole: Any = None
    async for part in asked.astream(list(messages)):
        whole = part if whole is None else whole + part
        raw = whole.get("raw") if isinstance(whole, dict) else whole
        if isinstance(raw, AIMessage):
            on_text(raw.text)
    if isinstance(whole, dict):
        return {name: message_chunk_to_message(one) if isinstance(one, AIMessageChunk) else one for name, one in whole.items()}
    return message_chunk_to_message(whole) if isinstance(whole, AIMessageChunk) else whole


def _asked(chat: BaseChatModel, schema: type[BaseModel]) -> Runnable[Any, Any] | None:
    """Bind the form of the reply, in the way that the client has for it; None where it has none."""
    try:
        if BY_GRAMMAR & {kind.__name__ for kind in type(chat).__mro__}:
            # A plain JSON schema: handed the class, the clients parse on their own, raise, and complete what was cut off.
            # OpenAI's own service, reached without an address, refuses a schema that bounds a text's length.
            openai = getattr(chat, "openai_api_base", chat) is None
            form = without_lengths(json_schema(schema)) if openai else json_schema(schema)
            return _unparsed(chat.with_structured_output(form, method="json_schema", include_raw=True, strict=True))
        return _unparsed(chat.with_structured_output(schema, include_raw=True))
    except NotImplementedError:
        return None


def without_lengths(schema: Any) -> Any:
    """Leave the lengths of texts out of a schema."""
    if isinstance(schema, list):
        return [without_lengths(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_lengths(part) for name, part in schema.items() if name != "maxLength"}


def _unparsed(asked: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Leave LangChain's parser out: it is quadratic in the reply's length, in a thread that no deadline ends."""
    first = asked.first if isinstance(asked, RunnableSequence) else None
    return first if isinstance(first, RunnableParallel) and first.steps__.keys() == {"raw"} else asked


def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Give the schema with the title that OpenAI's protocol uses as its name."""
    return {**schema.model_json_schema(), "title": schema.__name__}


def _malformed(error: Exception) -> AIMessage | None:
    """Rebuild the reply where a cut-off or malformed one was turned into an error on its way."""
    if NOT_IN_FORM in str(error):
        return AIMessage("", response_metadata={"finish_reason": "length"})
    completion: Any = getattr(error, "completion", None)  # of OpenAI's LengthFinishReasonError
    if completion is None:
        return None
    told = completion.usage
    tokens = told and UsageMetadata(input_tokens=told.prompt_tokens, output_tokens=told.completion_tokens, total_tokens=told.total_tokens)
    return AIMessage(
        completion.choices[0].message.content or "",
        response_metadata={"finish_reason": "length", "model_name": completion.model, "model_provider": "openai"},
        usage_metadata=tokens,
    )


@dataclass(frozen=True)
class Way:
    """One way of asking a model that may think."""

    think: bool | str | None = None
    """What Ollama is told of thinking; None for nothing."""
    thinks: bool = False
    """Whether a thought is to be expected, and room to be left for it."""
    in_form: bool = True
    """Whether the server is asked to hold the reply to its form."""
    notice: str = ""
    """What the result says of it."""


PLAIN = Way()
OFF = Way(False)
IN_WORDS = Way(
    False, in_form=False, notice="{name} does not hold its replies to their form while its thinking is off: they are read from its text"
)
ANYWAY = Way(True, thinks=True, notice="{name} thinks although it was asked not to: {more}")
LET = Way(True, thinks=True, notice="{name} does not reply in JSON while its thinking is off: it is let think, and {more}")
LITTLE = Way("low", thinks=True, notice="{name} cannot be asked not to think: it is asked to think little, and {more}")
UNTOLD = Way(thinks=True, notice="{name} cannot be told whether to think: {more}")
SEEN = Way(thinks=True, notice="{name} thinks before it replies: {more}")

REFUSED = {OFF: LITTLE, IN_WORDS: LITTLE, ANYWAY: LITTLE, LET: LITTLE, LITTLE: UNTOLD}
"""How to go on where a server refuses what it is told of thinking."""
LONGEST = ("num_predict", "max_tokens", "max_output_tokens")
"""What the clients call the bound of a reply."""


def asking(chat: BaseChatModel, way: Way, longest: int) -> BaseChatModel:
    """Give the model as it is asked by a way, for a reply of at most so many tokens."""
    wanted = dict.fromkeys(LONGEST, longest) | ({} if way.think is None else {"reasoning": way.think})
    return chat.model_copy(update={name: value for name, value in wanted.items() if name in type(chat).model_fields})


def following(way: Way, asked: Structured) -> Way:
    """Tell by which way to ask next, after what a reply has shown."""
    if way is PLAIN:
        return SEEN if asked.thought and asked.cut_off else PLAIN
    if way not in (OFF, IN_WORDS):
        return way
    if asked.thought:
        return ANYWAY
    if asked.parsed is None and not (asked.cut_off and asked.bare):  # whole and held to its form, it could have been read
        return LET
    return way if asked.bare else IN_WORDS


def allowance(window: int | None) -> int:
    """Tell how many tokens a thought may take in a window."""
    return min((window or 0) // SHARE, MOST)
