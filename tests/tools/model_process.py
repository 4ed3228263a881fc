"""A model's server as a process of its own, which can be killed: it speaks OpenAI's protocol and takes a fixed time for a call.

    python -m tests.tools.model_process PORT SECONDS AT_ONCE LAST

Replies are the simplest values of the schemas asked for. Its list of models is vLLM's; `/calls` tells how many it has served.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.tools.ollama_replies import example
from tests.tools.ollama_server import Quiet
from tests.tools.openai_server import completion

NAME = "local"
WINDOW = 8192


def serve(port: int, seconds: float, at_once: int, last: int) -> None:
    """Serve until killed, which it does itself before it replies to the `last` call."""
    places, calls = threading.Semaphore(at_once), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self.tell(200, {"data": [{"id": NAME, "owned_by": "vllm", "max_model_len": WINDOW}]})
            else:
                self.tell(200, calls[0])

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                self.tell(404, {"error": {"message": "no such path"}})
                return
            with places:
                time.sleep(seconds)
            calls[0] += 1
            if calls[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)
            form = asked.get("response_format", {}).get("json_schema", {}).get("schema")
            read = sum(len(message["content"].split()) + 5 for message in asked["messages"])
            usage = {"prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5}
            self.tell(200, completion(json.dumps(example(form)) if form else "Hello.", usage=usage))

        def tell(self, status: int, said: Any) -> None:
            written = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

    listening = Quiet(("127.0.0.1", port), Handler)
    print(listening.server_port, flush=True)
    listening.serve_forever()


@dataclass
class ModelProcess:
    """A running server, or one that was killed."""

    seconds: float = 0.0
    at_once: int = 1
    port: int = 0
    process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> int:
        """How many calls it has served since it was started."""
        with urlopen(f"http://127.0.0.1:{self.port}/calls", timeout=10) as told:
            return int(told.read())

    def start(self, last: int = 0) -> None:
        """Start it, at the port that it had before; it dies of its `last` call."""
        command = [sys.executable, "-m", "tests.tools.model_process", str(self.port), str(self.seconds), str(self.at_once), str(last)]
        self.process = subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@contextmanager
def processes(number: int, seconds: float = 0.0, at_once: int = 1) -> Iterator[list[ModelProcess]]:
    """Run so many servers."""
    servers = [ModelProcess(seconds, at_once) for _ in range(number)]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.kill()


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
