"""Kills of `ramify serve` in the middle of a stream: the next server has every turn that ended, and answers on the same conversation.

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

from ramify.studio.cli import run
from tests.studio.dev_server import free_port
from tests.studio.serve.conftest import read_events
from tests.tools.model_process import processes
from tests.torture.outcome import TRACEBACK
from tests.torture.processes import PATIENCE_S

POINTS = ("accepted", "tree", "result")
"""The events of a stream at which the server is killed; at its result a turn has ended."""


def started(port: int, folder: Path, model: str) -> int:
    """Start a server in a child; return its number once it listens."""
    options = ["--port", str(port), "--strategy", "closed-book", "--model", "openai:local", "--base-url", model]
    child = os.fork()
    if not child:
        log = os.open(folder / "serve.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os._exit(run(["serve", *options, "--memory", f"sqlite:{folder / 'talks.db'}"]))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200:
                return child
        except httpx.HTTPError:
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


def ask(port: int, wait_until: str = "") -> str:
    """Ask in the conversation; return the last event read, which is the named one or the stream's last."""
    body, name = {"question": "Which river runs through Paris?", "thread": "talk"}, ""
    client = httpx.Client(timeout=PATIENCE_S, trust_env=False)
    with client, client.stream("POST", f"http://127.0.0.1:{port}/ramify/v1/ask", json=body) as response:
        for name, _ in read_events(response.iter_lines()):
            if name == wait_until:
                break
    return name


def turns(port: int) -> int:
    """Return the turns of the conversation."""
    listed = httpx.get(f"http://127.0.0.1:{port}/ramify/v1/threads", trust_env=False, timeout=PATIENCE_S).json()["threads"]
    return sum(int(one["turns"]) for one in listed)


def kills(times: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Kill a server so often at each point, and yield what came of each."""
    folder.mkdir(parents=True)
    ended = 0
    with processes(1) as [model]:
        for _ in range(times):
            for point in POINTS:
                port = free_port()
                server = started(port, folder, model.address)
                found, last = turns(port), ask(port)
                ended += last == "result"
                reached = ask(port, point)
                os.kill(server, signal.SIGKILL)
                os.waitpid(server, 0)
                before, ended = ended - (last == "result"), ended + (point == "result")
                wrong = "" if found == before else f"the conversation has {found} turns of {before}"
                wrong = wrong or ("" if (last, reached) == ("result", point) else f"the streams ended with {last} and {reached}")
                wrong = wrong or (TRACEBACK if TRACEBACK in (folder / "serve.log").read_text() else "")
                yield {"point": f"serve, {point}", "killed": True, "wrong": wrong}


if __name__ == "__main__":
    for one in kills(int(sys.argv[1]), Path(sys.argv[2])):
        print(json.dumps(one), flush=True)
