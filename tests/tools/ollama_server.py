"""A loopback server that speaks Ollama's protocol, for tests of the real client; what it says is decided by what it is asked."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.embeddings import WordEmbeddings
from tests.tools.ollama_replies import Answer, Fail, Hang, Raw, Request, Reset, Say, asked_in, example, lines

Rule = tuple[str, Callable[[Request], Answer]]


@dataclass
class Ollama:
    """The server's models, what it was asked, and how many calls it had at once."""

    address: str
    models: dict[str, int] = field(default_factory=lambda: {"llama3.1:8b": 131072})
    """Names with the context lengths they were trained for."""
    parameters: int | None = None
    """The number of weights of each."""
    thinkers: dict[str, str] = field(default_factory=dict)
    """Those of them that can think, with their families."""
    requests: list[Request] = field(default_factory=list)
    elsewhere: str = "http://127.0.0.1:9/"
    """Where its redirects lead."""
    embedded: list[str] = field(default_factory=list)
    """The texts it was given to embed."""
    busy: int = 0
    most_busy: int = 0
    wait_for: int = 0
    """Hold replies back until so many calls are in at once."""
    slots: threading.Semaphore | None = None
    """Serve so many calls at once, each for `seconds`, and tell how long each took; without, all at once and untold."""
    seconds: float = 0.0
    reports: Callable[[Request], Any] | None = None
    """What it tells of a prompt's tokens, where that is not what they are."""
    _rules: list[Rule] = field(default_factory=list)
    _change: threading.Condition = field(default_factory=threading.Condition)
    _over: threading.Event = field(default_factory=threading.Event)

    def when(self, words: str, *answers: Answer | Callable[[Request], Answer]) -> None:
        """Answer prompts that hold these words; of several answers the last is repeated."""
        left = list(answers)

        def answer(request: Request) -> Answer:
            chosen = left.pop(0) if len(left) > 1 else left[0]
            return chosen(request) if callable(chosen) else chosen

        self._rules.append((words, answer))

    def answer_to(self, request: Request) -> Answer:
        prompt = asked_in(request)
        with self._change:
            for words, answer in self._rules:
                if words in prompt:
                    return answer(request)
        return Say(example(request["format"])) if request.get("format") else Say("Hello.")

    def show(self, name: str) -> dict[str, Any]:
        thinks = {"capabilities": ["completion", "tools", "thinking"], "details": {"family": self.thinkers.get(name)}}
        capable = thinks if name in self.thinkers else {"capabilities": ["completion"]}
        sizes = {"llama.context_length": self.models[name], "general.parameter_count": self.parameters}
        return {"model_info": sizes, **capable}

    @contextmanager
    def call(self, request: Request) -> Iterator[None]:
        with self._change:
            self.requests.append(request)
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            self._change.notify_all()
            self._change.wait_for(lambda: self.most_busy >= self.wait_for or self._over.is_set(), timeout=10)
        try:
            yield
        finally:
            with self._change:
                self.busy -= 1

    def serve(self, request: Request) -> dict[str, Any]:
        """Take the time that a call takes, once a place is free for it; give the server's own figures."""
        told = {"prompt_eval_count": self.reports(request)} if self.reports else {}
        if self.slots is None:
            return told
        with self.slots:
            begun = time.monotonic()
            self._over.wait(self.seconds)
            return {**told, "prompt_eval_duration": 1000, "eval_duration": int((time.monotonic() - begun) * 1e9)}

    def wait_for_calls(self, number: int = 1) -> None:
        with self._change:
            assert self._change.wait_for(lambda: len(self.requests) >= number, timeout=60), "nobody has called"

    def hang(self) -> None:
        self._over.wait(timeout=20)

    def stop(self) -> None:
        self._over.set()


def handler(server: Ollama) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/api/tags":
                self.tell(200, {"models": [{"name": name} for name in server.models]})
            else:
                self.tell(404, {})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if request["model"] not in server.models:
                self.tell(404, {"error": f"model '{request['model']}' not found"})
            elif self.path == "/api/show":
                self.tell(200, server.show(request["model"]))
            elif self.path == "/api/chat":
                self.chat(request)
            elif self.path == "/api/embed":
                server.embedded.extend(request["input"])
                self.tell(200, {"embeddings": WordEmbeddings().embed_documents(request["input"])})

        def chat(self, request: Request) -> None:
            with server.call(request):
                answer = server.answer_to(request)
                if isinstance(answer, Hang):
                    server.hang()
                    self.close_connection = True
                elif isinstance(answer, Reset):
                    self.close_connection = True
                elif isinstance(answer, Raw):
                    self.send(200, answer.kind, answer.body, answer.cut)
                elif isinstance(answer, Fail) and answer.status > 0:
                    self.tell(answer.status, {"error": answer.message})
                else:
                    self.stream(
                        [{"error": answer.message}] if isinstance(answer, Fail) else list(lines(request, answer, server.serve(request)))
                    )

        def tell(self, status: int, body: dict[str, Any]) -> None:
            self.send(status, "application/json; charset=utf-8", json.dumps(body))

        def stream(self, parts: list[dict[str, Any]]) -> None:
            self.send(200, "application/x-ndjson", "".join(json.dumps(part) + "\n" for part in parts))

        def send(self, status: int, kind: str, body: str, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode()) + cut))
            if 300 <= status < 400:
                self.send_header("Location", server.elsewhere)
            self.end_headers()
            self.wfile.write(body.encode())
            self.close_connection = cut

    return Handler


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up is part of the tests."""


@contextmanager
def serving(port: int = 0) -> Iterator[Ollama]:
    """Serve `llama3.1:8b` at a port, a free one where none is given."""
    listening = Quiet(("127.0.0.1", port), BaseHTTPRequestHandler)
    server = Ollama(f"http://127.0.0.1:{listening.server_port}")
    listening.RequestHandlerClass = handler(server)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
    thread.start()
    yield server
    server.stop()
    listening.shutdown()
    listening.server_close()


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    """A server with `llama3.1:8b`; OLLAMA_HOST leads to it."""
    with serving() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address.removeprefix("http://"))
        yield server
