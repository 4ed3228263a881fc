"""A terminal whose encoding lacks characters, and a process that gets no memory: one line, and no traceback."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramify.studio import entry
from tests.faults import fault

RAMIFY = str(Path(sys.executable).parent / "ramify")
INVENTOR = "Who is the inventor of the ballpoint pen?"


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **options.pop("environment", {})}
    return subprocess.run([RAMIFY, *arguments], capture_output=True, check=False, timeout=300, env=environment, **options)


@fault("interfaces", "encoding of the terminal that lacks characters", sees="escapes in their place", kept="the answer")
@pytest.mark.parametrize(
    ("encoding", "arguments", "code"),
    [
        ("ascii", ("ask", INVENTOR, "--model", "extractive", "--tree"), 0),
        ("cp437", ("settings", "prune"), 0),
        ("latin-1", ("graph", "prune"), 0),
        ("cp1252", ("settings", "tor"), 0),
        ("ascii:strict", ("ask", ""), 2),
    ],
)
def test_output_is_written_in_any_encoding(encoding: str, arguments: tuple[str, ...], code: int) -> None:
    done = run(*arguments, environment={"PYTHONIOENCODING": encoding})
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False)
    assert done.stdout or code


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_json_stays_json(encoding: str) -> None:
    done = run("ask", INVENTOR, "--model", "extractive", "--json", environment={"PYTHONIOENCODING": encoding})
    text = done.stdout.decode("utf-8" if encoding == "ascii" else encoding)  # the library of the command line writes UTF-8 for ASCII
    assert json.loads(text)["answer"] == "L\u00e1szl\u00f3 B\u00edr\u00f3"


@fault(
    "interfaces", "process without enough memory", sees="one line: close other programs, or raise the limit", kept="nothing changes", code=1
)
def test_a_process_without_memory_ends_with_one_line() -> None:
    limit = 50_000 * 1024
    done = run("search", "ballpoint", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    lines = done.stderr.decode().splitlines()
    assert "Traceback" not in done.stderr.decode()
    if done.returncode < 0:
        pytest.skip("a library ended the process")
    assert (done.returncode, len(lines)) == (1, 1)
    assert lines[0].startswith("error: ")
    assert " — " in lines[0]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libtorch.so: failed to map segment from shared object"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
        RuntimeError("can't start new thread"),
        RuntimeError("std::bad_alloc"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("is_cause", [False, True])
def test_a_lack_of_memory_is_recognized(
    error: Exception, is_cause: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Exited(BaseException):
        """In place of the end of the process."""

    def fail() -> None:
        if is_cause:
            raise ValueError("something else") from error
        raise error

    def leave(code: int) -> None:
        assert code == 1
        raise Exited

    monkeypatch.setattr(entry, "_run", fail)
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(Exited):
        entry.main()
    assert capfd.readouterr().err.startswith("error: there is not enough memory — ")


def test_other_errors_are_not_taken_for_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a fault of ramify")

    monkeypatch.setattr(entry, "_run", fail)
    with pytest.raises(ZeroDivisionError):
        entry.main()
