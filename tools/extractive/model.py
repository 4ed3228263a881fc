"""The chat model that is none: each of the toolkit's prompts has a function that answers it; and what it loads before."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ValidationError

from ramify.tools.embeddings import load_encoder
from ramify.tools.english import content
from ramify.tools.errors import UsageError
from ramify.tools.extractive.answering import answer, closed_book, compress, decide, entities
from ramify.tools.extractive.asking import contextualize, next_question, plan, split_question
from ramify.tools.extractive.building import claims, describe, extract, glean, missed, report, sum_up
from ramify.tools.extractive.finalize import aggregate, finalize
from ramify.tools.extractive.overview import map_report, reduce
from ramify.tools.extractive.prompt_messages import REMEDY, Reply, Slots, asked, replied
from ramify.tools.extractive.question_kinds import objection, open_ended
from ramify.tools.extractive.weighing import filter_batch, judge, rubric, summarize
from ramify.tools.reader.weights import load_network
from ramify.tools.splitting.weights import load_pen
from ramify.tools.unknown import UNKNOWN

_REPLIES: dict[str, Callable[[Slots], Reply]] = {
    "aggregate": aggregate,
    "answer": answer,
    "claims": claims,
    "closed_book": closed_book,
    "compress": compress,
    "contextualize": contextualize,
    "decide": decide,
    "decompose": split_question,
    "describe": describe,
    "entities": entities,
    "extract": extract,
    "filter": filter_batch,
    "finalize": finalize,
    "glean": glean,
    "judge": judge,
    "map_report": map_report,
    "missed": missed,
    "next_question": next_question,
    "plan": plan,
    "reduce": reduce,
    "report": report,
    "rubric": rubric,
    "summarize": summarize,
    "summarize_cluster": sum_up,
    "support": sum_up,
}
_OVERVIEWS = ("map_report", "reduce")
_NOTHING_NAMED = "The question does not say what it asks about."
"""Any date answers `When?`: somebody's, but nobody knows whose."""
_NO_PHRASE = "The question asks for more than a phrase, and the extractive model quotes phrases."
_LOADING = threading.Lock()


class Extractive(BaseChatModel):
    """Answer the toolkit's own prompts by small trained networks and arithmetic: deterministic, English, without a language model."""

    @property
    def _llm_type(self) -> str:
        return "extractive"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> ChatResult:
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
    name, slots = asked(messages)
    if name not in _REPLIES:
        raise UsageError(f"the extractive model does not know the prompt {name!r}", REMEDY)
    question = str(slots.get("question", ""))
    reply = _REPLIES[name](slots)
    if objected := objection(question):
        reply = _refused(reply, objected)
    elif name in _OVERVIEWS:
        pass  # it quotes whole sentences, as many as there are: any question will do
    elif "question" in slots and not content(question):
        reply = _refused(reply, _NOTHING_NAMED)
    elif open_ended(question):
        reply = _refused(reply, _NO_PHRASE)
    return replied(reply, messages)


def _refused(reply: Reply, why: str) -> Reply:
    """Say Unknown to a question that cannot be read or says nothing, and why where there is room for it."""
    refused: Reply = {
        "answer": UNKNOWN,
        "confidence": 0.0,
        "citations": [],
        "explanation": why,
        "points": [],
        "quotes": [],
        "settled_by": "unsettled",
    }
    if "action" in reply:
        refused |= {"action": "answer", "questions": [], "entities": []}
    return {key: refused.get(key, value) for key, value in reply.items()} if {"answer", "points"} & reply.keys() else reply


def load() -> float:
    """Load the encoder and both networks; give the seconds that took, 0 where all was there; blocking."""
    encoder = load_encoder("minilm")
    if encoder.loaded and load_network.cache_info().currsize and load_pen.cache_info().currsize:
        return 0.0
    began = time.perf_counter()
    with _LOADING:  # many runs begin at once: one of them loads, the others wait
        encoder.load()
        load_network()
        load_pen()
    return time.perf_counter() - began
