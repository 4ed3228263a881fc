"""`ramify serve` in a process of its own: what it says, and how a signal ends it."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults import fault
from tests.studio.dev_server import RAMIFY, free_port
from tests.studio.serve.conftest import INVENTOR, TIMEOUT_S, read_events
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
