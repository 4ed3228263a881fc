"""`ramify serve` in a process of its own: what it says, and how a signal ends it."""

import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import INVENTOR, TIMEOUT_S, read_events
from tests.faults import fault
from tests.studio.dev_server import RAMIFY, free_port
from tests.tools.ollama_server import Hang, Ollama

_ADDRESS = r"http://[\d.:]+"


@contextmanager
def started(folder: Path, *options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command and yield it with its address, once it says that."""
    given = ["serve", "--port", str(free_port()), *options]
    attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # a shell in the background ignores interrupts
    variables = {**os.environ, "COLUMNS": "400", **environment}
    process: Any = subprocess.Popen([RAMIFY, *given], cwd=folder, env=variables, stderr=subprocess.PIPE, text=True, **attended)
    try:
        said = next((line for line in process.stderr if re.search(_ADDRESS, line)), "")
        address = re.search(_ADDRESS, said)
        assert address, said
        yield process, address[0]
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


@fault("processes", "SIGTERM or Ctrl-C during a stream", sees="a last event: the server is being stopped", kept="the conversations")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
@fault(
    "servers",
    "SIGTERM or Ctrl-C while answers run",
    sees="each stream ends with one event that says so",
    kept="the turns answered before",
    code=0,
)
def test_a_signal_ends_running_answers_with_a_last_event(sign: signal.Signals, ollama: Ollama, tmp_path: Path) -> None:
    ollama.when("", Hang())
    options = ["--model", "ollama:llama3.1:8b", "--strategy", "closed-book", "--memory", f"sqlite:{tmp_path / 'talks.db'}"]
    with started(tmp_path, *options) as (process, address):
        asked: list[tuple[str, Any]] = []

        def ask() -> None:
            with (
                httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client,
                client.stream("POST", f"{address}/ramify/v1/ask", json={"question": INVENTOR, "thread": "new"}) as response,
            ):
                asked.extend(read_events(response.iter_lines()))

        asking = threading.Thread(target=ask)
        asking.start()
        ollama.wait_for_calls()
        process.send_signal(sign)
        asking.join(TIMEOUT_S)
        assert process.wait(TIMEOUT_S) == 0
        assert (asked[-1][0], asked[-1][1]["kind"]) == ("error", "stopped")
        assert process.stderr is not None
        assert process.stderr.read() == "the server has stopped; its conversations are stored\n"


@fault(
    "servers",
    "SIGTERM while the model's server does not answer and a request is half sent",
    sees="the stream ends with one event that says so",
    kept="the conversations",
    code=0,
)
def test_a_signal_does_not_wait_for_threads_or_half_sent_requests(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # what connects to it waits until its own time limit
        model_server = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with started(tmp_path, "--model", "ollama:llama3.1:8b", OLLAMA_HOST=model_server) as (process, address):
            url = httpx.URL(address)
            with (
                socket.create_connection((url.host, url.port)) as half,
                httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client,
                client.stream("POST", f"{address}/ramify/v1/ask", json={"question": INVENTOR}) as response,
            ):
                half.sendall(b"POST /ramify/v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n")
                half.sendall(b'Content-Length: 100\r\n\r\n{"question": ')
                events = read_events(response.iter_lines())
                assert next(events)[0] == "accepted"
                process.send_signal(signal.SIGTERM)
                [(name, error)] = [event for event in events if event[0] != "tree"]
                assert (name, error["kind"]) == ("error", "stopped")
                assert process.wait(TIMEOUT_S) == 0
                assert half.recv(1) == b""
                assert process.stderr is not None
                assert process.stderr.read() == "the server has stopped; its conversations are stored\n"
