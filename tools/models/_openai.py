"""LangChain's chat model for OpenAI's protocol, with the thoughts that servers send in fields of their own."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from ramify.tools.models.reply_parsing import THOUGHT_FIELD

SERVER_FIELDS = ("reasoning_content", "reasoning")
"""The names of the field for a thought: of vLLM before 0.12, llama.cpp and SGLang; of vLLM and OpenRouter."""


class ThinkingChatOpenAI(ChatOpenAI):
    """A chat model whose messages have thoughts in `additional_kwargs`."""

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        choices: Any = response["choices"] if isinstance(response, Mapping) else response.choices
        for generation, choice in zip(result.generations, choices, strict=True):
            _add_thought(generation.message, choice.get("message") if isinstance(choice, Mapping) else choice.message)
        return result

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        # Of a stream with a form, OpenAI's client keeps all that came so far, and LangChain copies it for each token: a quadratic time.
        payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        if payload.get("stream") and "response_format" in payload:
            payload["extra_body"] = {**(payload.get("extra_body") or {}), "response_format": payload.pop("response_format")}
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        generation = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        choices = chunk.get("choices") or chunk.get("chunk", {}).get("choices")
        if generation is not None and choices:
            _add_thought(generation.message, choices[0].get("delta"))
        return generation


def _add_thought(message: BaseMessage, fields: Any) -> None:
    """Add the thought in the fields of a server's message, if it has one."""
    for name in SERVER_FIELDS:
        thought = fields.get(name) if isinstance(fields, Mapping) else getattr(fields, name, None)
        if thought and isinstance(thought, str):
            message.additional_kwargs[THOUGHT_FIELD] = thought
            return
