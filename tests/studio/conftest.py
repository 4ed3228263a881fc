"""The command line in this process, and what it is asked about."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ramify.studio.cli import run
from ramify.studio.server.bounds import (
    ASSISTANTS_VARIABLE,
    BASE_URLS_VARIABLE,
    DEFAULT_INDEX_VARIABLE,
    INDEX_ADDRESSES_VARIABLE,
    INDEX_FOLDERS_VARIABLE,
    MODEL_FILES_VARIABLE,
    PROFILE_VARIABLE,
    RERANK_ADDRESSES_VARIABLE,
    RERANKERS_VARIABLE,
)
from tests.tools.ollama_server import ollama

__all__ = ["ollama"]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Ramify = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each test without an operator's declarations, and take back those that it makes."""
    for name in (
        INDEX_FOLDERS_VARIABLE,
        INDEX_ADDRESSES_VARIABLE,
        DEFAULT_INDEX_VARIABLE,
        BASE_URLS_VARIABLE,
        MODEL_FILES_VARIABLE,
        PROFILE_VARIABLE,
        RERANKERS_VARIABLE,
        RERANK_ADDRESSES_VARIABLE,
        ASSISTANTS_VARIABLE,
    ):
        monkeypatch.setenv(name, "")


@pytest.fixture
def ramify(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ramify:
    """Run a command line; wide, so that no line is broken."""
    monkeypatch.setenv("COLUMNS", "400")

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """An address at which nothing listens, and OLLAMA_HOST leads there."""
    address = "http://127.0.0.1:9"
    monkeypatch.setenv("OLLAMA_HOST", address)
    return address


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few good files, and some that cannot be read."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "curie.txt").write_text("Marie Curie was a physicist and chemist who was born in Warsaw.", encoding="utf-8")
    (folder / "warsaw.md").write_text("# Warsaw\n\nWarsaw lies on the river Vistula.", encoding="utf-8")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 8)
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "song.mp3").write_bytes(b"ID3")
    return folder


@pytest.fixture(scope="session")
def built(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the documents."""
    out = tmp_path_factory.mktemp("indexes") / "index"
    assert run(["index", str(documents), "--out", str(out)]) == 0
    return out
