"""One call that is to come back as one object of a given type."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence
from pydantic import BaseModel, ValidationError

from ramify.tools.models.json_text import objects
from ramify.tools.models.surrogates import HALF, whole

BY_GRAMMAR = frozenset({"ChatOllama", "BaseChatOpenAI"})
"""Models whose server holds the reply to a JSON schema while it is being written; an 8B model needs that."""
CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
NOT_IN_FORM = "output that does not match the expected"
"""llama.cpp answers so, with status 500, when a reply reaches the token limit before its JSON is closed."""

LONGEST = 2**17
"""Characters of a reply that is read at all: a good deal more than any model writes in one go."""
TOLD = 8
"""Faults of an object that the model is told of."""
SHOWN = 1000
"""Characters that are kept of a longer one."""


@dataclass(frozen=True)
class Structured:
    """A reply as it came, and as the object it was to be; `error` says why there is none."""

    raw: AIMessage
    parsed: BaseModel | None
    error: str | None


async def call(chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel]) -> Structured:
    """Ask for an object of the schema's type; a malformed reply is a value, not an error."""
    try:
        if BY_GRAMMAR & {kind.__name__ for kind in type(chat).__mro__}:
            # A plain JSON schema: handed the class, the clients parse on their own, raise, and complete what was cut off.
            asked = chat.with_structured_output(json_schema(schema), method="json_schema", include_raw=True, strict=True)
        else:
            asked = chat.with_structured_output(schema, include_raw=True)
    except NotImplementedError:
        return read(await chat.ainvoke(list(messages)), None, schema)
    try:
        told = await _unparsed(asked).ainvoke(list(messages))
    except Exception as error:
        if (raw := _malformed(error)) is None:
            raise
        return read(raw, None, schema)
    return read(told["raw"], told.get("parsed"), schema)


def _unparsed(asked: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Leave LangChain's parser out: it is quadratic in the reply's length, in a thread that no deadline ends."""
    first = asked.first if isinstance(asked, RunnableSequence) else None
    return first if isinstance(first, RunnableParallel) and first.steps__.keys() == {"raw"} else asked


def read(raw: AIMessage, parsed: object, schema: type[BaseModel]) -> Structured:
    """Take the object that the client parsed, or the one written in the text."""
    text = _written(raw)
    if len(text) > LONGEST:
        return Structured(_with_text(raw, text[:SHOWN]), None, f"it is longer than {LONGEST:,} characters: write less")
    if HALF.search(raw.text):
        raw = _with_text(raw, whole(raw.text))
    cut_off = bool(CUT_OFF & {raw.response_metadata.get(name) for name in ("finish_reason", "done_reason", "stop_reason")})
    if isinstance(parsed, schema) and not cut_off:
        return Structured(raw, parsed, None)
    found, error = parse(whole(text), schema)
    if found is None and cut_off:
        error = "it was cut off before its end: write less"
    return Structured(raw, found, error)


def _written(raw: AIMessage) -> str:
    """Give what the model wrote: the arguments of its tool call where it made one, else its text."""
    called = [json.dumps(call["args"]) for call in raw.tool_calls] + [call["args"] or "" for call in raw.invalid_tool_calls]
    return "\n".join(called) if called else raw.text


def _with_text(raw: AIMessage, text: str) -> AIMessage:
    return raw.model_copy(update={"content": text})


def parse(text: str, schema: type[BaseModel]) -> tuple[BaseModel | None, str | None]:
    """Read the last object in a text that is one of the schema; fences and words around it do not matter."""
    error = "it is empty" if not text.strip() else "it holds no complete JSON object"
    for _, value in reversed(list(objects(text))):
        try:
            return schema.model_validate(value), None
        except ValidationError as invalid:
            error = "; ".join(f"{'.'.join(map(str, told['loc'])) or 'object'}: {told['msg']}" for told in invalid.errors()[:TOLD])
    return None, error


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
