"""What is asked of a server about itself: in time, whole, and without holding up what is asked of another."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from ramify.tools.checks import checkup
from ramify.tools.errors import ModelError
from ramify.tools.models import ModelOptions, ollama, resolve
from ramify.tools.models import server_questions as served
from ramify.tools.models.caches import Lookup
from ramify.tools.models.tokens import estimate
from tests.tools.ollama_server import Ollama, Quiet
from tests.tools.ollama_server import ollama as ollama_server
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
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
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
            resolve("ollama:llama3.1:8b", ModelOptions(base_url=address))
        monkeypatch.setenv("OLLAMA_HOST", address)
        model = auto()
    assert model.name == "extractive"
    assert any("does not answer as Ollama does" in notice for notice in model.notices)


@pytest.mark.parametrize("told", [None, [], 7, {"llama.context_length": None}, {"llama.context_length": 0}, {"llama.context_length": "x"}])
def test_an_odd_context_length_is_none(told: Any) -> None:
    with answering(body=json.dumps({"model_info": told})) as address:
        assert resolve("ollama:llama3.1:8b", ModelOptions(base_url=address)).num_ctx == 8192


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "PATIENCE", 0.3)
    monkeypatch.setattr(served, "PATIENCE", 0.3)


@pytest.mark.usefixtures("impatient")
def test_a_trickling_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(body="{", drop=b" ") as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert auto().name == "extractive"
        assert checkup.LOOKS["ollama"]().state == "note"
        assert resolve("openai:local", ModelOptions(base_url=f"{address}/v1")).count is estimate


@pytest.mark.parametrize("body", ["", "[]", "null", '{"models": null}', '{"models": [7]}', '{"models": [{}]}', "<html>"])
def test_what_is_not_ollama_is_a_note_of_the_doctors(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(body=body) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert checkup.LOOKS["ollama"]().found == f"what answers at {address} is not Ollama"


@pytest.mark.parametrize("body", ["", "[]", "null", "{", '{"tokens": 7}', "<html>"])
def test_an_odd_count_is_an_estimate(body: str) -> None:
    with answering(body=body) as address:
        assert resolve("openai:local", ModelOptions(base_url=f"{address}/v1")).count is estimate


def test_a_healthy_server_does_not_wait_for_a_hanging_one(ollama_server: Ollama) -> None:
    with answering(body="{", drop=b" ") as hanging, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(resolve, "ollama:llama3.1:8b", ModelOptions(base_url=hanging))
        assert resolve("ollama:llama3.1:8b", ModelOptions()).name == "ollama:llama3.1:8b"
        assert not waiting.done()
        with pytest.raises(ModelError, match="no Ollama server answers"):
            waiting.result()


def test_one_look_for_all_who_ask_at_once() -> None:
    lookup: Lookup[int] = Lookup(2)
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
