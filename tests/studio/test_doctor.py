"""ramify doctor: what it looks at, and what it makes of it."""

from pathlib import Path

import pytest

from ramify.studio import checkup
from ramify.studio.checkup import Check
from ramify.tools.errors import ModelError
from tests.studio.conftest import Ramify
from tests.tools.ollama_server import Ollama


def test_everything_is_here(ramify: Ramify, nowhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    done = ramify("doctor")
    assert done.code == 0
    assert all(name in done.out for name in checkup.LOOKS)
    assert "auto takes extractive" in done.out
    assert "ollama serve" in done.out
    assert str(tmp_path) in done.out
    assert "Traceback" not in done.err


def test_what_is_broken_is_told_with_its_remedy(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Check:
        raise ModelError("the weights are gone", "reinstall them")

    monkeypatch.setattr(checkup, "LOOKS", {"encoder": broken})
    done = ramify("doctor")
    assert done.code == 1
    assert all(words in done.out for words in ("broken: encoder", "the weights are gone", "reinstall them"))


def test_a_model_that_is_here_is_taken(ollama: Ollama) -> None:
    assert checkup.LOOKS["model"]().found == "auto takes ollama:llama3.1:8b"
