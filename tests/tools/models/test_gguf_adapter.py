"""An adapter of a model that runs in this process: which one is used, what it changes, and what is said of one that does not fit."""

import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import ramify.graphs as graphs
from ramify.tools.downloads import HubModel
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import Model, ModelOptions, gguf, resolve_model
from ramify.tools.released import DOWNLOADS
from tests.river import QUESTION, river
from tests.river import model as fake
from tests.tools.llamacpp import write_adapter
from tests.tools.models.test_llamacpp import Choice

pytestmark = pytest.mark.usefixtures("one_thread")


def model(name: str | Path, **options: Any) -> Model:
    return resolve_model(f"gguf:{name}", ModelOptions(**{"num_predict": 100, **options}))


async def said(name: str | Path, **options: Any) -> str:
    return str((await model(name, **options).reply([HumanMessage("Is this a question?")], Choice)).raw.content)


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    write_adapter(tmp_path / "trees.gguf", name="grows\ntrees")
    return tmp_path / "trees.gguf"


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path) -> Path:
    """The folder of a downloaded model named tiny."""
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    tiny = HubModel("tiny", "", "", "owner/tiny", "tiny.gguf", "MIT", 1, "")
    monkeypatch.setitem(DOWNLOADS, "tiny", tiny)
    tiny.folder.mkdir(parents=True)
    (tiny.folder / "tiny.gguf").symlink_to(file)
    return tiny.folder


async def test_a_model_replies_otherwise_with_an_adapter_and_as_before_without(file: Path, adapter: Path) -> None:
    alone = await said(file)
    assert await said(file, adapter=str(adapter)) != alone
    assert await said(file, adapter="off") == alone


def test_with_an_adapter_it_has_another_name_and_a_notice(file: Path, adapter: Path) -> None:
    alone, adapted = model(file), model(file, adapter=str(adapter))
    assert adapted.name.startswith(f"{alone.name}+adapter-")
    assert alone.notices == ()
    (notice,) = adapted.notices
    assert "the adapter 'grows trees': --set adapter=off" in notice


def test_the_result_of_a_question_tells_the_adapter(file: Path, adapter: Path) -> None:
    result = graphs.ask("Where is Ulm?", "closed-book", model=f"gguf:{file}", adapter=str(adapter), num_predict=200)
    assert result.model == model(file, adapter=str(adapter)).name
    assert any("answers with the adapter 'grows trees'" in notice for notice in result.notices)


def test_no_engine_is_shared_with_another_adapter(file: Path, adapter: Path) -> None:
    def engine(wanted: str) -> gguf.Engine:
        return gguf.get_engine(str(file), ModelOptions(adapter=wanted))

    adapted = engine(str(adapter))
    assert engine(str(adapter)) is adapted
    alone = engine("off")
    assert alone is not adapted
    assert engine("auto") is alone
    write_adapter(adapter)  # without its name: another file
    assert engine(str(adapter)).form != adapted.form


def test_the_adapter_beside_a_downloaded_model_is_used_unless_it_is_off(downloaded: Path, adapter: Path) -> None:
    assert model("tiny").name == "gguf:tiny"
    adapter.rename(downloaded / "adapter.gguf")
    assert model("tiny", seed=1).name.startswith("gguf:tiny+adapter-")
    assert model("tiny", adapter="off").name == "gguf:tiny"
    by_path = downloaded / "tiny.gguf"
    assert model(by_path).name == f"gguf:{by_path}"


def test_a_broken_adapter_beside_a_model_is_an_error_and_not_left_out(downloaded: Path) -> None:
    (downloaded / "adapter.gguf").write_bytes(b"no adapter")
    with pytest.raises(ModelError, match=r"adapter\.gguf' cannot be run: it is not a GGUF file"):
        model("tiny")


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        ({"architecture": "qwen2"}, "is for models of architecture 'qwen2', and this one is of 'llama'"),
        ({"kind": "control"}, "is not a LoRA adapter, but the adapter of type 'control'"),
        ({"width": 32}, r"llama\.cpp cannot load .* with the adapter 'wrong\.gguf'"),
    ],
)
def test_an_adapter_that_does_not_fit_is_named(file: Path, tmp_path: Path, kept: dict[str, Any], words: str) -> None:
    write_adapter(tmp_path / "wrong.gguf", **kept)
    with pytest.raises(ModelError, match=words) as told:
        model(file, adapter=str(tmp_path / "wrong.gguf"))
    assert "adapter=off" in told.value.remedy


def test_a_file_that_is_no_adapter_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is not a LoRA adapter, but the file of kind 'model'"):
        model(file, adapter=str(file))
    with pytest.raises(ModelError, match=r"nowhere\.gguf' does not exist"):
        model(file, adapter=str(tmp_path / "nowhere.gguf"))


def test_what_is_no_file_is_not_read(file: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(ModelError, match="is a device or a pipe, not a file"):
            model(file, adapter=path)


@pytest.mark.parametrize("other", ["auto", "extractive", "ollama:llama3.1:8b", "openai:gpt", fake()])
def test_other_models_load_no_adapter(other: Any, adapter: Path) -> None:
    with pytest.raises(UsageError, match="is loaded for gguf: models only") as told:
        graphs.ask("Who?", "closed-book", model=other, adapter=str(adapter))
    assert "--lora-modules" in told.value.remedy


def test_other_models_do_not_mind_that_there_is_none() -> None:
    assert graphs.ask(QUESTION, "naive", model=fake(), index=river(), adapter="off", style="short").answer
