"""The OpenAI client against llama.cpp itself."""

import asyncio
import math
from typing import Literal

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

import ramify.prompts as prompts
from ramify.tools.errors import ReplyError
from ramify.tools.models import Model, ModelOptions, resolve_model, servers
from ramify.tools.models import named as models
from ramify.tools.models.reply_parsing import span_confidence
from ramify.tools.models.tokens import estimate_tokens, truncate_to_tokens
from tests.tools.llamacpp import WINDOW, Engine, engine

__all__ = ["engine"]


class Choice(BaseModel):
    answer: Literal["Yes", "No", "안녕하세요"]
    count: int
    sure: Literal[0.25, 0.75]


class Words(BaseModel):
    answer: str


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "RETRY_PAUSES_S", (0.0, 0.0))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def model(engine: Engine) -> Model:
    models.clear_cache()
    return resolve_model("openai:random", ModelOptions(base_url=engine.address, num_ctx=WINDOW, num_predict=200))


def prompt(text: str) -> list[BaseMessage]:
    return [SystemMessage("Reply in JSON."), HumanMessage(text)]


async def test_the_grammar_is_enforced_and_the_confidence_is_of_the_value_alone(model: Model) -> None:
    reply = await model.reply(prompt("Is this a question?"), Choice)
    assert isinstance(reply.parsed, Choice), reply
    tokens = reply.raw.response_metadata["logprobs"]["content"]
    spelled = [bytes(token["bytes"]) for token in tokens]
    value = reply.parsed.answer.encode()
    places = [(len(b"".join(spelled[:n])), len(b"".join(spelled[: n + 1]))) for n in range(len(spelled))]
    start = b"".join(spelled).index(b'"' + value + b'"') + 1
    inside = [token["logprob"] for token, (first, last) in zip(tokens, places, strict=True) if first < start + len(value) and last > start]
    assert 0 < len(inside) < len(tokens)
    assert span_confidence(reply.raw, "answer") == pytest.approx(math.exp(sum(inside) / len(inside)))


async def test_every_field_has_its_own_confidence(model: Model) -> None:
    reply = await model.reply(prompt("Another one?"), Choice)
    told = [span_confidence(reply.raw, field) for field in Choice.model_fields]
    assert all(confidence is not None and 0 < confidence < 1 for confidence in told)
    assert len(set(told)) == 3


def test_tokens_are_counted_by_the_server(model: Model) -> None:
    assert model.count("the thin") == len(["the", " ", "th", "in"])
    assert model.count("한") == 3, "this vocabulary spells Korean in bytes"
    assert truncate_to_tokens("one two three four", 8, model.count) == "one two"


async def test_a_prompt_that_fits_by_its_count_is_accepted(model: Model) -> None:
    words = truncate_to_tokens("the river and the hills " * 200, WINDOW - 200 - 64, model.count)
    reply = await model.reply([HumanMessage(words)], Choice)
    assert reply.raw.usage_metadata is not None
    assert model.count(words) <= reply.raw.usage_metadata["input_tokens"] <= WINDOW - 200


async def test_a_prompt_beyond_the_window_is_a_clear_error(model: Model) -> None:
    with pytest.raises(ReplyError, match=r"exceeds the available context size .* — lower num_ctx"):
        await model.reply(prompt("word " * WINDOW), Choice)


async def test_a_reply_cut_off_by_its_limit_is_malformed(model: Model) -> None:
    reply = await model.reply(prompt("Tell me everything."), Words)
    assert reply.parsed is None
    assert reply.error == "it was cut off before its end: write less"


async def test_no_form_of_a_reply_is_too_much_for_the_grammar(model: Model) -> None:
    for prompt in (value for value in vars(prompts).values() if isinstance(value, prompts.Prompt)):
        await model.reply([HumanMessage("Reply.")], prompt.with_options(thought=True, shots=0).reply)
    assert not model.server.record.refused


async def test_calls_at_the_same_time(model: Model) -> None:
    replies = await asyncio.gather(*(model.reply(prompt(f"Question {number}?"), Choice) for number in range(6)))
    assert all(isinstance(reply.parsed, Choice) for reply in replies)


def test_the_window_is_no_larger_than_the_servers(engine: Engine) -> None:
    models.clear_cache()
    assert resolve_model("openai:random", ModelOptions(base_url=engine.address, num_ctx=8192)).num_ctx == WINDOW


def test_without_a_tokenizer_the_estimate_counts() -> None:
    models.clear_cache()
    assert resolve_model("openai:random", ModelOptions(base_url="http://127.0.0.1:9/v1")).count is estimate_tokens
