"""`ramify serve` as a command: what it says, what it refuses, and how it ends."""

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

from ramify.studio.commands import serve as command
from tests.studio.conftest import Ramify
from tests.studio.dev_server import RAMIFY, free_port
from tests.studio.serve.conftest import INVENTOR, PATIENCE, events_of
from tests.tools.ollama_server import Hang, Ollama


@contextmanager
def started(folder: Path, *options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command and yield it with its address, once it says that."""
    given = ["serve", "--port", str(free_port()), *options]
    attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # a shell in the background ignores interrupts
    variables = {**os.environ, "COLUMNS": "400", **environment}
    process: Any = subprocess.Popen([RAMIFY, *given], cwd=folder, env=variables, stderr=subprocess.PIPE, text=True, **attended)
    try:
        said = process.stderr.readline()
        address = re.search(r"http://[\d.:]+", said)
        assert address, said
        yield process, address[0]
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_running_answers_with_a_last_event(sign: signal.Signals, ollama: Ollama, tmp_path: Path) -> None:
    ollama.when("", Hang())
    options = ["--model", "ollama:llama3.1:8b", "--strategy", "closed-book", "--memory", f"sqlite:{tmp_path / 'talks.db'}"]
    with started(tmp_path, *options) as (process, address):
        asked: list[tuple[str, Any]] = []

        def ask() -> None:
            with (
                httpx.Client(timeout=PATIENCE, trust_env=False) as client,
                client.stream("POST", f"{address}/ramify/v1/ask", json={"question": INVENTOR, "thread": "new"}) as response,
            ):
                asked.extend(events_of(response.iter_lines()))

        asking = threading.Thread(target=ask)
        asking.start()
        ollama.wait_for_calls()
        process.send_signal(sign)
        asking.join(PATIENCE)
        assert process.wait(PATIENCE) == 0
        assert (asked[-1][0], asked[-1][1]["kind"]) == ("error", "stopped")
        assert process.stderr is not None
        assert process.stderr.read() == "the server has stopped; its conversations are stored\n"


def test_a_host_that_others_reach_needs_a_token(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMIFY_SERVE_TOKEN", raising=False)
    for host in ("0.0.0.0", "::", "192.168.1.5"):
        done = ramify("serve", "--host", host)
        assert done.code == 2
        assert "can be reached from other machines, and there is no token — set RAMIFY_SERVE_TOKEN, or give --token" in done.err


def test_a_token_may_stand_in_the_environment_alone(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMIFY_SERVE_TOKEN", "ada:ada-has-a-secret ben:short")
    done = ramify("serve", "--host", "127.0.0.1", "--port", free_port())
    assert (done.code, done.out) == (2, "")
    assert "the token of 'ben' is no secret" in done.err


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--index", "nowhere"), 1, "there is no index in"),
        (("--strategy", "other"), 2, "there is no strategy 'other'"),
        (("--set", "kk=1"), 2, "has no setting 'kk'"),
        (("--model", "gguf:/etc/hostname"), 1, "'/etc/hostname' cannot be run"),
        (("--memory", "file.db"), 2, "is no place to keep conversations"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_served(ramify: Ramify, options: tuple[str, ...], code: int, told: str) -> None:
    done = ramify("serve", "--port", free_port(), *options)
    assert done.code == code
    assert told in done.err


def test_without_its_libraries_it_says_how_to_install_them(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "NEEDED", ("starlette", "no_such_package.inside"))
    done = ramify("serve")
    assert done.code == 1
    assert "run `pip install 'ramify-rag[serve]'`" in done.err
