"""ramify watch in a process of its own: it tells what it indexes, and ends with Ctrl-C."""

import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.processes import started
from tests.studio.conftest import Ramify


class Watching:
    """A folder of documents, and the command that watches it."""

    def __init__(self, above: Path) -> None:
        self.folder, self._out = above / "documents", above / "index"
        self.folder.mkdir()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def started(self, *options: str | Path) -> AbstractContextManager["subprocess.Popen[str]"]:
        # A shell that runs the tests in the background has interrupts ignored; this child is to get its own.
        attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        return started([Path(sys.executable).with_name("ramify"), "watch", self.folder, "--out", self._out, *options], **attended)


@pytest.fixture
def watching(tmp_path: Path) -> Watching:
    return Watching(tmp_path)


def lines_until(process: "subprocess.Popen[str]", last: str) -> list[str]:
    """Read lines up to one that contains a text."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if last in line:
            return lines
    raise AssertionError(lines)


def test_it_indexes_what_changes_until_ctrl_c(watching: Watching) -> None:
    watching.write("oil.txt", "The oil is changed every 250 hours.")
    with watching.started() as process:
        lines_until(process, "1 file (1 added)")
        watching.write("broken.json", "{")
        lines_until(process, "(1 unchanged), 1 file skipped")
        watching.write("belt.txt", "The belt is tightened.")
        lines_until(process, "2 files (1 added, 1 unchanged)")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.count("skipped broken.json") == 1
    assert stderr.rstrip().splitlines()[-1].startswith("error: interrupted")
    assert "Traceback" not in stderr


def test_it_tells_which_answers_each_change_changes(watching: Watching, tmp_path: Path) -> None:
    watching.write("oil.txt", "The oil is changed every 250 hours.")
    tests = tmp_path / "tests.yaml"
    tests.write_text("tests:\n- question: How often is the oil changed?\n  contains: 250 hours\n", encoding="utf-8")
    with watching.started("--test", tests, "--model", "extractive") as process:
        lines_until(process, "1 passed")
        watching.write("oil.txt", "The oil is changed every 300 hours.")
        told = lines_until(process, "1 failed")
    assert any("FAILED" in line for line in told)
    assert any("250 hours" in line and "300 hours" in line for line in told)


def test_a_file_is_refused(ramify: Ramify, tmp_path: Path) -> None:
    (tmp_path / "oil.txt").write_text("Oil.", encoding="utf-8")
    refused = ramify("watch", tmp_path / "oil.txt", "--out", tmp_path / "index")
    assert refused.code == 2
    assert "give the folder" in refused.err


def test_a_missing_library_is_reported(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.serve.watching.find_spec", lambda name: None)
    refused = ramify("watch", tmp_path, "--out", tmp_path / "index")
    assert refused.code == 1
    assert "pip install 'ramify-rag[watch]'" in refused.err
