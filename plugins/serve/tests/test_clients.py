"""The protocols, spoken by the clients that others use: openai, ollama, litellm and llm."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import ollama as ollama_client
import openai
import pytest

from plugins.serve.tests.conftest import BORN, FOLLOW_UP, INVENTOR, Running, Serve, wait_until
from tests.faults import fault
from tests.tools.ollama_server import Fail, Hang, Ollama

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
TOKEN = "ada-has-a-secret"
MODEL = "demo/prune"


def chat_message(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


@pytest.fixture
def server(serve: Serve) -> Running:
    return serve(tokens=[f"ada:{TOKEN}", "ben:ben-has-another"])


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, max_retries=0) as made:
        yield made


@pytest.fixture
def of_ollama(server: Running) -> Iterator[ollama_client.Client]:
    with ollama_client.Client(server.url, headers={"Authorization": f"Bearer {TOKEN}"}) as made:
        yield made


class TestOpenAI:
    def test_a_collection_and_a_strategy_are_a_model(self, client: openai.OpenAI, server: Running) -> None:
        names = [model.id for model in client.models.list()]
        assert names[0] == MODEL
        assert {"demo/tor", "demo/naive", "demo/closed-book"} < set(names)
        assert "demo/global" not in names, "it has no reports"
        assert client.models.retrieve("demo/tor").id == "demo/tor"

    def test_an_answer_has_footnotes_citations_and_its_cost(self, client: openai.OpenAI) -> None:
        done: Any = client.chat.completions.create(model=MODEL, messages=[chat_message(BORN)])  # type: ignore[list-item]
        message = done.choices[0].message
        short, text, notes = message.content.split("\n\n")
        assert short == "**Budapest**"
        assert "[^1]" in text
        assert [note.partition(":")[0] for note in notes.splitlines()] == ["[^1]", "[^2]"]
        assert [(citation["number"], citation["id"]) for citation in message.citations] == [(1, "ballpoint-pen"), (2, "laszlo-biro")]
        assert done.citations == message.citations
        assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens > 0
        assert (done.choices[0].finish_reason, done.ramify["calls"]) == ("stop", 3)
        assert 0 < done.ramify["confidence"] < 1

    def test_the_tree_comes_as_reasoning_before_the_text(self, client: openai.OpenAI) -> None:
        asked: Any = {"model": MODEL, "messages": [chat_message(BORN)]}
        *chunks, last = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
        deltas = [chunk.choices[0].delta for chunk in chunks]
        thought = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
        text = [delta.content or "" for delta in deltas]
        assert max(at for at, piece in enumerate(thought) if piece) < min(at for at, piece in enumerate(text) if piece)
        assert "0.1 In which city was László Bíró born?\n0.1 → Budapest" in "".join(thought)
        whole: Any = client.chat.completions.create(**asked)
        assert "".join(text).strip() == whole.choices[0].message.content
        assert chunks[-1].choices[0].finish_reason == "stop"
        assert chunks[-1].citations == whole.citations
        assert last.usage is not None
        assert last.usage.total_tokens == whole.usage.total_tokens

    @pytest.mark.parametrize("stream", [False, True])
    def test_earlier_messages_are_what_a_follow_up_refers_to(self, client: openai.OpenAI, stream: bool) -> None:
        asked: Any = [chat_message("You are helpful.", "system"), chat_message(INVENTOR)]
        if stream:
            parts = client.chat.completions.create(model=MODEL, messages=asked, stream=True)
            content = "".join(part.choices[0].delta.content or "" for part in parts)
        else:
            content = client.chat.completions.create(model=MODEL, messages=asked).choices[0].message.content or ""
        asked += [chat_message(content, "assistant"), {"role": "user", "content": [{"type": "text", "text": FOLLOW_UP}]}]
        done = client.chat.completions.create(model=MODEL, messages=asked)
        assert (done.choices[0].message.content or "").startswith("**Budapest**")

    def test_a_question_that_asks_whom_it_means_is_answered_by_a_question(self, client: openai.OpenAI) -> None:
        done = client.chat.completions.create(model=MODEL, messages=[chat_message(FOLLOW_UP)])  # type: ignore[list-item]
        assert (done.choices[0].message.content or "").startswith("Who is meant by 'he'?")

    @fault(
        "servers",
        "wrong token, model or body, in OpenAI's protocol",
        sees="an error in that protocol",
        kept="the server continues",
        code="401, 404, 400",
    )
    def test_an_invalid_token_model_or_body_is_an_openai_error(self, client: openai.OpenAI, server: Running) -> None:
        def create(**given: Any) -> Any:
            return client.chat.completions.create(**{"model": MODEL, "messages": [chat_message(BORN)], **given})

        with (
            openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as stranger,
            pytest.raises(openai.AuthenticationError) as refused,
        ):
            stranger.models.list()
        assert refused.value.code == "invalid_api_key"
        with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-4' on this server: choose one of demo/prune") as missing:
            create(model="gpt-4")
        assert missing.value.code == "model_not_found"
        for wrong in (
            {"messages": []},
            {"messages": [chat_message("Yes.", "assistant")]},
            {"n": 2},
            {"messages": "Who?"},
            {"messages": [chat_message(" ")]},
        ):
            with pytest.raises(openai.BadRequestError) as malformed:
                create(**wrong)
            assert malformed.value.type == "invalid_request_error"
        picture = {"type": "image_url", "image_url": {"url": "http://a.example/b.png"}}
        with pytest.raises(openai.BadRequestError, match="'text' only"):
            create(messages=[{"role": "user", "content": [picture]}])

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_model_that_cannot_be_asked_is_an_error(self, serve: Serve, ollama: Ollama, stream: bool) -> None:
        ollama.when("", Fail(500, "out of memory"))
        with (
            openai.OpenAI(base_url=f"{serve(model='ollama:llama3.1:8b').url}/v1", api_key="none", max_retries=0) as client,
            pytest.raises(openai.APIError, match="out of memory"),
        ):
            list(client.chat.completions.create(model="demo/closed-book", messages=[chat_message(BORN)], stream=stream))  # type: ignore[call-overload]

    @pytest.mark.parametrize("stream", [False, True])
    @fault(
        "servers",
        "client that disconnects, in OpenAI's protocol",
        sees="nothing: its question is cancelled",
        kept="the server continues",
        code=0,
    )
    def test_a_client_that_goes_away_stops_its_question(self, serve: Serve, ollama: Ollama, stream: bool) -> None:
        ollama.when("", Hang())
        server = serve(model="ollama:llama3.1:8b")
        body = json.dumps({"model": "demo/closed-book", "messages": [chat_message(BORN)], "stream": stream})
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as line:
            line.sendall(f"{head}{body}".encode())
            ollama.wait_for_calls()
            assert server.service.questions.count == 1
        wait_until(lambda: server.service.questions.count == 0)


class TestOllama:
    def test_models_are_listed_and_described(self, of_ollama: ollama_client.Client) -> None:
        assert of_ollama.list().models[0].model == f"{MODEL}:latest"
        assert of_ollama.ps().models[0].model == f"{MODEL}:latest"
        details = of_ollama.show(MODEL)
        assert details.capabilities == ["completion", "thinking"]
        assert details.modelinfo is not None
        assert details.modelinfo["ramify.strategy"] == "prune"

    def test_the_tree_comes_as_thinking_before_the_text(self, of_ollama: ollama_client.Client) -> None:
        whole = of_ollama.chat(f"{MODEL}:latest", messages=[chat_message(BORN)])
        assert whole.done
        assert whole.message.content is not None
        assert whole.message.content.startswith("**Budapest**")
        assert whole.eval_count
        *parts, last = of_ollama.chat(MODEL, messages=[chat_message(BORN)], stream=True)
        assert "0.1 → Budapest" in "".join(part.message.thinking or "" for part in parts)
        assert "".join(part.message.content or "" for part in parts).strip() == whole.message.content
        assert last.done
        assert not [
            part for part in of_ollama.chat(MODEL, messages=[chat_message(BORN)], stream=True, think=False) if part.message.thinking
        ]

    def test_earlier_messages_are_what_a_follow_up_refers_to(self, of_ollama: ollama_client.Client) -> None:
        content = of_ollama.chat(MODEL, messages=[chat_message(INVENTOR)]).message.content or ""
        done = of_ollama.chat(MODEL, messages=[chat_message(INVENTOR), chat_message(content, "assistant"), chat_message(FOLLOW_UP)])
        assert (done.message.content or "").startswith("**Budapest**")

    def test_a_wrong_token_model_or_message_is_an_error(self, of_ollama: ollama_client.Client, server: Running) -> None:
        with ollama_client.Client(server.url) as stranger, pytest.raises(ollama_client.ResponseError, match="requires a token"):
            stranger.list()
        with pytest.raises(ollama_client.ResponseError, match="there is no model 'llama3'") as missing:
            of_ollama.chat("llama3", messages=[chat_message(BORN)])
        assert missing.value.status_code == 404
        with pytest.raises(ollama_client.ResponseError, match="the question is empty"):
            of_ollama.chat(MODEL, messages=[chat_message("")])

    def test_a_model_that_cannot_be_asked_is_an_error_in_a_stream_too(self, serve: Serve, ollama: Ollama) -> None:
        ollama.when("", Fail(500, "out of memory"))
        url = serve(model="ollama:llama3.1:8b").url
        with ollama_client.Client(url) as client, pytest.raises(ollama_client.ResponseError, match="out of memory"):
            list(client.chat("demo/closed-book", messages=[chat_message(BORN)], stream=True))

    def test_what_its_client_passes_over_is_in_the_reply(self, server: Running) -> None:
        given = {"model": MODEL, "messages": [chat_message(BORN)], "stream": False}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        reply = httpx.post(f"{server.url}/api/chat", json=given, headers=headers, timeout=60, trust_env=False).json()
        assert [citation["id"] for citation in reply["citations"]] == ["ballpoint-pen", "laszlo-biro"]
        assert reply["ramify"]["calls"] == 3

    def test_the_version_is_one_that_clients_accept(self, server: Running) -> None:
        reply = httpx.get(f"{server.url}/api/version", headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False).json()
        assert tuple(map(int, reply["version"].split("."))) >= (0, 6, 4)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("ollama_chat", "")])
def test_litellm_reads_both(server: Running, name: str, path: str, stream: bool) -> None:
    import litellm

    given: Any = {"api_base": f"{server.url}{path}", "api_key": TOKEN, "messages": [chat_message(INVENTOR)], "stream": stream}
    done: Any = litellm.completion(model=f"{name}/{MODEL}", **given)
    text = "".join(part.choices[0].delta.content or "" for part in done) if stream else done.choices[0].message.content
    assert text.startswith("**László Bíró**")
    litellm.in_memory_llm_clients_cache.flush_cache()  # it keeps connections, to a server that ends now


@pytest.mark.parametrize("options", [(), ("--no-stream",)])
def test_llm_asks_a_model_that_its_settings_name(server: Running, tmp_path: Path, options: tuple[str, ...]) -> None:
    model = {"model_id": "pens", "model_name": MODEL, "api_base": f"{server.url}/v1", "api_key_name": "ramify"}
    (tmp_path / "extra-openai-models.yaml").write_text(json.dumps([model]), encoding="utf-8")
    (tmp_path / "keys.json").write_text(json.dumps({"ramify": TOKEN}), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("llm")), "-m", "pens", *options, INVENTOR]
    alone = {**os.environ, "LLM_USER_PATH": str(tmp_path), "LLM_LOAD_PLUGINS": ""}  # a plugin for another library may lie beside it
    done = subprocess.run(command, capture_output=True, text=True, env=alone, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("**László Bíró**")
    assert "[^1]: Ballpoint pen" in done.stdout
