"""Requests in the chat protocols: what is refused, and once; what is ignored; and requests that load a model."""

from typing import Any

import httpx
import ollama as ollama_client
import openai
import pytest

from plugins.serve.tests.conftest import BORN, TIMEOUT_S, Running, Serve
from tests.faults import fault

MODEL = "demo/prune"
GERMAN = "Wer hat den Kugelschreiber erfunden?"
QUESTION = {"role": "user", "content": BORN}
PNG = "iVBORw0KGgo="


def post(server: Running, path: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json={"model": MODEL, **body}, timeout=TIMEOUT_S, trust_env=False)


def part(kind: str, **values: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": BORN}, {"type": kind, **values}]}]


@fault("servers", "question in a language that the embedded model cannot read", sees="what to do", kept="it is sent once", code=400)
@pytest.mark.parametrize(
    "question", [GERMAN, "¿Quién inventó el bolígrafo y dónde nació?", "볼펜은 누가 발명했습니까?", "Кто изобрёл ручку?"]
)
@pytest.mark.parametrize("strategy", ["prune", "naive", "iterative"])
def test_a_question_that_the_model_cannot_read_is_sent_once(serve: Serve, question: str, strategy: str) -> None:
    requests: list[httpx.Request] = []
    server = serve()
    watched = httpx.Client(event_hooks={"request": [requests.append]}, trust_env=False)
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", http_client=watched) as client,
        pytest.raises(openai.BadRequestError, match="does not look like English"),
    ):
        client.chat.completions.create(model=f"demo/{strategy}", messages=[{"role": "user", "content": question}])
    assert len(requests) == 1
    with pytest.raises(ollama_client.ResponseError, match="name a language model") as refused:
        ollama_client.Client(server.url).chat(f"demo/{strategy}", [{"role": "user", "content": question}])
    assert refused.value.status_code == 400
    name, error = server.ask(question, strategy=strategy)[-1]
    assert (name, error["kind"]) == ("error", "usage")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("/api/chat", {"messages": [{**QUESTION, "images": [PNG]}]}, "images"),
    ("/api/chat", {"messages": [{**QUESTION, "images": [PNG]}, {"role": "assistant", "content": "A pen."}, QUESTION]}, "images"),
    ("/api/chat", {"messages": [{"role": "user", "content": "", "images": [PNG]}]}, "images"),
    ("/api/generate", {"prompt": BORN, "images": [PNG]}, "images"),
    ("/api/generate", {"images": [PNG]}, "images"),
    ("/api/generate", {"prompt": " "}, "the question is empty"),
    ("/api/generate", {"prompt": 5}, "prompt=5"),
    ("/api/chat", {"messages": [{"role": "system", "content": "Be brief."}]}, "the role 'system'"),
    ("/api/chat", {"messages": "Who?"}, "messages='Who?'"),
    ("/v1/chat/completions", {"messages": [{**QUESTION, "images": [PNG]}]}, "images"),
    ("/v1/chat/completions", {"messages": part("image_url", image_url={"url": f"data:image/png;base64,{PNG}"})}, "'image_url'"),
    ("/v1/chat/completions", {"messages": part("input_audio", input_audio={"data": PNG, "format": "wav"})}, "'input_audio'"),
    ("/v1/chat/completions", {"messages": part("file", file={"file_id": "a"})}, "'file'"),
    ("/v1/chat/completions", {"messages": part("text_of_an_image")}, "'text_of_an_image'"),
    ("/v1/chat/completions", {"messages": part("x" * 100_000)}, "has a part of type"),
    ("/v1/chat/completions", {"messages": [QUESTION, {"role": "tool", "content": "5"}]}, "the role 'tool'"),
    ("/v1/chat/completions", {"messages": [{"role": "robot", "content": "a"}, QUESTION]}, "the role 'robot'"),
    ("/v1/chat/completions", {"messages": [{"role": "", "content": "a"}, QUESTION]}, "the role ''"),
    ("/v1/chat/completions", {"messages": [{"role": "User", "content": BORN}]}, "the role 'User'"),
    ("/v1/chat/completions", {"messages": [{"role": 5, "content": BORN}]}, "messages.0.role=5"),
    ("/v1/chat/completions", {"messages": [{"role": "x" * 100_000, "content": BORN}]}, "has the role"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": 5}]}, "content"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": {"text": BORN}}]}, "content"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": [BORN]}]}, "content"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": ""}]}, "the question is empty"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": None}]}, "the question is empty"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": []}]}, "the question is empty"),
    ("/v1/chat/completions", {"messages": [{"role": "user"}]}, "the question is empty"),
    ("/v1/chat/completions", {"messages": []}, "there are no messages"),
    ("/v1/chat/completions", {"messages": None}, "messages=None"),
    ("/v1/chat/completions", {"messages": [QUESTION], "n": 3}, "n=3"),
    ("/v1/chat/completions", {"messages": [QUESTION], "n": 0}, "n=0"),
    ("/v1/chat/completions", {"messages": [QUESTION], "stream": "soon"}, "stream='soon'"),
    ("/v1/responses", {"input": [{**QUESTION, "content": [{"type": "input_image", "image_url": "a"}]}]}, "'input_image'"),
    ("/v1/responses", {"input": ""}, "the question is empty"),
    ("/v1/responses", {"input": []}, "there are no messages"),
    ("/v1/responses", {"input": BORN, "previous_response_id": "resp_1"}, "previous_response_id"),
]


@fault("servers", "chat request with images, sound, odd roles or content", sees="what is not read", kept="it is sent once", code=400)
@pytest.mark.parametrize(("path", "body", "expected"), REFUSED)
def test_what_is_not_read_is_refused(serve: Serve, path: str, body: dict[str, Any], expected: str) -> None:
    answer = post(serve(), path, **body)
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"] if path.startswith("/api") else answer.json()["error"]["message"]
    assert expected in message
    assert " — " in message
    assert len(message) < 600


@pytest.mark.parametrize(
    "body",
    [
        {"logprobs": True, "top_logprobs": 3},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}], "tool_choice": "auto"},
        {"response_format": {"type": "json_object"}, "modalities": ["text", "audio"], "audio": {"voice": "a"}},
        {"temperature": 2, "max_tokens": 1, "stop": ["a"], "seed": 1, "n": None},
        {"messages": [{"role": "developer", "content": "Be brief."}, {"role": "tool", "content": "5", "tool_call_id": "a"}, QUESTION]},
    ],
)
def test_options_of_a_language_model_are_ignored(serve: Serve, body: dict[str, Any]) -> None:
    answer = post(serve(), "/v1/chat/completions", **{"messages": [QUESTION], **body})
    assert answer.status_code == 200, answer.text
    assert "Budapest" in answer.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("keep_alive", "reason"), [(None, "load"), ("5m", "load"), (-1, "load"), (60, "load"), (0, "unload"), ("0", "unload"), ("0s", "unload")]
)
def test_a_request_without_a_question_loads_the_model(serve: Serve, keep_alive: Any, reason: str) -> None:
    server, given = serve(), {} if keep_alive is None else {"keep_alive": keep_alive}
    for path, body in (("/api/chat", {"messages": []}), ("/api/chat", {}), ("/api/generate", {"prompt": ""}), ("/api/generate", {})):
        answer = post(server, path, **body, **given)
        assert (answer.status_code, answer.json()["done"], answer.json()["done_reason"]) == (200, True, reason)
        assert post(server, path, **{**body, "model": "other"}).status_code == 404
    client = ollama_client.Client(server.url)
    assert client.chat(MODEL, [], **given).message.content == ""
    assert client.generate(MODEL, "", **given).response == ""


def test_a_single_question_is_answered(serve: Serve) -> None:
    client = ollama_client.Client(serve().url)
    whole = client.generate(MODEL, BORN)
    assert "Budapest" in whole.response
    parts = list(client.generate(MODEL, BORN, stream=True, think=True))
    assert "".join(part.response or "" for part in parts).strip() == whole.response
    assert any(part.thinking for part in parts)
    assert parts[-1].done_reason == "stop"
