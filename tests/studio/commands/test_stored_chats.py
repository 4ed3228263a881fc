"""A conversation in the terminal that is kept: another command goes on with it, lists it, and is told what was interrupted."""

import io
import stat
from pathlib import Path

import pytest

from tests.studio.conftest import Ramify


@pytest.fixture
def memory(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'talks.db'}"


def test_another_command_resumes_it(ramify: Ramify, built: Path, memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = ("chat", "--index", built, "--strategy", "naive", "--model", "extractive", "--memory", memory, "--thread", "curie")
    monkeypatch.setattr("sys.stdin", io.StringIO("Where was Marie Curie born?\n"))
    first = ramify(*talk)
    assert (first.code, "Warsaw" in first.out, "stored as 'curie'; --thread curie resumes it" in first.err) == (0, True, True)
    monkeypatch.setattr("sys.stdin", io.StringIO("/threads\n/new\n"))
    again = ramify(*talk)
    assert "stored as 'curie', 1 question answered so far" in again.err
    assert "1 turn, naive: Where was Marie Curie born?" in again.out
    assert "with the next question, stored as '" in again.err
    listed = ramify("chat", "--memory", memory, "--threads")
    assert listed.out.startswith("curie ")


def test_without_a_place_there_is_nothing_to_go_on_with(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMIFY_MEMORY", raising=False)
    for option in (("--threads",), ("--thread", "curie")):
        refused = ramify("chat", *option)
        assert (refused.code, "give their address: --memory postgresql://HOST/DATABASE" in refused.err) == (2, True)
    refused = ramify("chat", "--memory", "talks.db")
    assert (refused.code, "is not an address for storing conversations" in refused.err) == (2, True)


def test_conversations_are_shared_when_that_is_asked_for(ramify: Ramify, memory: str, tmp_path: Path) -> None:
    assert ramify("chat", "--memory", memory, "--threads").code == 0
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    assert ramify("chat", "--memory", memory, "--threads", "--shared").code == 0
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o644}
    refused = ramify("chat", "--shared")
    assert (refused.code, "--shared is for stored conversations" in refused.err) == (2, True)
