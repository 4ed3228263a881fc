"""A loopback server that speaks OpenAI's protocol as far as it is told to, for tests of the real client."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.tools.ollama_replies import Hang, Raw, Reset
from tests.tools.ollama_server import Quiet

Reply = tuple[int, Any] | Raw | Reset | Hang
"""A status, and a body: a text as it is, anything else as JSON."""


@dataclass
class OpenAI:
    """What the server was asked, and what it says at each path; a path that is not there is a 404."""

    address: str
    paths: dict[str, Callable[[dict[str, Any]], Reply]] = field(default_factory=dict)
    elsewhere: str = "http://127.0.0.1:9/"
    """Where its redirects lead."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the calls for a reply."""


def completion(content: Any = "{}", **changed: Any) -> dict[str, Any]:
    """A reply as the protocol has it, but for what is changed."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}, "logprobs": None}
    usage = {"prompt_tokens": 300, "completion_tokens": 5, "total_tokens": 305}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage, **changed}


@contextmanager
def serving(reply: Callable[[dict[str, Any]], Reply], **paths: Callable[[dict[str, Any]], Reply]) -> Iterator[OpenAI]:
    """Serve; `reply` answers calls, other paths are given by name (`v1_models`)."""
    listening = Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server = OpenAI(f"http://127.0.0.1:{listening.server_port}/v1", {f"/{name.replace('_', '/')}": told for name, told in paths.items()})
    server.paths["/v1/chat/completions"] = reply
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/chat/completions":
                server.asked.append(body)
            self.tell(body)

        def do_GET(self) -> None:
            self.tell({})

        def tell(self, body: dict[str, Any]) -> None:
            told = server.paths.get(self.path)
            reply = told(body) if told else (404, {"error": {"message": "no such path"}})
            if isinstance(reply, Hang):
                over.wait(timeout=20)
            if isinstance(reply, Reset | Hang):
                self.close_connection = True
                return
            status, said = (200, reply.body) if isinstance(reply, Raw) else reply
            cut = isinstance(reply, Raw) and reply.cut
            written = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(said, str) and said.startswith("<") else "application/json")
            self.send_header("Content-Length", str(len(written) + cut))
            if 300 <= status < 400:
                self.send_header("Location", server.elsewhere)
            self.end_headers()
            self.wfile.write(written)
            self.close_connection = cut

    listening.RequestHandlerClass = Handler
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    try:
        yield server
    finally:
        over.set()
        listening.shutdown()
        listening.server_close()
