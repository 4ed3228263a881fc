"""Model servers for a load, in a process of their own: both protocols at each port, with the faults of the plan, and a log of every call.

    python -m tests.torture.model_server SEED LOG NAME…

It prints the address of each name as JSON, and serves until its standard input is closed. A question is known by its mark, "case 17",
which each reply puts into the questions that it makes; so every call of its tree has it.
"""

import json
import re
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TextIO

from tests.graphs.faulty_servers import USAGE, Faulty
from tests.tools import ollama_replies
from tests.tools.ollama_replies import Answer, Fail, Hang, Raw, Reset, Say, example
from tests.tools.ollama_server import Quiet
from tests.tools.openai_server import completion
from tests.torture.plan import Case, case

MARK = re.compile(r"case (\d+)")
ASKING = frozenset({"question", "questions", "first", "second", "entities", "primary", "sub_queries", "suggested"})
"""What a reply asks, by field."""
SECONDS = 0.01
"""Seconds that a call takes."""
PATIENCE_S = 30.0
HUGE = 3_000_000
BEGUN = time.monotonic()
STATUSES = {"400": 400, "401": 401, "413": 413, "422": 422, "429": 429, "500": 500, "503": 503}
BENT = frozenset({"trickle", "log probabilities", "usage", "429 with a time", "redirect"})
"""Faults of how a reply is sent, or of what stands beside it."""
ODD_USAGE = {"prompt_tokens": -5, "completion_tokens": 1e30, "total_tokens": "many"}
ODD_LIKELIHOODS = (0.5, -1e308, float("-inf"), 3.0)


def faulty_answer(told: Case) -> Answer | None:
    """Return what is said in place of a reply; None where the reply itself is right."""
    fault = told.fault
    if fault in STATUSES:
        return Fail(STATUSES[fault], "not like that")
    return {
        "reset": Reset(),
        "cut": Raw('{"model": "m", ', cut=True),
        "empty": Raw(""),
        "page": Raw("<html>busy</html>"),
        "wrong envelope": Raw('{"weather": "fine"}'),
        "malformed": Say("I believe that it is Paris."),
        "half": Say('{"answer": "Par'),
        "surrogate": Say('{"answer": "\\ud800", "confidence": 0.9, "citations": [1]}'),
        "hang": Hang(),
        "huge": Say('{"answer": "' + "x" * HUGE + '"}', at_once=True),
    }.get(fault)


@dataclass
class Server:
    """A port: the questions that called there, and the calls under way."""

    name: str
    seed: int
    log: TextIO
    cases: dict[int, Faulty] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    under_way: set[socket.socket] = field(default_factory=set)

    def answer(self, form: str | None, schema: Any, text: str) -> tuple[Answer, str]:
        """Return what is said to a call, and the fault of how it is sent; empty for none."""
        marks = MARK.findall(text)
        number = int(marks[-1]) if marks else -1
        told = case(self.seed, max(number, 0))
        with self.lock:
            faulty = self.cases.setdefault(number, Faulty(lambda call, name: faulty_answer(told) if told.befalls(call, name) else None))
            try:
                said = faulty.answer(form)
            except (KeyError, IndexError):  # what the river's model was never asked
                said = Say(example(schema) if schema else "Hello.")
            call, prompt = len(faulty.requests), faulty.requests[-1]
            befallen = told.befalls(call, prompt)
            if isinstance(said, Say) and isinstance(said.content, dict):
                simple = schema and (self.seed + number + call) % 4 == 0
                said = Say(marked(example(schema) if simple else said.content, f" in case {number}"))
            entry = {
                "second": round(time.monotonic() - BEGUN, 2),
                "server": self.name,
                "case": number,
                "call": call,
                "prompt": prompt,
                "fault": told.fault if befallen else "",
            }
            self.log.write(json.dumps({**entry, "busy": self.busy()}) + "\n")
        return said, told.fault if befallen and told.fault in BENT else ""

    @contextmanager
    def call(self, connection: socket.socket) -> Iterator[None]:
        """Count a call as under way."""
        with self.lock:
            self.under_way.add(connection)
        try:
            yield
        finally:
            with self.lock:
                self.under_way.discard(connection)

    def busy(self) -> int:
        """Count the calls under way whose client is still there."""
        return sum(not gone(one) for one in self.under_way)


def marked(value: Any, mark: str, name: str = "") -> Any:
    """Put the mark behind each question of a reply."""
    if isinstance(value, dict):
        return {key: marked(inner, mark, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner, mark, name) for inner in value]
    return f"{value}{mark}" if isinstance(value, str) and value and name in ASKING else value


def gone(connection: socket.socket) -> bool:
    """Tell whether the other end has closed a connection."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):
        return True


class Handler(BaseHTTPRequestHandler):
    """Speak Ollama's protocol below /api, OpenAI's below /v1."""

    protocol_version = "HTTP/1.1"
    server: "Port"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """List the models."""
        self.tell(200, json.dumps({"data": [{"id": "local"}], "models": [{"name": "llama3.1:8b"}], "version": "0.30.0"}))

    def do_POST(self) -> None:
        """Answer a call."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self.tell(200, json.dumps({"model_info": {"llama.context_length": 131072}, "capabilities": ["completion"]}))
            return
        openai = self.path.startswith("/v1")
        form = (request.get("response_format") or {}).get("json_schema", {}) if openai else request.get("format") or {}
        name, schema = (form.get("name"), form.get("schema")) if openai else (form.get("title"), form)
        text = "\n".join(str(message["content"]) for message in request["messages"])
        with self.server.calls.call(self.connection):
            said, bent = self.server.calls.answer(name, schema, text)
            if isinstance(said, Hang):
                select.select([self.connection], [], [], PATIENCE_S)
            else:
                time.sleep(SECONDS)
        self.reply(request, said, bent, openai)

    def reply(self, request: dict[str, Any], said: Answer, bent: str, openai: bool) -> None:
        """Send what is said."""
        if isinstance(said, Hang | Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif isinstance(said, Fail):
            error = {"error": {"message": said.message}} if openai else {"error": said.message}
            self.tell(said.status, json.dumps(error))
        elif bent == "429 with a time":
            self.tell(429, '{"error": "slowly"}', headers={"Retry-After": "1"})
        elif bent == "redirect":
            self.tell(302, "", headers={"Location": "http://127.0.0.1:9/"})
        elif isinstance(said, Raw):
            self.tell(200, said.body, cut=said.cut)
        else:
            body = _openai_body(request, said, bent) if openai else _ollama_body(request, said, bent)
            self.tell(200, body, slow=bent == "trickle", headers={"Content-Type": "text/event-stream"} if request.get("stream") else None)

    def tell(self, status: int, body: str, cut: bool = False, slow: bool = False, headers: dict[str, str] | None = None) -> None:
        """Send a response; with `cut` less than is promised, with `slow` bit by bit."""
        written = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(written) + cut), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        step = -(-len(written) // 20) if slow else len(written)
        for start in range(0, len(written), step or 1):
            self.wfile.write(written[start : start + step])
            self.wfile.flush()
            time.sleep(0.05 * slow)
        self.close_connection = self.close_connection or cut


def _openai_body(request: dict[str, Any], said: Say, bent: str) -> str:
    tokens = [{"token": f"t{n}", "logprob": value, "bytes": None, "top_logprobs": []} for n, value in enumerate(ODD_LIKELIHOODS)]
    body = completion(said.text, usage=ODD_USAGE if bent == "usage" else USAGE)
    if bent == "log probabilities":
        body["choices"][0]["logprobs"] = {"content": tokens}
    if not request.get("stream"):
        return json.dumps(body)
    choice, usage = body["choices"][0], body.pop("usage")
    head = {**body, "object": "chat.completion.chunk"}
    parts = [said.text[start : start + 40] for start in range(0, min(len(said.text), 4000), 40)] + [said.text[4000:]]
    deltas = [{"index": 0, "delta": {"role": "assistant", "content": part}, "logprobs": choice["logprobs"]} for part in parts if part]
    told = [*deltas, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    lines = [{**head, "choices": [one]} for one in told] + [{**head, "choices": [], "usage": usage}]
    return "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"


def _ollama_body(request: dict[str, Any], said: Say, bent: str) -> str:
    odd = iter(ODD_LIKELIHOODS * 1000)
    figures = {"prompt_eval_count": -5, "eval_count": 1.5} if bent == "usage" else {}
    told = Say(said.content, sure=lambda piece: next(odd)) if bent == "log probabilities" else said
    return "".join(json.dumps(line) + "\n" for line in ollama_replies.lines(request, told, figures))


class Port(Quiet):
    """A listening port."""

    calls: Server


def main(seed: str, log: str, *names: str) -> None:
    """Serve until the standard input is closed."""
    addresses = {}
    with open(log, "w", encoding="utf-8", buffering=1) as file:
        for name in names:
            port = Port(("127.0.0.1", 0), Handler)
            port.calls = Server(name, int(seed), file)
            threading.Thread(target=port.serve_forever, daemon=True).start()
            addresses[name] = f"http://127.0.0.1:{port.server_port}"
        print(json.dumps(addresses), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
