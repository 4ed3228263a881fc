"""A chat model and an index for tests: replies keyed by prompt and slots, passages found by shared words."""

import asyncio
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import PrivateAttr

from ramify.prompts.prompt import Prompt
from tests.embeddings import WordEmbeddings
from tests.likelihood import MEASURED, likelihoods, value_span

TOKEN = re.compile(r"\s*\w{1,5}|\s*[^\w\s]|\s+")
"""About what a tokenizer takes for one: a few letters with the space before them."""
STATED = 0.42
"""How sure a reply says it is where its tokens tell otherwise: what is stated counts only where there are no log probabilities."""
Replies = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | str]


_render = Prompt.render


def _marked(prompt: Prompt[Any], slots: Mapping[str, Any]) -> list[BaseMessage]:
    """Render a prompt, and say in its last message which it is, filled with what: so a fake knows what it is asked."""
    messages = _render(prompt, slots)
    messages[-1].additional_kwargs["ramify"] = {"prompt": prompt.name, "slots": dict(slots)}
    return messages


Prompt.render = _marked  # type: ignore[method-assign]


class FakeModel(BaseChatModel):
    """Answer each prompt with what a function of its name and slots gives: a dict as JSON, a text as it is."""

    replies: Replies
    latency: float = 0.0
    writes: bool = False
    """Whether the function is asked for the text of an answer that is known, too; else it is the answer."""
    logprobs: bool = False
    """Give log probabilities, such that the confidence of the measured field, and of nothing else, is the `confidence` of the reply.

    What the reply then states of its own confidence is `STATED`.
    """
    _clients: dict[Any, Runnable[Any, Any]] = PrivateAttr(default_factory=dict)
    _calls: list[tuple[str, dict[str, Any]]] = PrivateAttr(default_factory=list)
    _heard: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """List the prompts asked so far, with their slots."""
        return self._calls

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """List the slots of the calls of one prompt."""
        return [slots for name, slots in self._calls if name == prompt]

    @property
    def heard(self) -> list[list[BaseMessage]]:
        """List the messages of each call so far."""
        return self._heard

    @property
    def schemas(self) -> list[Any]:
        """List the types of answers that were asked for."""
        return list(self._clients)

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> ChatResult:
        mark = next(m.additional_kwargs["ramify"] for m in reversed(messages) if "ramify" in m.additional_kwargs)
        self._calls.append((mark["prompt"], mark["slots"]))
        self._heard.append(messages)
        if mark["prompt"] == "write" and not self.writes:
            reply: Any = {"text": f"{mark['slots']['known']}."}
        else:
            reply = self.replies(mark["prompt"], mark["slots"])
        sure = 1.0
        if self.logprobs and isinstance(reply, Mapping) and "confidence" in reply:
            sure, reply = float(reply["confidence"]), {**reply, "confidence": STATED}
        text = reply if isinstance(reply, str) else json.dumps(reply)
        message = AIMessage(text, response_metadata={"logprobs": _logprobs(mark["prompt"], text, reply, sure)} if self.logprobs else {})
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        await asyncio.sleep(self.latency)
        return self._generate(messages)

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Parse the reply into the schema, as a real client does."""
        if schema not in self._clients:
            self._clients[schema] = self._client(schema)
        return self._clients[schema]

    def _client(self, schema: Any) -> Runnable[Any, Any]:
        async def call(messages: list[BaseMessage]) -> dict[str, Any]:
            raw = await self.ainvoke(messages)
            try:
                return {"raw": raw, "parsed": schema.model_validate_json(str(raw.content)), "parsing_error": None}
            except ValueError as error:
                return {"raw": raw, "parsed": None, "parsing_error": error}

        def never(messages: list[BaseMessage]) -> dict[str, Any]:
            raise AssertionError("steps are asynchronous")

        return RunnableLambda(never, call)


def _logprobs(prompt: str, text: str, reply: Mapping[str, Any] | str, sure: float) -> list[dict[str, Any]]:
    span = value_span(reply, MEASURED.get(prompt, "answer"))
    told = likelihoods(TOKEN.findall(text), span, math.log(max(sure, 1e-9)))
    return [{"token": token, "logprob": logprob} for token, logprob in told]


def library(*texts: str) -> InMemoryVectorStore:
    """Make an index of a few texts, each its own document."""
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_texts(list(texts), metadatas=[{"source": f"{n}.txt", "title": text.split(" ")[0]} for n, text in enumerate(texts)])
    return store
