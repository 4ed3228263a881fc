"""Model servers for the load, in their own process: both protocols on each port, with the faults of the plan, and a log of every call.

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
from tests.torture.plan import Case, draw_case

MARK = re.compile(r"case (\d+)")
QUESTION_FIELDS = frozenset({"question", "questions", "first", "second", "entities", "primary", "sub_queries", "suggested"})
"""Fields of replies that contain questions."""
CALL_SECONDS = 0.01
"""Duration of a call."""
HANG_TIMEOUT_S = 30.0
HUGE_REPLY_CHARS = 3_000_000
STARTED_AT = time.monotonic()
STATUSES = {"400": 400, "401": 401, "413": 413, "422": 422, "429": 429, "500": 500, "503": 503}
TRANSPORT_FAULTS = frozenset({"trickle", "log probabilities", "usage", "429 with a time", "redirect"})
"""Faults in the transport or metadata of a reply, not in its text."""
ODD_USAGE = {"prompt_tokens": -5, "completion_tokens": 1e30, "total_tokens": "many"}
ODD_LIKELIHOODS = (0.5, -1e308, float("-inf"), 3.0)


def faulty_answer(case: Case) -> Answer | None:
    """Return the faulty answer that replaces a reply; None if the text of the reply is correct."""
    fault = case.fault
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
        "huge": Say('{"answer": "' + "x" * HUGE_REPLY_CHARS + '"}', at_once=True),
    }.get(fault)


@dataclass
class Server:
    """State of a port: its questions and its open calls."""

    name: str
    seed: int
    log: TextIO
    cases: dict[int, Faulty] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    open_calls: set[socket.socket] = field(default_factory=set)

    def answer(self, form: str | None, schema: Any, text: str) -> tuple[Answer, str]:
        """Return the answer to a call, and its transport fault; empty for none."""
        marks = MARK.findall(text)
        number = int(marks[-1]) if marks else -1
        case = draw_case(self.seed, max(number, 0))
        with self.lock:
            faulty = self.cases.setdefault(number, Faulty(lambda call, name: faulty_answer(case) if case.is_affected(call, name) else None))
            try:
                answer = faulty.answer(form)
            except (KeyError, IndexError):  # a prompt that the river model does not know
                answer = Say(example(schema) if schema else "Hello.")
            call, prompt = len(faulty.requests), faulty.requests[-1]
            affected = case.is_affected(call, prompt)
            if isinstance(answer, Say) and isinstance(answer.content, dict):
                simple = schema and (self.seed + number + call) % 4 == 0
                answer = Say(add_mark(example(schema) if simple else answer.content, f" in case {number}"))
            entry = {
                "second": round(time.monotonic() - STARTED_AT, 2),
                "server": self.name,
                "case": number,
                "call": call,
                "prompt": prompt,
                "fault": case.fault if affected else "",
            }
            self.log.write(json.dumps({**entry, "busy": self.count_open_calls()}) + "\n")
        return answer, case.fault if affected and case.fault in TRANSPORT_FAULTS else ""

    @contextmanager
    def call(self, connection: socket.socket) -> Iterator[None]:
        """Count a call as open for the block."""
        with self.lock:
            self.open_calls.add(connection)
        try:
            yield
        finally:
            with self.lock:
                self.open_calls.discard(connection)

    def count_open_calls(self) -> int:
        """Return the number of open calls whose client is connected."""
        return sum(not is_closed(one) for one in self.open_calls)


def add_mark(value: Any, mark: str, name: str = "") -> Any:
    """Return a reply with the mark appended to each of its questions."""
    if isinstance(value, dict):
        return {key: add_mark(inner, mark, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [add_mark(inner, mark, name) for inner in value]
    return f"{value}{mark}" if isinstance(value, str) and value and name in QUESTION_FIELDS else value


def is_closed(connection: socket.socket) -> bool:
    """Return whether the other end has closed a connection."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):
        return True


class Handler(BaseHTTPRequestHandler):
    """Handles Ollama's protocol below /api and OpenAI's below /v1."""

    protocol_version = "HTTP/1.1"
    server: "Port"

    def log_message(self, format: str, *args: object) -> None:
        """Suppress the log."""

    def do_GET(self) -> None:
        """List the models."""
        self.send_body(200, json.dumps({"data": [{"id": "local"}], "models": [{"name": "llama3.1:8b"}], "version": "0.30.0"}))

    def do_POST(self) -> None:
        """Answer a call."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self.send_body(200, json.dumps({"model_info": {"llama.context_length": 131072}, "capabilities": ["completion"]}))
            return
        openai = self.path.startswith("/v1")
        form = (request.get("response_format") or {}).get("json_schema", {}) if openai else request.get("format") or {}
        name, schema = (form.get("name"), form.get("schema")) if openai else (form.get("title"), form)
        text = "\n".join(str(message["content"]) for message in request["messages"])
        with self.server.calls.call(self.connection):
            answer, transport_fault = self.server.calls.answer(name, schema, text)
            if isinstance(answer, Hang):
                select.select([self.connection], [], [], HANG_TIMEOUT_S)
            else:
                time.sleep(CALL_SECONDS)
        self.reply(request, answer, transport_fault, openai)

    def reply(self, request: dict[str, Any], answer: Answer, transport_fault: str, openai: bool) -> None:
        """Send an answer."""
        if isinstance(answer, Hang | Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif isinstance(answer, Fail):
            error = {"error": {"message": answer.message}} if openai else {"error": answer.message}
            self.send_body(answer.status, json.dumps(error))
        elif transport_fault == "429 with a time":
            self.send_body(429, '{"error": "slowly"}', headers={"Retry-After": "1"})
        elif transport_fault == "redirect":
            self.send_body(302, "", headers={"Location": "http://127.0.0.1:9/"})
        elif isinstance(answer, Raw):
            self.send_body(200, answer.body, cut=answer.cut)
        else:
            body = _openai_body(request, answer, transport_fault) if openai else _ollama_body(request, answer, transport_fault)
            self.send_body(
                200,
                body,
                slow=transport_fault == "trickle",
                headers={"Content-Type": "text/event-stream"} if request.get("stream") else None,
            )

    def send_body(self, status: int, body: str, cut: bool = False, slow: bool = False, headers: dict[str, str] | None = None) -> None:
        """Send a response; with `cut` shorter than its Content-Length, with `slow` in small pieces."""
        content = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content) + cut), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        step = -(-len(content) // 20) if slow else len(content)
        for start in range(0, len(content), step or 1):
            self.wfile.write(content[start : start + step])
            self.wfile.flush()
            time.sleep(0.05 * slow)
        self.close_connection = self.close_connection or cut


def _openai_body(request: dict[str, Any], answer: Say, transport_fault: str) -> str:
    tokens = [{"token": f"t{n}", "logprob": value, "bytes": None, "top_logprobs": []} for n, value in enumerate(ODD_LIKELIHOODS)]
    body = completion(answer.text, usage=ODD_USAGE if transport_fault == "usage" else USAGE)
    if transport_fault == "log probabilities":
        body["choices"][0]["logprobs"] = {"content": tokens}
    if not request.get("stream"):
        return json.dumps(body)
    choice, usage = body["choices"][0], body.pop("usage")
    head = {**body, "object": "chat.completion.chunk"}
    parts = [answer.text[start : start + 40] for start in range(0, min(len(answer.text), 4000), 40)] + [answer.text[4000:]]
    deltas = [{"index": 0, "delta": {"role": "assistant", "content": part}, "logprobs": choice["logprobs"]} for part in parts if part]
    choices = [*deltas, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    lines = [{**head, "choices": [one]} for one in choices] + [{**head, "choices": [], "usage": usage}]
    return "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"


def _ollama_body(request: dict[str, Any], answer: Say, transport_fault: str) -> str:
    odd = iter(ODD_LIKELIHOODS * 1000)
    figures = {"prompt_eval_count": -5, "eval_count": 1.5} if transport_fault == "usage" else {}
    reply = Say(answer.content, sure=lambda piece: next(odd)) if transport_fault == "log probabilities" else answer
    return "".join(json.dumps(line) + "\n" for line in ollama_replies.lines(request, reply, figures))


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
