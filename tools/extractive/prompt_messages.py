"""The messages of the toolkit's prompts: what one is filled with, and what is replied to it, as JSON with log probabilities."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ramify.tools.errors import UsageError

Slots = Mapping[str, Any]
"""What a prompt of the toolkit is filled with."""
Reply = dict[str, Any]
"""What is replied to it."""

REMEDY = "it answers the toolkit's own prompts; for any other, name a language model, such as ollama:llama3.1:8b"
_PIECE = re.compile(r"\w{1,6}|[^\w\s]")
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST = 1e-6


def asked(messages: list[BaseMessage]) -> tuple[str, Slots]:
    """Find which prompt is asked, with what in its slots, in the last message that says so."""
    told = (message.additional_kwargs.get("ramify") for message in reversed(messages) if isinstance(message, HumanMessage))
    mark = next((mark for mark in told if mark), None)
    if mark is None:
        raise UsageError("the extractive model was given a message that is none of the toolkit's prompts", REMEDY)
    return mark["prompt"], mark["slots"]


def replied(reply: Reply, messages: list[BaseMessage]) -> AIMessage:
    """Write the reply to messages as a server gives it: the log probabilities of the answer's tokens carry the confidence."""
    # Rounded, because the last digits of an encoder depend on what else was in its batch.
    sure = round(math.log(max(float(reply.get("confidence", 1.0)), _LEAST)), 7)
    pieces: list[tuple[str, float]] = []
    for name, value in reply.items():
        key, text = (json.dumps(part, ensure_ascii=False) for part in (name, value))
        told = [('"', 0.0), (text[1:-1], sure), ('"', 0.0)] if name == "answer" else [(text, 0.0)]
        pieces += [(f"{', ' if pieces else '{'}{key}: ", 0.0), *told]
    pieces.append(("}", 0.0))
    written = "".join(text for text, _ in pieces)
    logprobs = [{"token": token, "logprob": logprob} for text, logprob in pieces for token in _TOKEN.findall(text)]
    read, wrote = sum(len(_PIECE.findall(str(message.content))) for message in messages), len(_PIECE.findall(written))
    return AIMessage(
        written,
        response_metadata={"model_name": "extractive", "logprobs": logprobs, "done_reason": "stop"},
        usage_metadata={"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote},
    )
