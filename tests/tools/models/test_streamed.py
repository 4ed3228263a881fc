"""A reply that is streamed with a form: it is read in a time that grows as the reply does."""

import json
import time
from typing import Any

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models.structured_call import ON_TEXT
from tests.tools.ollama_replies import Raw
from tests.tools.openai_server import serving


class Long(BaseModel):
    """A reply of one text."""

    answer: str


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    """Return an event of a token with its most likely others."""
    likely = [{"token": "Ulm", "bytes": [85, 108, 109], "logprob": -number / 10} for number in range(10)]
    told = {"content": [{**likely[0], "top_logprobs": likely}]} if delta.get("content") else None
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": told}
    whole = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(whole)}\n\n"


def events(words: int) -> str:
    pieces = ['{"answer": "', *["Ulm "] * words, '"}']
    return "".join([*(chunk({"role": "assistant", "content": piece}) for piece in pieces), chunk({}, "stop"), "data: [DONE]\n\n"])


async def read_seconds(words: int) -> float:
    """Return the computing time of reading a reply; the shortest of three."""
    body, times = events(words), []
    with serving(lambda _: Raw(body)) as server:
        model = resolve_model("openai:m", ModelOptions(base_url=server.address))
        watching = ON_TEXT.set(lambda text: None)
        try:
            for _ in range(3):
                began = time.process_time()
                reply = await model.reply([HumanMessage("Which city?")], Long)
                times.append(time.process_time() - began)
        finally:
            ON_TEXT.reset(watching)
        assert all(asked["stream"] and "response_format" in asked for asked in server.asked)
    assert reply.parsed == Long(answer="Ulm " * words)
    return min(times)


async def test_four_times_the_tokens_take_no_more_than_eight_times_as_long() -> None:
    assert await read_seconds(800) < 8 * await read_seconds(200)
