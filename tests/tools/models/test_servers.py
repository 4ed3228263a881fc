"""What can go wrong during a call, and what is made of it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from openai.types.chat import ChatCompletion

from ramify.tools.errors import ModelError, ReplyError
from ramify.tools.models import Model, ModelOptions, Structured, resolve_model
from ramify.tools.models.reply_parsing import span_confidence
from ramify.tools.models.servers import Server, classify, explain_error
from ramify.tools.models.structured_call import ON_TEXT, REQUEST_CONTEXT
from tests.tools.ollama_replies import Fail, Hang, Raw, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import OpenAI, Reply, completion, serving
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, fresh

__all__ = ["fresh", "ollama"]


async def ask(server: Ollama, **options: Any) -> Structured:
    return await resolve_model("ollama:llama3.1:8b", ModelOptions(base_url=server.address, **options)).reply(QUESTION, Answered)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("", "it is empty"),
        ("I do not know.", "it contains no complete JSON object"),
        ('{"answer": "Marie Cu', "it contains no complete JSON object"),
        ('{"answer": "Marie Curie"}', "confidence: Field required"),
        ('{"answer": "Marie Curie", "confidence": 7}', "confidence: Input should be less than or equal to 1"),
    ],
)
async def test_a_malformed_reply_is_a_value(ollama: Ollama, said: str, error: str) -> None:
    ollama.when("polonium", Say(said))
    reply = await ask(ollama)
    assert (reply.parsed, reply.error) == (None, error)
    assert reply.raw.content == said
    assert len(ollama.requests) == 1


@pytest.mark.parametrize("frame", ["```json\n%s\n```", "Sure! Here it is:\n%s\nI hope that helps {you}.", "<think>{}</think>%s"])
async def test_words_around_the_object_do_no_harm(ollama: Ollama, frame: str) -> None:
    ollama.when("polonium", Say(frame % '{"answer": "Marie\nCurie", "confidence": 0.9}'))
    assert (await ask(ollama)).parsed == Answered(answer="Marie\nCurie", confidence=0.9)


async def test_a_reply_that_was_cut_off_is_not_completed_by_guessing(ollama: Ollama) -> None:
    ollama.when("polonium", Say({"confidence": 0.9, "answer": "Marie Curie, born Skłodowska"}))
    reply = await ask(ollama, num_predict=16)
    assert reply.parsed is None
    assert reply.error is not None
    assert "cut off" in reply.error


async def test_a_prompt_that_was_cut_silently_is_noticed(ollama: Ollama) -> None:
    long = [HumanMessage("word " * 900)]
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(num_ctx=512))
    with pytest.raises(ReplyError, match=r"num_ctx 512 — .*num_ctx"):
        await model.reply(long, Answered)


@pytest.mark.parametrize("told", [10, 1, 0, -5, 10.5, -0.5, 1e30, 10**400, float("nan"), "many", True, None])
async def test_a_low_count_is_no_evidence_that_a_prompt_fitted(ollama: Ollama, told: Any) -> None:
    """Servers leave out what they had read before; what is no count at all says nothing either."""
    ollama.reports = lambda request: told
    model = resolve_model("ollama:llama3.1:8b", ModelOptions())
    replies = [await model.reply([HumanMessage("word " * 1000)], Answered) for _ in range(2)]
    assert all(reply.parsed for reply in replies)


async def test_no_reply_in_time(ollama: Ollama) -> None:
    ollama.when("polonium", Hang())
    with pytest.raises(ReplyError, match=r"gave no reply within 0\.2 s — raise timeout"):
        await ask(ollama, timeout=0.2)


async def test_a_cancelled_streamed_call_ends(ollama: Ollama) -> None:
    ollama.when("polonium", Hang())
    here = asyncio.all_tasks()
    token = ON_TEXT.set(lambda text: None)
    try:
        with pytest.raises(ReplyError, match="gave no reply within"):
            await ask(ollama, timeout=0.5)
    finally:
        ON_TEXT.reset(token)
    assert asyncio.all_tasks() == here, "none of its own is left to run on"


async def test_a_request_after_an_empty_stream_is_counted(ollama: Ollama) -> None:
    ollama.when("polonium", Raw(""), Say(GOOD))
    counted: list[str] = []

    @contextmanager
    def request() -> Iterator[None]:
        counted.append("one")
        yield

    tokens = ON_TEXT.set(lambda text: None), REQUEST_CONTEXT.set(request)
    try:
        assert (await ask(ollama)).parsed == Answered(**GOOD)
    finally:
        ON_TEXT.reset(tokens[0])
        REQUEST_CONTEXT.reset(tokens[1])
    assert len(counted) == len(ollama.requests) == 2


async def test_a_busy_server_is_asked_again(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(503, "server busy"), Fail(-1, "model runner has stopped"), Say(GOOD))
    assert (await ask(ollama)).parsed == Answered(**GOOD)
    assert len(ollama.requests) == 3


async def test_a_server_that_stays_busy(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(500, "out of memory"))
    with pytest.raises(ReplyError, match=r"out of memory.*, also on a retry"):
        await ask(ollama)
    assert len(ollama.requests) == 3


async def test_a_model_removed_meanwhile(ollama: Ollama) -> None:
    model = resolve_model("ollama:llama3.1:8b", ModelOptions())
    ollama.models.clear()
    with pytest.raises(ModelError, match=r"run `ollama pull llama3\.1:8b`"):
        await model.reply(QUESTION, Answered)


async def test_a_rejected_key_is_not_repeated(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(401, "invalid key sk-secret"))
    with pytest.raises(ModelError, match="set OLLAMA_API_KEY") as caught:
        await ask(ollama)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


async def test_a_rejected_request(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(400, "invalid format"))
    with pytest.raises(ReplyError, match="invalid format"):
        await ask(ollama)
    assert len(ollama.requests) == 1


async def test_a_server_that_went_away() -> None:
    model = resolve_model("openai:local", ModelOptions(base_url=f"{NOWHERE}/v1"))
    with pytest.raises(ModelError, match=r"openai:local at http://127\.0\.0\.1:9/v1 cannot be reached"):
        await model.reply(QUESTION, Answered)


async def test_an_error_that_is_not_about_the_server_stays_what_it_is() -> None:
    class Broken(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise ZeroDivisionError("a mistake in the model's own code")

    with pytest.raises(ZeroDivisionError):
        await resolve_model(Broken(responses=[]), ModelOptions()).reply(QUESTION, Answered)


# --- The errors of OpenAI's client


def of_status(kind: type[openai.APIStatusError], status: int, message: str) -> openai.APIStatusError:
    request: Any = httpx.Request("POST", "https://api.openai.com/v1/chat/completions")
    response: Any = httpx.Response(status, request=request)
    return kind(message, response=response, body=None)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (of_status(openai.AuthenticationError, 401, "Incorrect API key provided: sk-secret"), "locked"),
        (of_status(openai.NotFoundError, 404, "no such model"), "missing"),
        (of_status(openai.RateLimitError, 429, "slow down"), "busy"),
        (of_status(openai.InternalServerError, 502, "bad gateway"), "busy"),
        (of_status(openai.BadRequestError, 400, "This model's maximum context length is 8192"), "overlong"),
        (of_status(openai.BadRequestError, 400, "logprobs are not supported"), "refused"),
        (of_status(openai.APIStatusError, 307, "Temporary Redirect"), "moved"),
        (httpx.ReadTimeout("late"), "silent"),
        (httpx.ReadError("reset"), "busy"),
        (httpx.ConnectTimeout("nobody"), "unreachable"),
        (ConnectionError("Failed to connect to Ollama"), "unreachable"),
        (ValueError("No data received from Ollama stream."), "foreign"),
        (ValueError("something else"), None),
    ],
)
def test_troubles_are_classified(error: Exception, trouble: str | None) -> None:
    assert classify(error) == trouble


def test_a_rejected_key_is_reported_by_its_variable_only() -> None:
    error = of_status(openai.AuthenticationError, 401, "Incorrect API key provided: sk-secret")
    refused = explain_error("locked", error, Server("openai:gpt-4o", 10, key="OPENAI_API_KEY"))
    assert "openai:gpt-4o" in refused.what
    assert "OPENAI_API_KEY" in refused.remedy
    assert "sk-secret" not in str(refused)
    assert "Incorrect" not in str(refused)


async def test_a_reply_at_the_token_limit_of_openai_is_malformed_and_its_cost_is_known() -> None:
    body = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": '{"answer": "Marie'}}
    usage = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
    completion = ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [body], "usage": usage}
    )

    class Limited(FakeListChatModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            def fail(_: object) -> None:
                raise openai.LengthFinishReasonError(completion=completion)

            return RunnableLambda(fail)

    reply = await resolve_model(Limited(responses=[]), ModelOptions()).reply(QUESTION, Answered)
    assert (reply.parsed, reply.error) == (None, "it was cut off before its end: write less")
    assert reply.raw.content == '{"answer": "Marie'
    assert reply.raw.usage_metadata is not None
    assert reply.raw.usage_metadata["output_tokens"] == 5


MARIE = json.dumps(GOOD)
LINE: dict[str, Any] = {"model": "m", "created_at": "2026-11-01T00:00:00Z", "message": {"role": "assistant", "content": MARIE}}
PAGE = "<html><body>502 Bad Gateway</body></html>"
NO_STREAM = [
    "",
    "[]",
    "null",
    "7",
    '"text"',
    '{"message": null, "done": true}',
    '{"message": [], "done": true}',
    '{"error": {"a": 1}}',
    PAGE,
]
NO_COMPLETION = [
    "",
    "[]",
    "null",
    "7",
    '"text"',
    "{}",
    '{"choices": null}',
    '{"choices": []}',
    '{"choices": {}}',
    PAGE,
    '{"choices": [{"ind',
]
NO_COMPLETION += [
    '{"choices": [null]}',
    '{"choices": [{"message": null}]}',
    '{"choices": [{"message": []}]}',
    '{"choices": [{"message": "x"}]}',
]


def local(server: OpenAI, **options: Any) -> Model:
    return resolve_model("openai:local", ModelOptions(base_url=server.address, **options))


@pytest.mark.parametrize("body", [*NO_STREAM, json.dumps(LINE)[:-20]])
async def test_no_reply_of_ollamas_is_asked_for_again_and_then_fails_the_call(ollama: Ollama, body: str) -> None:
    ollama.when("polonium", Raw(body))
    with pytest.raises(ReplyError, match=r"ollama:llama3\.1:8b at .* — "):
        await resolve_model("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert len(ollama.requests) == 3


@pytest.mark.parametrize("answer", [Raw(""), Raw(PAGE, "text/html"), Raw(json.dumps(LINE)[:40]), Raw(json.dumps(LINE) + "\n", cut=True)])
async def test_a_garbled_reply_of_ollamas_may_pass(ollama: Ollama, answer: Raw) -> None:
    ollama.when("polonium", answer, Say(GOOD))
    reply = await resolve_model("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert len(ollama.requests) == 2


@pytest.mark.parametrize("body", NO_COMPLETION)
async def test_no_completion_fails_the_call_of_a_server_that_answered_before(body: str) -> None:
    replies: list[Reply] = [(200, completion(MARIE)), (200, body)]
    with serving(lambda asked: replies.pop(0) if len(replies) > 1 else replies[0]) as server:
        model = local(server)
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
        with pytest.raises(ReplyError):
            await model.reply(QUESTION, Answered)
        replies[:] = [(200, body), (200, completion(MARIE))]
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD), "asked again"


@pytest.mark.parametrize("body", [*NO_COMPLETION[:-4], PAGE])
async def test_a_server_that_never_answered_as_one_is_not_one(body: str) -> None:
    with (
        serving(lambda asked: (200, body)) as server,
        pytest.raises(ModelError, match=r"— .*base_url"),
    ):
        await local(server).reply(QUESTION, Answered)


@pytest.mark.parametrize(
    "told", [None, "none", 7, [], {"content": None}, {"content": [None]}, {"content": [{"token": "x", "logprob": None}]}]
)
async def test_odd_log_probabilities_leave_the_reply_as_it_is(told: Any) -> None:
    choice = {**completion(MARIE)["choices"][0], "logprobs": told}
    with serving(lambda asked: (200, completion(choices=[choice]))) as server:
        reply = await local(server).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert span_confidence(reply.raw, "answer") is None


@pytest.mark.parametrize("told", [None, "text", float("inf")])
async def test_log_probabilities_that_ollamas_client_refuses_are_done_without(ollama: Ollama, told: Any) -> None:
    line = {**LINE, "logprobs": [{"token": "x", "logprob": told}], "done": True}
    ollama.when("polonium", lambda asked: Raw(json.dumps(line)) if asked.get("logprobs") else Say(GOOD))
    reply = await resolve_model("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert span_confidence(reply.raw, "answer") is None


@pytest.mark.parametrize("half", ["\ud83d", "\\ud83d"])
async def test_half_a_character_is_replaced_and_the_answer_kept(ollama: Ollama, half: str) -> None:
    said = f'{{"answer": "Marie {half} Curie", "confidence": 0.9}}'
    ollama.when("polonium", Say(said, at_once=True, sure=None))
    told = [(await resolve_model("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered))]
    with serving(lambda asked: (200, completion(said))) as server:
        told.append(await local(server).reply(QUESTION, Answered))
    for reply in told:
        assert reply.parsed == Answered(answer="Marie \ufffd Curie", confidence=0.9)
        assert reply.raw.text.encode()


@pytest.mark.parametrize(
    "refusal",
    [
        "response_format is not supported by this server",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "logprobs are not supported",
    ],
)
async def test_what_a_server_refuses_is_done_without_and_not_asked_for_again(refusal: str) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        refused = asked.get("logprobs") if "logprobs" in refusal else "response_format" in asked
        return (400, {"error": {"message": refusal}}) if refused else (200, completion(f"Here it is: {MARIE}"))

    with serving(reply) as server:
        model = local(server)
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
        assert len(server.asked) == 3, "once in vain"
