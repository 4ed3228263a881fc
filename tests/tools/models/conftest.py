"""What the tests here share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.tools.models import clear_cache
from tests.tools.llamacpp import write_model
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama
from tests.tools.ollama_server import serving as serving_ollama
from tests.tools.questions import GOOD


@pytest.fixture
def pair() -> Iterator[tuple[Ollama, Ollama]]:
    with serving_ollama() as first, serving_ollama() as second:
        for server in (first, second):
            server.when("polonium", Say(GOOD))
        yield first, second


@pytest.fixture
def ollama_one() -> Iterator[Ollama]:
    with serving_ollama() as server:
        server.when("polonium", Say(GOOD))
        yield server


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "random.gguf"
    write_model(path)
    return path


@pytest.fixture
def qwen(ollama: Ollama) -> Ollama:
    ollama.models |= {"qwen3:8b": 40960, "gpt-oss:20b": 131072}
    ollama.thinkers |= {"qwen3:8b": "qwen3", "gpt-oss:20b": "gptoss"}
    return ollama


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # threads that wait for one another spin
    clear_cache()
