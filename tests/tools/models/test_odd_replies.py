"""Whatever comes in the place of a reply, with the real clients: the call fails alone, or the reply is kept."""

import json
from typing import Any

import pytest

from ramify.tools.errors import ModelError, ReplyError
from ramify.tools.models import Model, ModelOptions, resolve
from ramify.tools.models.confidence import span_confidence
from tests.tools.ollama_replies import Raw, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import OpenAI, Reply, completion, serving
from tests.tools.questions import GOOD, QUESTION, Answered, fresh

__all__ = ["fresh", "ollama"]

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
    return resolve("openai:local", ModelOptions(base_url=server.address, **options))


@pytest.mark.parametrize("body", [*NO_STREAM, json.dumps(LINE)[:-20]])
async def test_no_reply_of_ollamas_is_asked_for_again_and_then_fails_the_call(ollama: Ollama, body: str) -> None:
    ollama.when("polonium", Raw(body))
    with pytest.raises(ReplyError, match=r"ollama:llama3\.1:8b at .* — "):
        await resolve("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert len(ollama.requests) == 3


@pytest.mark.parametrize("answer", [Raw(""), Raw(PAGE, "text/html"), Raw(json.dumps(LINE)[:40]), Raw(json.dumps(LINE) + "\n", cut=True)])
async def test_a_garbled_reply_of_ollamas_may_pass(ollama: Ollama, answer: Raw) -> None:
    ollama.when("polonium", answer, Say(GOOD))
    reply = await resolve("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
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
        pytest.raises(ModelError, match="check that base_url is the address of such a server"),
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
    reply = await resolve("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert span_confidence(reply.raw, "answer") is None


@pytest.mark.parametrize("half", ["\ud83d", "\\ud83d"])
async def test_half_a_character_is_replaced_and_the_answer_kept(ollama: Ollama, half: str) -> None:
    said = f'{{"answer": "Marie {half} Curie", "confidence": 0.9}}'
    ollama.when("polonium", Say(said, at_once=True, sure=None))
    told = [(await resolve("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered))]
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
