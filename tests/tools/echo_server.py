"""A loopback server of either protocol that repeats what it is sent, keys and all, as careless servers do in their errors."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from tests.tools.ollama_server import Quiet


def handler(status: int, heard: list[str], said: Callable[[str], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = " ".join(self.headers.get(name, "none") for name in ("Authorization", "X-Api-Key"))
            sent = f"{headers} to {self.path}, that is {unquote(self.path)}"
            if self.path.endswith("/api/show"):
                self.say(200, {"model_info": {}, "capabilities": ["completion"]})
            elif self.path.endswith("/tokenize"):
                self.say(404, {})
            else:
                heard.append(sent)
                self.say(status, self.error(sent) if status != 200 else self.reply(sent))

        def error(self, sent: str) -> object:
            long = f"{'x' * 270} {sent}"  # what is cut at some length must not be cut within a key
            return (
                {"error": f"{sent}; {long}"}
                if "/api/" in self.path
                else {"error": {"message": f"{sent}; {long}", "type": "bad", "code": 1}}
            )

        def reply(self, sent: str) -> object:
            told = {"role": "assistant", "content": said(sent)}
            if "/api/" in self.path:
                return {"model": "m", "created_at": "2024-01-01T00:00:00Z", "message": told, "done": True, "done_reason": "stop"}
            return {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "message": told, "finish_reason": "stop"}],
            }

        def say(self, code: int, body: object) -> None:
            text = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def echoing(status: int, said: Callable[[str], str] = "I was sent {}".format) -> Iterator[tuple[str, list[str]]]:
    """Give the server's host and port, and what it was sent; `said` makes a reply of that."""
    heard: list[str] = []
    listening = Quiet(("127.0.0.1", 0), handler(status, heard, said))
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    yield f"127.0.0.1:{listening.server_port}", heard
    listening.shutdown()
    listening.server_close()
