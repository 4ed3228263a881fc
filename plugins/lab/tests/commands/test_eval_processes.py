"""ramify eval in processes of its own: it can be interrupted and killed, and shows on a terminal how far it is."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plugins.lab.tests.commands.eval_lines import LLAMA, lines, outcome
from plugins.lab.tests.conftest import cache, data
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.studio.test_bad_input import one_line
from tests.tools.ollama_replies import Answer, Hang, Request, Say, prompt_of
from tests.tools.ollama_server import Ollama

__all__ = ["cache", "data"]

Start = Callable[..., "subprocess.Popen[bytes]"]
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ramify.studio.cli import main; main()"
"""A shell that runs the tests in the background has them, and all that they start, ignore Ctrl-C."""


UNREPORTED = f"from ramify.lab.commands import _evaluating; _evaluating.write_report = lambda folder: None; {HEARING}"
"""Draw no report in a process either."""


@pytest.fixture
def started() -> Iterator[Start]:
    """Start `ramify` in a session of its own; what is left of it is ended with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", HEARING, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        running.append(process)
        return process

    yield start
    for process in running:
        if members(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def members(group: int) -> list[int]:
    """List the processes of a group that are still alive."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            processes.append(int(folder.name))
    return processes


def begun(ramify: Ramify, data: Path, out: Path) -> None:
    """Have all searched already that a run begins with, so that a process need not load an encoder, which takes seconds."""
    assert ramify("eval", data, "--out", out.with_name("searched"), "--retrieval-only").code == 0
    plain = [line for line in (out.with_name("searched") / "results.jsonl").open(encoding="utf-8") if json.loads(line)["variant"] == ""]
    out.mkdir()
    (out / "results.jsonl").write_text("".join(plain), encoding="utf-8")


def wait_until(holds: Callable[[], bool], seconds: float = 90) -> None:
    """Wait until something holds."""
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.05)


class Stalling:
    """Answer each question with its own number of letters; after so many answers, none at all until told to go on."""

    def __init__(self, ollama: Ollama, after: int) -> None:
        self.left: float = after
        ollama.when("", self.answer)

    def answer(self, request: Request) -> Answer:
        self.left -= 1
        return Say({"answer": str(len(prompt_of(request))), "confidence": 0.9, "citations": []}) if self.left >= 0 else Hang()

    def go_on(self) -> None:
        self.left = float("inf")


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no report in this process: that takes seconds, and is not what is looked at here."""
    monkeypatch.setattr("ramify.lab.commands._evaluating.write_report", lambda folder: None)


CALM = 12
STALLED = 5
PILOT = 5
"""Answers that come before the others, to measure the speed: one in each of two workers, then three."""


@pytest.mark.usefixtures("unreported")
@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc to see which processes are left")
@pytest.mark.parametrize(
    ("workers", "killed"),
    [
        *(
            pytest.param(
                workers,
                signal.SIGINT,
                marks=fault(
                    "processes",
                    "Ctrl-C during an evaluation",
                    sees="error: interrupted, and that it resumes",
                    kept="every finished row",
                    code=130,
                ),
            )
            for workers in (1, 2)
        ),
        pytest.param(
            2,
            signal.SIGKILL,
            marks=fault(
                "processes",
                "killed during an evaluation",
                sees="nothing; the same command resumes",
                kept="every finished row; no process is left",
                code="killed",
            ),
        ),
    ],
)
def test_a_run_resumes_after_ctrl_c_and_after_kill_9(
    ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path, started: Start, workers: int, killed: signal.Signals
) -> None:
    """What is left is half a line at most and no process; the table is that of a run that nothing has disturbed."""
    server = Stalling(ollama, CALM + STALLED)
    calm, out = tmp_path / "calm", tmp_path / "run"
    assert ramify("eval", data, "--out", calm, *LLAMA).code == 0
    begun(ramify, data, out)
    arguments = ("eval", data, "--out", out, *LLAMA, "--workers", workers, "--at-once", 2)
    process = started(*arguments)
    wait_until(lambda: server.left < -1 and len(lines(out)) == STALLED)
    assert len(members(process.pid)) >= (1 if workers == 1 else 1 + workers)
    if killed == signal.SIGINT:
        os.killpg(process.pid, killed)  # as a terminal does
        said, errors = process.communicate(timeout=90)
        assert (process.returncode, said) == (130, b"")
        assert one_line(errors.decode().splitlines()[-1] + "\n", "interrupted")
        assert b"Traceback" not in errors
    else:
        process.kill()
    wait_until(lambda: not members(process.pid), 60)
    assert len(lines(out)) == STALLED
    with (out / "results.jsonl").open("ab") as file:
        file.write(b'{"key": "rivers|closed-book||q9", "ans')
    server.go_on()
    ollama.requests.clear()
    done = ramify(*arguments[:-4])
    assert done.code == 0, done.err
    assert outcome(out) == outcome(calm)
    assert len(ollama.requests) == 12 - STALLED


@fault(
    "processes", "worker of an evaluation killed", sees="error: a worker process ended — fewer workers", kept="every finished row", code=1
)
@pytest.mark.usefixtures("unreported")
@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc to see which processes are workers")
def test_a_worker_that_is_killed_ends_the_run_and_the_other_worker_in_the_middle_of_its_work(
    ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path, started: Start
) -> None:
    """The system kills one when memory runs out."""
    server = Stalling(ollama, PILOT)
    begun(ramify, data, tmp_path / "run")
    process = started("eval", data, "--out", tmp_path / "run", *LLAMA, "--workers", 2)
    wait_until(lambda: server.left < -1)
    first, _ = sorted(member for member in members(process.pid) if b"spawn_main" in Path(f"/proc/{member}/cmdline").read_bytes())
    os.kill(first, signal.SIGKILL)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, b"")
    assert one_line(errors.decode().splitlines()[-1] + "\n", "a worker process was terminated", "--workers")
    assert b"Traceback" not in errors
    wait_until(lambda: not members(process.pid))


@pytest.mark.usefixtures("unreported")
@pytest.mark.skipif(not hasattr(pty, "openpty"), reason="there are no terminals to be had")
def test_a_terminal_shows_a_bar_with_scores_and_the_time_to_go(ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path) -> None:
    begun(ramify, data, tmp_path / "run")
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-c",
        UNREPORTED,
        "eval",
        str(data),
        "--out",
        str(tmp_path / "run"),
        *LLAMA,
    ]
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, start_new_session=True)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    assert process.wait(timeout=30) == 0
    assert process.stdout is not None
    assert b"12 answers of 1 strategy" in process.stdout.read()
    process.stdout.close()
    assert re.search(rb"\d+/12.* to go .* EM closed-book 0\.\d\d", shown)
    assert b"s an answer, measured on the first 4" in shown
