"""Kill `ramify serve` during a stream, and check that the next server has all finished turns and continues the conversation.

    python -m tests.torture.kill_serve TIMES FOLDER

It writes a JSON line for each kill.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from plugins.serve.tests.conftest import read_events
from ramify.studio.cli import run
from tests.studio.dev_server import free_port
from tests.tools.model_process import processes
from tests.torture.outcome import TRACEBACK
from tests.torture.processes import TIMEOUT_S

POINTS = ("accepted", "tree", "result")
"""The events of a stream at which the server is killed; at `result` the turn is finished."""


def start_server(port: int, folder: Path, model: str) -> int:
    """Start a server in a child process; return its pid when it listens."""
    options = ["--port", str(port), "--strategy", "closed-book", "--model", "openai:local", "--base-url", model]
    child = os.fork()
    if not child:
        log = os.open(folder / "serve.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os._exit(run(["serve", *options, "--memory", f"sqlite:{folder / 'talks.db'}"]))
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200:
                return child
        except httpx.HTTPError:
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


def ask_until(port: int, wait_until: str = "") -> str:
    """Ask in the conversation; return the last event read, which is the named one or the stream's last."""
    body, name = {"question": "Which river runs through Paris?", "thread": "talk"}, ""
    client = httpx.Client(timeout=TIMEOUT_S, trust_env=False)
    with client, client.stream("POST", f"http://127.0.0.1:{port}/ramify/v1/ask", json=body) as response:
        for name, _ in read_events(response.iter_lines()):
            if name == wait_until:
                break
    return name


def count_turns(port: int) -> int:
    """Return the number of turns of the conversation."""
    listed = httpx.get(f"http://127.0.0.1:{port}/ramify/v1/threads", trust_env=False, timeout=TIMEOUT_S).json()["threads"]
    return sum(int(one["turns"]) for one in listed)


def run_kills(times: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Kill a server `times` times at each point, and yield the result of each."""
    folder.mkdir(parents=True)
    ended = 0
    with processes(1) as [model]:
        for _ in range(times):
            for point in POINTS:
                port = free_port()
                server = start_server(port, folder, model.address)
                found, last = count_turns(port), ask_until(port)
                ended += last == "result"
                reached = ask_until(port, point)
                os.kill(server, signal.SIGKILL)
                os.waitpid(server, 0)
                before, ended = ended - (last == "result"), ended + (point == "result")
                wrong = "" if found == before else f"the conversation has {found} turns of {before}"
                wrong = wrong or ("" if (last, reached) == ("result", point) else f"the streams ended with {last} and {reached}")
                wrong = wrong or (TRACEBACK if TRACEBACK in (folder / "serve.log").read_text() else "")
                yield {"point": f"serve, {point}", "killed": True, "wrong": wrong}


if __name__ == "__main__":
    for one in run_kills(int(sys.argv[1]), Path(sys.argv[2])):
        print(json.dumps(one), flush=True)
