"""Ctrl-C ends a command at once, whatever its threads are loading, and promises only what is so."""

import sys
from pathlib import Path
from signal import SIGINT

import pytest

from tests.faults import fault
from tests.processes import started
from tests.studio.conftest import Ramify
from tests.tools.ollama_server import Ollama

LOADING = """
import os, signal, threading
from ramify.studio.cli import main
from ramify.tools.search import searcher

def load_for_ever(index):
    os.write(1, b"loading\\n")  # whole, whatever another thread writes
    threading.Event().wait()

searcher.open_index = load_for_ever
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
main()
"""
"""A command whose index is never opened."""
IMPORTING = """
import os, signal, sys, threading
from importlib.metadata import entry_points

class Slow:
    def find_spec(self, name, *_):
        if name == "ramify.studio.cli":
            os.write(1, b"importing\\n")
            threading.Event().wait()

sys.meta_path.insert(0, Slow())
signal.signal(signal.SIGINT, signal.default_int_handler)
[command] = entry_points(group="console_scripts", name="ramify")
command.load()()
"""
"""A command whose modules are never imported."""
LLAMA = ("--strategy", "naive", "--model", "ollama:llama3.1:8b")


@fault("processes", "Ctrl-C while something loads", sees="error: interrupted", kept="nothing was started", code=130)
@pytest.mark.parametrize(("command", "threads"), [(("ask", "Who?", *LLAMA), 2), (("search", "Who?"), 1)])
def test_ctrl_c_waits_for_no_thread_that_loads(ollama: Ollama, command: tuple[str, ...], threads: int) -> None:
    """One thread loads in the background, another one where the index is needed."""
    with started([sys.executable, "-c", LOADING, *command]) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(threads)] == ["loading\n"] * threads
        process.send_signal(SIGINT)
        _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, "error: interrupted\n")


@fault("processes", "Ctrl-C while modules are imported", sees="error: interrupted", kept="nothing was started", code=130)
def test_ctrl_c_while_modules_are_imported() -> None:
    with started([sys.executable, "-c", IMPORTING]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(SIGINT)
        _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, "error: interrupted\n")


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "command", "resumed"),
    [
        ("ramify.graphs.run.ask", ("ask", "Who?"), False),
        ("ramify.tools.search.searcher.open_index", ("search", "Who?"), False),
        ("ramify.tools.index.index.Index.build", ("index", ".", "--out", "new"), True),
    ],
)
def test_only_resumable_commands_print_that_they_resume(
    ramify: Ramify, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, command: tuple[str, ...], resumed: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(place, interrupted)
    done = ramify(*command)
    assert (done.code, done.out, done.err.count("\n")) == (130, "", 1)
    assert done.err.startswith("error: interrupted")
    assert ("run the command again" in done.err) == resumed
