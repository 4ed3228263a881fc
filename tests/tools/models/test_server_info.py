"""What is asked of a server about itself: in time, whole, and without holding up what is asked of another."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from ramify.nodes.asking.language_model import fit_prompt
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.prompts.answer import ANSWER
from ramify.tools import checkup
from ramify.tools.errors import ModelError
from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models import server_info as served
from ramify.tools.models.named import LookupCache
from ramify.tools.models.tokens import estimate_tokens
from tests.tools.ollama_server import Ollama, Quiet
from tests.tools.ollama_server import ollama as ollama_server
from tests.tools.openai_server import completion, serving
from tests.tools.questions import auto, fresh

__all__ = ["fresh", "ollama_server"]

OVER = threading.Event()


@contextmanager
def answering(status: int = 200, body: str = "", drop: bytes = b"") -> Iterator[str]:
    """A server with one answer to everything; `drop` follows it, again and again, for ever."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))  # what is left unread cuts the answer off
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())
            while drop and not over.wait(0.02):
                self.wfile.write(drop)
                self.wfile.flush()

        do_POST = do_GET

    over = threading.Event()
    listening = Quiet(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        over.set()
        listening.shutdown()
        listening.server_close()


@pytest.mark.parametrize("body", ["", "[]", "null", "7", '"text"', "{", "<html>", "[" * 100_000])
def test_an_odd_answer_is_not_ollamas_and_auto_falls_back(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(body=body) as address:
        with pytest.raises(ModelError, match="does not answer as Ollama does"):
            resolve_model("ollama:llama3.1:8b", ModelOptions(base_url=address))
        monkeypatch.setenv("OLLAMA_HOST", address)
        model = auto()
    assert model.name == "extractive"
    assert any("does not answer as Ollama does" in notice for notice in model.notices)


@pytest.mark.parametrize("told", [None, [], 7, {"llama.context_length": None}, {"llama.context_length": 0}, {"llama.context_length": "x"}])
def test_an_odd_context_length_is_none(told: Any) -> None:
    with answering(body=json.dumps({"model_info": told})) as address:
        assert resolve_model("ollama:llama3.1:8b", ModelOptions(base_url=address)).num_ctx == 8192


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "OLLAMA_TIMEOUT_S", 0.3)
    monkeypatch.setattr(served, "INFO_TIMEOUT_S", 0.3)


@pytest.mark.usefixtures("impatient")
def test_a_trickling_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(body="{", drop=b" ") as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert auto().name == "extractive"
        assert checkup.CHECKS["ollama"]().state == "note"
        assert resolve_model("openai:local", ModelOptions(base_url=f"{address}/v1")).count is estimate_tokens


@pytest.mark.parametrize("body", ["", "[]", "null", '{"models": null}', '{"models": [7]}', '{"models": [{}]}', "<html>"])
def test_what_is_not_ollama_is_a_note_of_the_doctors(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(body=body) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert checkup.CHECKS["ollama"]().found == f"what answers at {address} is not Ollama"


@pytest.mark.parametrize("body", ["", "[]", "null", "{", '{"tokens": 7}', "<html>"])
def test_an_odd_count_is_an_estimate(body: str) -> None:
    with answering(body=body) as address:
        assert resolve_model("openai:local", ModelOptions(base_url=f"{address}/v1")).count is estimate_tokens


def test_a_healthy_server_does_not_wait_for_a_hanging_one(ollama_server: Ollama) -> None:
    with answering(body="{", drop=b" ") as hanging, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(resolve_model, "ollama:llama3.1:8b", ModelOptions(base_url=hanging))
        assert resolve_model("ollama:llama3.1:8b", ModelOptions()).name == "ollama:llama3.1:8b"
        assert not waiting.done()
        with pytest.raises(ModelError, match="no Ollama server answers"):
            waiting.result()


def test_one_look_for_all_who_ask_at_once() -> None:
    lookup: LookupCache[int] = LookupCache(2)
    looks: list[int] = []
    begun = threading.Event()

    def look() -> int:
        looks.append(1)
        begun.wait(5)
        if len(looks) == 1:
            raise ModelError("not there", "start it")
        return 7

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(lookup.get, "a", look) for _ in range(4)]
        begun.set()
        failed = [isinstance(each.exception(), ModelError) for each in asked]
    assert any(failed)
    assert lookup.get("a", look) == lookup.get("a", look) == 7, "a failure is not remembered"
    assert len(looks) <= 5


VLLM = {"id": "local", "owned_by": "vllm", "max_model_len": 2048}
OTHER = {"id": "other", "owned_by": "vllm", "max_model_len": 1024}
LLAMACPP = {"id": "/models/local.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 4096}}


@pytest.mark.parametrize(
    ("listed", "props", "expected"),
    [
        ({"data": [OTHER, VLLM]}, {}, 2048),
        ({"data": [{**VLLM, "max_model_len": 1_000_000}]}, {}, 8192),
        ({"data": [{**OTHER, "id": "renamed"}]}, {}, 1024),
        ({"data": [OTHER, OTHER]}, {}, 8192),
        ({"data": [LLAMACPP]}, {"default_generation_settings": {"n_ctx": 512}}, 512),
        ({"data": [LLAMACPP]}, {"default_generation_settings": None}, 4096),
        ({"data": [LLAMACPP]}, [], 4096),
        ({"data": [{"id": "local"}]}, {}, 8192),
        ({"data": [{**VLLM, "max_model_len": "x"}]}, {}, 8192),
        ({"data": [{**VLLM, "max_model_len": 0}]}, {}, 8192),
        ({"data": [None, 7, []]}, {}, 8192),
        ({"data": None}, {}, 8192),
        ([], {}, 8192),
        ("<html>", {}, 8192),
    ],
)
def test_the_window_is_no_larger_than_the_servers(listed: Any, props: Any, expected: int) -> None:
    with serving(lambda asked: (200, completion()), v1_models=lambda _: (200, listed), props=lambda _: (200, props)) as server:
        model = resolve_model("openai:local", ModelOptions(base_url=server.address))
    assert model.num_ctx == expected


@pytest.mark.parametrize(
    ("meta", "expected"), [({"n_params": 1_543_714_304}, 1_543_714_304), ({"n_params": "many"}, None), ({}, None), (7, None)]
)
def test_the_number_of_weights_is_what_the_server_tells(meta: Any, expected: int | None) -> None:
    with serving(lambda _: (200, completion()), v1_models=lambda _: (200, {"data": [{**LLAMACPP, "meta": meta}]})) as server:
        model = resolve_model("openai:local", ModelOptions(base_url=server.address))
    assert model.parameters == expected


# --- Counting


def words(asked: dict[str, Any]) -> tuple[int, Any]:
    """vLLM's answer, with a token for each word."""
    tokens = list(range(len(asked["prompt"].split())))
    return 200, {"count": len(tokens), "max_model_len": 2048, "tokens": tokens, "token_strs": None}


def test_tokens_are_counted_by_the_servers_tokenizer_and_a_text_once() -> None:
    asked: list[dict[str, Any]] = []

    def tokenize(request: dict[str, Any]) -> tuple[int, Any]:
        asked.append(request)
        return words(request)

    with serving(lambda _: (200, completion()), tokenize=tokenize) as server:
        model = resolve_model("openai:local", ModelOptions(base_url=server.address))
        assert [model.count("one two three") for _ in range(3)] == [3, 3, 3]
    assert [request["prompt"] for request in asked].count("one two three") == 1
    assert {request["model"] for request in asked} == {"local"}
    assert {request["add_special_tokens"] for request in asked} == {False}


def test_passages_that_do_not_fit_cost_few_counts() -> None:
    counted: list[str] = []

    def tokenize(request: dict[str, Any]) -> tuple[int, Any]:
        counted.append(request["prompt"])
        return words(request)

    passages = tuple(Passage(id=f"p{n}", text=f"{n} {'word ' * 40}", source="a.txt", score=1 - n / 100) for n in range(60))
    settings = Settings(num_ctx=2048, num_predict=200, context_tokens=100_000)
    with serving(lambda _: (200, completion()), v1_models=lambda _: (200, {"data": [VLLM]}), tokenize=tokenize) as server:
        model = resolve_model("openai:local", ModelOptions(base_url=server.address, num_ctx=2048, num_predict=200))
        request = fit_prompt(ANSWER, passages, {"question": "Who discovered polonium?"}, settings, model)
        more = fit_prompt(ANSWER, passages[: len(request.shown) + 1], {"question": "Who discovered polonium?"}, settings, model)
    assert [passage.id for passage in request.shown] == [f"p{n}" for n in range(len(request.shown))]
    assert 10 < len(request.shown) == len(more.shown) < 60, "as many as fit"
    assert len([text for text in counted if "<passage" in text]) < 20
