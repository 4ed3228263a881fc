"""One call that is to come back as one object of a given type."""

from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence
from pydantic import BaseModel, ValidationError

from ramify.tools.models.reply_parsing import Structured, read
from ramify.tools.models.server_record import Feature

BY_GRAMMAR = frozenset({"ChatOllama", "BaseChatOpenAI"})
"""Models whose server holds the reply to a JSON schema while it is being written; an 8B model needs that."""
NOT_IN_FORM = "output that does not match the expected"
"""llama.cpp answers so, with status 500, when a reply reaches the token limit before its JSON is closed."""


async def call(
    chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], without: Collection[Feature] = ()
) -> Structured:
    """Ask for an object of the schema's type, `without` what its server refuses; a malformed reply is a value, not an error."""
    if "logprobs" in without:
        chat = chat.model_copy(update={"logprobs": None})
    asked = None if "form" in without else _asked(chat, schema)
    if asked is None:  # the prompt says what is wanted
        return read(await chat.ainvoke(list(messages)), None, schema)
    try:
        told = await asked.ainvoke(list(messages))
    except Exception as error:
        if "logprobs" not in without and _about_logprobs(error):
            return await call(chat, messages, schema, {*without, "logprobs"})
        if (raw := _malformed(error)) is None:
            raise
        return read(raw, None, schema)
    return read(told["raw"], told.get("parsed"), schema)


def _asked(chat: BaseChatModel, schema: type[BaseModel]) -> Runnable[Any, Any] | None:
    """Bind the form of the reply, in the way that the client has for it; None where it has none."""
    try:
        if BY_GRAMMAR & {kind.__name__ for kind in type(chat).__mro__}:
            # A plain JSON schema: handed the class, the clients parse on their own, raise, and complete what was cut off.
            form = json_schema(schema) if _bounds_text(chat) else without_lengths(json_schema(schema))
            return _unparsed(chat.with_structured_output(form, method="json_schema", include_raw=True, strict=True))
        return _unparsed(chat.with_structured_output(schema, include_raw=True))
    except NotImplementedError:
        return None


def _bounds_text(chat: BaseChatModel) -> bool:
    """Tell whether a text's length may be bounded: OpenAI's own service, reached without an address, refuses a schema that does."""
    return getattr(chat, "openai_api_base", chat) is not None


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


def _about_logprobs(error: Exception) -> bool:
    """Tell whether the log probabilities alone are what Ollama's client cannot read."""
    return isinstance(error, ValidationError) and all(told["loc"][:1] == ("logprobs",) for told in error.errors())


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
