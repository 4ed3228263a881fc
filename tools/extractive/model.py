"""The chat model that is none: each of the toolkit's prompts has rules that answer it."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ValidationError

from ramify.tools.errors import UsageError
from ramify.tools.extractive.answering import answer, closed_book, decide, entities
from ramify.tools.extractive.asking import next_question, plan, split_question
from ramify.tools.extractive.finalize import aggregate, compress, finalize
from ramify.tools.extractive.followup import contextualize
from ramify.tools.extractive.judge import judge, rubric
from ramify.tools.extractive.language import objection
from ramify.tools.extractive.logprobs import write
from ramify.tools.extractive.open_ended import open_ended
from ramify.tools.extractive.read import Reader, reading_with
from ramify.tools.extractive.relevance import filter_batch, summarize
from ramify.tools.extractive.text import UNKNOWN, content

_REPLIES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "aggregate": aggregate,
    "answer": answer,
    "closed_book": closed_book,
    "compress": compress,
    "contextualize": contextualize,
    "decide": decide,
    "decompose": split_question,
    "entities": entities,
    "filter": filter_batch,
    "finalize": finalize,
    "judge": judge,
    "next_question": next_question,
    "plan": plan,
    "rubric": rubric,
    "summarize": summarize,
}
_REMEDY = "it answers the toolkit's own prompts; for any other, name a language model, such as ollama:llama3.1:8b"
_NOTHING_NAMED = "The question does not say what it asks about."
"""Any date answers `When?`: somebody's, but nobody knows whose."""
_NO_PHRASE = "The question asks for more than a phrase, and the extractive model quotes phrases."
_PIECE = re.compile(r"\w{1,6}|[^\w\s]")


class Extractive(BaseChatModel):
    """Answer the toolkit's own prompts with an encoder, a reader and rules: deterministic, English, without a language model."""

    reader: Reader = "neural"

    @property
    def _llm_type(self) -> str:
        return "extractive"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> ChatResult:
        with reading_with(self.reader):
            return ChatResult(generations=[ChatGeneration(message=_reply(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await asyncio.to_thread(self._generate, messages, stop)

    def with_structured_output(
        self, schema: dict[str, Any] | type[BaseModel] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Give the reply as the schema's object; with `include_raw`, beside the message and what was wrong with it."""
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise UsageError(f"the extractive model cannot write {schema!r}", "give a pydantic model")

        def parse(raw: AIMessage) -> dict[str, Any] | BaseModel:
            if not include_raw:
                return schema.model_validate_json(str(raw.content))
            try:
                return {"raw": raw, "parsed": schema.model_validate_json(str(raw.content)), "parsing_error": None}
            except ValidationError as error:
                return {"raw": raw, "parsed": None, "parsing_error": error}

        return self | RunnableLambda(parse)


def _reply(messages: list[BaseMessage]) -> AIMessage:
    name, slots = _marked(messages)
    question = str(slots.get("question", ""))
    reply = _REPLIES[name](slots)
    if objected := objection(question):
        reply = _refused(reply, objected)
    elif "question" in slots and not content(question):
        reply = _refused(reply, _NOTHING_NAMED)
    elif open_ended(question):
        reply = _refused(reply, _NO_PHRASE)
    written, logprobs = write(reply, float(reply.get("confidence", 1.0)))
    spent = sum(_count(str(message.content)) for message in messages), _count(written)
    return AIMessage(
        written,
        response_metadata={"model_name": "extractive", "logprobs": logprobs, "done_reason": "stop"},
        usage_metadata={"input_tokens": spent[0], "output_tokens": spent[1], "total_tokens": sum(spent)},
    )


def _marked(messages: list[BaseMessage]) -> tuple[str, Mapping[str, Any]]:
    """Find which prompt is asked, with what in its slots, in the last message that says so."""
    asked = (message.additional_kwargs.get("ramify") for message in reversed(messages) if isinstance(message, HumanMessage))
    mark = next((mark for mark in asked if mark), None)
    if mark is None:
        raise UsageError("the extractive model was given a message that is none of the toolkit's prompts", _REMEDY)
    if mark["prompt"] not in _REPLIES:
        raise UsageError(f"the extractive model does not know the prompt {mark['prompt']!r}", _REMEDY)
    return mark["prompt"], mark["slots"]


def _refused(reply: dict[str, Any], why: str) -> dict[str, Any]:
    """Say Unknown to a question that cannot be read or says nothing, and why where there is room for it."""
    refused: dict[str, Any] = {
        "answer": UNKNOWN,
        "confidence": 0.0,
        "citations": [],
        "explanation": why,
        "settled_by": "unsettled",
    }
    if "action" in reply:
        refused |= {"action": "answer", "questions": [], "entities": []}
    return {key: refused.get(key, value) for key, value in reply.items()} if "answer" in reply else reply


def _count(text: str) -> int:
    return len(_PIECE.findall(text))
