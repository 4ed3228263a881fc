"""The real development server, started as a user starts it, in a folder and on a port of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from ramify import embedded, formats, graphs, lab, nodes, prompts, serve, stores, studio, tools
from ramify.tools.demo import demo_index

RAMIFY = str(Path(sys.executable).parent / "ramify")
TIMEOUT_S = 120.0
"""Seconds for the server to start on a busy machine."""


class DevServer(NamedTuple):
    """A running server: where it answers, and what it says."""

    url: str
    process: subprocess.Popen[bytes]
    said: Path

    def log(self) -> str:
        """Read what it has said so far, without colours."""
        return re.sub(r"\x1b\[\d+m", "", self.said.read_text(encoding="utf-8"))

    def complaints(self) -> list[str]:
        """List its warnings that concern our code."""
        return complaints(self.log())


TROUBLE = re.compile(r"deserializ|allowed_msgpack|BlockingError|blocking call|never awaited|Slow graph", re.IGNORECASE)
FOLDERS = [
    folder for package in (tools, prompts, nodes, graphs, studio, embedded, formats, lab, serve, stores) for folder in package.__path__
]
WARNED = re.compile(rf"(?:{'|'.join(re.escape(folder) for folder in FOLDERS)})/[^:]*\.py:\d+: \w*Warning")
"""A warning that Python gives for a file of ours: of other packages' we are not the ones to mend anything, wherever they are installed."""


def complaints(log: str) -> list[str]:
    """List the warnings that concern our code: of what is read from checkpoints, of what blocks the loop, of what is deprecated."""
    return [line for line in log.splitlines() if TROUBLE.search(line) or WARNED.search(line)]


@contextmanager
def dev_server(folder: Path, port: int | None = None, *options: str, **environment: str) -> Iterator[DevServer]:
    """Start `ramify studio` with these options and wait until it answers; at the end interrupt it as Ctrl-C does."""
    port = port or free_port()
    said = folder / "said.txt"
    with said.open("wb") as log:
        command = [RAMIFY, "studio", "--port", str(port), *options]
        inherited = _environment(folder) | environment
        process = subprocess.Popen(command, cwd=folder, env=inherited, stdout=log, stderr=subprocess.STDOUT)
    server = DevServer(f"http://127.0.0.1:{port}", process, said)
    try:
        _wait(server)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        finally:
            process.kill()


def free_port() -> int:
    """Find a port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _environment(folder: Path) -> dict[str, str]:
    """Nothing that leads outside; a cache of its own that has the demo index; Python's warnings shown."""
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    if not (known := cache / demo_index().name).exists():
        known.symlink_to(demo_index())
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LANGGRAPH", "LANGSMITH", "LANGCHAIN"))}
    return {
        **kept,
        "RAMIFY_CACHE": str(cache),
        "OLLAMA_HOST": "127.0.0.1:9",
        "PYTHONWARNINGS": "default",
        "LANGSMITH_API_KEY": "not-to-be-used",
    }


def _wait(server: DevServer) -> None:
    for _ in range(int(TIMEOUT_S / 0.1)):
        if server.process.poll() is not None:
            break
        try:
            if httpx.get(f"{server.url}/ok", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"the server does not answer:\n{server.log()}")
