"""ramify watch in a process of its own: it tells what it indexes, and ends with Ctrl-C."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studio.conftest import Ramify


def test_it_indexes_what_changes_until_ctrl_c(tmp_path: Path) -> None:
    folder, out = tmp_path / "documents", tmp_path / "index"
    folder.mkdir()
    (folder / "oil.txt").write_text("The oil is changed every 250 hours.", encoding="utf-8")
    command = [Path(sys.executable).with_name("ramify"), "watch", folder, "--out", out]
    # A shell that runs the tests in the background has interrupts ignored; this child is to get its own.
    attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **attended) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert "1 documents (1 added)" in watching.stdout.readline()
        (folder / "broken.json").write_text("{", encoding="utf-8")
        assert "(1 unchanged), 1 file skipped" in watching.stdout.readline()
        (folder / "belt.txt").write_text("The belt is tightened.", encoding="utf-8")
        assert "2 documents (1 added, 1 unchanged)" in watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        stderr = watching.stderr.read()
    assert watching.returncode == 130
    assert stderr.count("skipped broken.json") == 1
    assert stderr.rstrip().splitlines()[-1].startswith("error: interrupted")
    assert "Traceback" not in stderr


def test_it_tells_which_answers_each_change_changes(tmp_path: Path) -> None:
    folder, out, tests = tmp_path / "documents", tmp_path / "index", tmp_path / "tests.yaml"
    folder.mkdir()
    (folder / "oil.txt").write_text("The oil is changed every 250 hours.", encoding="utf-8")
    tests.write_text("tests:\n- question: How often is the oil changed?\n  contains: 250 hours\n", encoding="utf-8")
    command = [Path(sys.executable).with_name("ramify"), "watch", folder, "--out", out, "--test", tests, "--model", "extractive"]
    attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **attended) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        assert "1 passed" in watching.stdout.readline()
        (folder / "oil.txt").write_text("The oil is changed every 300 hours.", encoding="utf-8")
        watching.stdout.readline()
        told = [watching.stdout.readline() for _ in range(6)]
        watching.send_signal(signal.SIGINT)
    assert "FAILED" in told[0]
    assert any("250 hours" in line and "300 hours" in line for line in told)
    assert any("1 failed" in line for line in told)


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
