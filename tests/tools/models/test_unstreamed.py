"""A server of OpenAI's protocol that answers a request for a stream with the whole reply."""

import json

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models.structured_call import ON_TEXT
from tests.tools.echo_server import echoing


class Short(BaseModel):
    """A short reply."""

    answer: str


async def test_its_reply_is_read_all_the_same() -> None:
    texts: list[str] = []
    with echoing(200, lambda _: json.dumps({"answer": "Tarnholm"})) as (at, requests):
        model = resolve_model("openai:m", ModelOptions(base_url=f"http://{at}/v1"))
        handing_on = ON_TEXT.set(texts.append)
        try:
            reply = await model.reply([HumanMessage("Where was Edda Rask born?")], Short)
        finally:
            ON_TEXT.reset(handing_on)
    assert reply.parsed == Short(answer="Tarnholm")
    assert len(requests) == 2, "for a stream, and once more"
